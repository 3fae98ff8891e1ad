"""Sums modulo p, some of all pairs to train and the others to test."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.validation.values import positive_integers


def modular_sums(key: PRNGKeyArray, *, p: int = 29, n: int = 500) -> Dataset:
    """N of the p² pairs (a, b) with the class a + b modulo p, the others as the test.

    An input is √p times the indicators of a and of b, so that the mean square of an
    entry is 1; the target is the indicator of a + b modulo p.

    Args:
        key: random key.
        p: the modulus.
        n: pairs to train, fewer than p².

    Raises:
        ValueError: for a size that is no positive integer, or too many pairs.

    Reference: Power et al. (2022), arXiv:2201.02177.
    """
    positive_integers(p=p, n=n)
    if n >= p**2:
        raise BadInput(
            f"`n` must be below p² = {p**2}, as the other pairs are the test, got {n}."
        )
    order = jax.random.permutation(key, p**2)
    return _sums(order[:n], p, _sums(order[n:], p, None))


def _sums(pairs: Array, p: int, test: Dataset | None) -> Dataset:
    """Pairs by their number a p + b."""
    a, b = jnp.divmod(pairs, p)
    hot = lambda v: jax.nn.one_hot(v, p, dtype=jnp.float64)
    x = math.sqrt(p) * jnp.concatenate([hot(a), hot(b)], axis=1)
    y, none = hot((a + b) % p), jnp.zeros((0, 2 * p), jnp.float64)
    return Dataset(x, y, jnp.ones(len(pairs), jnp.float64), y, none, test)
