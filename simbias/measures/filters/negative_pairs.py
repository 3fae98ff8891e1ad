"""Filters that are each other's negative."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.measures.filters._first import first_filters
from simbias.validation.values import positive_integer


class NegativePairs(AbstractMeasure):
    """How much filters are negatives of each other: mean of −cos(Kᵢ, Kⱼ).

    j is the partner of i in one of three ways.

    "opposite": j has the smallest cosine with i.  "random": j is any other filter, in
    the mean over all.  Whoever picks the smallest of many finds some that is negative;
    "signs" says what this alone gives: the first, of filters each of which is turned to
    its negative by the toss of a coin, in the mean over `draws` tosses, the same at
    every time.  Filters that come in pairs of opposites have the first above both.

    Args:
        draws: tosses for every filter.

    Reference: Shang, Sohn, Almeida & Lee (2016), arXiv:1603.05201, section 2, where
    filters are compared with Gaussian ones.  "signs" is ours.
    """

    draws: int = eqx.field(static=True, default=50)
    dims: ClassVar[tuple[str, ...]] = ("pairing",)
    entries: ClassVar = {"pairing": ("opposite", "random", "signs")}

    def __check_init__(self):
        positive_integer("draws", self.draws)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """From −1 to 1; a filter of zeros has the cosine 0 with all.

        Raises:
            ValueError: for a network without convolutions, filters below 5 × 5, or a
                single filter.
        """
        filters = first_filters(network)
        count = filters.shape[0]
        if count < 2:
            raise BadInput("`channels` must be at least 2 to make pairs, got 1 filter.")
        cosine = _cosines(filters.reshape(count, -1))
        tosses = np.random.default_rng(0).choice([-1.0, 1.0], (self.draws, count))
        signs = jnp.asarray(tosses, cosine.dtype)
        turned = jax.vmap(lambda s: _opposite(s[:, None] * cosine * s[None, :]))(signs)
        random = -(jnp.sum(cosine) - jnp.trace(cosine)) / (count * (count - 1))
        return jnp.stack([_opposite(cosine), random, jnp.mean(turned)])


def _cosines(rows: Float[Array, "f q"]) -> Float[Array, "f f"]:
    largest = jnp.max(jnp.abs(rows), axis=1, keepdims=True)
    rows = rows / jnp.where(largest > 0, largest, 1)
    length = jnp.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / jnp.where(length > 0, length, 1)
    return jnp.matmul(rows, rows.T, precision="highest")


def _opposite(cosine: Float[Array, "f f"]) -> Float[Array, ""]:
    is_own = jnp.eye(len(cosine), dtype=bool)
    return -jnp.mean(jnp.min(jnp.where(is_own, jnp.inf, cosine), axis=1))
