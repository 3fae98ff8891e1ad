"""How often a function on {−1, +1}ⁿ changes with one bit, from its values alone."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.errors import BadInput
from simbias.numerics.walsh_hadamard import walsh_coefficients


def sensitivity(is_one: Bool[Array, " p"]) -> Float[Array, ""]:
    """S(f) = E_x s(f, x)/n, s(f, x) the number of bits that change f at x if flipped.

    The neighbours of point i of `cube` are the points i xor 2ᵇ: one value at each
    point is all there is to know.  0 for a constant, 1/n for a dictator, k/n for the
    parity of k bits, ½ on average for a random function.

    Args:
        is_one: the class at the points of `walsh_hadamard.cube`.

    Raises:
        ValueError: for a number of points that is no power of two above 1.

    Reference: O'Donnell (2014), Analysis of Boolean functions, section 2.3 (influence).
    """
    n = bits_of(is_one.shape[0])
    # At most 14 · 2¹³ changes.
    changes = jnp.int32(0)
    for b in range(n):
        pairs = is_one.reshape(-1, 2, 2**b)
        changes = changes + jnp.sum(pairs[:, 0] != pairs[:, 1], dtype=jnp.int32)
    return changes.astype(jnp.result_type(float)) / (n * 2 ** (n - 1))


def sampled_sensitivity(
    is_one: Bool[Array, " s"], is_one_flipped: Bool[Array, "s n"]
) -> Float[Array, ""]:
    """The same from a sample of points and their n neighbours."""
    changes = is_one[:, None] != is_one_flipped
    return jnp.mean(changes.astype(jnp.result_type(float)))


def degree_weights(values: Float[Array, " p"]) -> Float[Array, " degree"]:
    """W_k = Σ_{|S|=k} f̂(S)² for k = 0, …, n; of a function of values ±1 they sum to 1.

    S(f) = Σ_k (k/n) W_k for a function of values ±1.

    Args:
        values: f at the points of `walsh_hadamard.cube`.

    Raises:
        ValueError: for a number of points that is no power of two above 1.
    """
    n = bits_of(values.shape[0], "values")
    power = walsh_coefficients(values) ** 2
    degree = jax.lax.population_count(jnp.arange(2**n, dtype=jnp.uint32))
    return jax.ops.segment_sum(power, degree.astype(jnp.int32), n + 1)


def bits_of(points: int, name: str = "is_one") -> int:
    """The n of 2ⁿ points, at which `name` is given.

    Raises:
        ValueError: if there is none, or it is 0.
    """
    n = int(math.log2(points)) if points > 0 else 0
    if n < 1 or 2**n != points:
        raise BadInput(f"`{name}` must be at 2ⁿ points, n ≥ 1, got {points} of them.")
    return n
