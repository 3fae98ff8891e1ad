"""All strings of d bits, as a sample and the rest; networks of an initial law."""

import itertools
from typing import Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, UInt

from simbias.core import AbstractNetwork, Dataset
from simbias.errors import BadInput
from simbias.networks.dense.mlp import LayerLaw, Mlp, mlp
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Target = Literal["majority", "parity"]
# All strings are held at once.
_MOST_BITS = 14


def strings(
    key: PRNGKeyArray, *, d: int = 7, n: int = 6, target: Target = "majority"
) -> Dataset:
    """A sample of n of the 2ᵈ strings of ±1, each at most once; `test` is the rest.

    "majority" is the sign of x₁ + x₂ + x₃, "parity" the product of all d.

    Raises:
        ValueError: unless 3 ≤ d ≤ 14 and 0 < n < 2ᵈ, and for another target.
    """
    one_of("target", target, get_args(Target))
    x = every_string(d)
    positive_integer("n", n)
    if n >= len(x):
        raise BadInput(
            f"`n` must be below {len(x)}, all strings of {d} bits, so that some are "
            f"left to be guessed, got {n}."
        )
    y = np.sign(x[:, :3].sum(1)) if target == "majority" else x.prod(1)
    order = jax.random.permutation(key, len(x))
    x, y = jnp.asarray(x)[order], jnp.asarray(y)[order, None]
    features, ones = jnp.eye(d, dtype=jnp.float64), jnp.ones(len(x), jnp.float64)
    rest = Dataset(x[n:], y[n:], ones[n:], y[n:], features)
    return Dataset(x[:n], y[:n], ones[:n], y[:n], features, rest)


def every_string(d: int) -> Float[np.ndarray, "c d"]:
    """The 2ᵈ strings of ±1.

    Raises:
        ValueError: unless 3 ≤ d ≤ 14.
    """
    positive_integer("d", d)
    if not 3 <= d <= _MOST_BITS:
        raise BadInput(
            f"`d` must be from 3, the bits of a majority, to {_MOST_BITS}: all 2ᵈ "
            f"strings are held at once. Got {d}."
        )
    return np.array(list(itertools.product((-1.0, 1.0), repeat=d)))


class Drawn(AbstractNetwork):
    """A network with random weights, and the key to draw others of the same law."""

    network: Mlp
    key: UInt[Array, "2"]
    widths: tuple[int, ...] = eqx.field(static=True)
    law: LayerLaw = eqx.field(static=True)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, "1"]:
        """Output of the network for one input."""
        return self.network(x)

    def other(self, key: PRNGKeyArray) -> Mlp:
        """Another network of the same law."""
        return mlp(key, self.widths, law=self.law)


def drawn(key: PRNGKeyArray, widths: tuple[int, ...], law: LayerLaw) -> Drawn:
    """One ReLU network with biases, and the law of its weights."""
    key_network, key_others = jax.random.split(key)
    network = mlp(key_network, widths, law=law)
    return Drawn(network, jax.random.key_data(key_others), widths, law)
