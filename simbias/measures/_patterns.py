"""Side of every sample's hyperplane on which every neuron lies, and how many ways."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from simbias.core import Dataset
from simbias.measures._neurons import incoming, norms


def sides(network: Any, data: Dataset, tolerance: float) -> Int[Array, "n m"]:
    """1 where vⱼ·xᵢ > 0, −1 where it is < 0, and 0 on the hyperplane or on padding.

    On the hyperplane: |vⱼ·xᵢ| ≤ tolerance ‖vⱼ‖‖xᵢ‖, with a hidden bias as one more
    coordinate of both.
    """
    x = data.x
    if network.b is not None:
        x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
    v = incoming(network)
    h = jnp.matmul(x, v.T, precision="highest")
    band = tolerance * norms(x)[:, None] * norms(v)[None, :]
    side = jnp.where(jnp.abs(h) <= band, 0, jnp.sign(h).astype(jnp.int32))
    return jnp.where((data.weight > 0)[:, None], side, 0)


def distinct_columns(codes: Int[Array, "n m"]) -> Int[Array, ""]:
    """Number of distinct columns, each known by two random sums modulo 2³².

    Two columns coincide by accident with probability 2⁻⁶⁴, so that the count is wrong
    with probability below m² 2⁻⁶⁵ (3e-12 for m = 10,000).  The random numbers are the
    same in every call.
    """
    bits = jax.random.bits(jax.random.key(0), (codes.shape[0], 2), jnp.uint32)
    numbers = codes.astype(jnp.uint32)
    hashes = [
        jnp.sum(numbers * bits[:, i : i + 1], axis=0, dtype=jnp.uint32) for i in (0, 1)
    ]
    first, second = jax.lax.sort(hashes, num_keys=2)
    is_new = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return 1 + jnp.sum(is_new, dtype=jnp.int32)
