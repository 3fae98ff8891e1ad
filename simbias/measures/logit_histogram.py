"""Histogram of the logits of each class, with features randomised."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.checks import positive, positive_integer
from simbias.core import AbstractMeasure, Dataset
from simbias.measures._randomised import RANDOMISED, three_logits
from simbias.measures._sample import second_sample


class LogitHistogram(AbstractMeasure):
    """Share of each class with f in each of `bins` equal parts of [−limit, limit].

    As it is, S-randomised, Sᶜ-randomised; see `RandomisedAuc` for S.  Logits beyond the
    limit are counted in the outer bins, one on an edge in the upper bin.  The shares of
    a class add up to 1; NaN if the class is empty.

    Args:
        bins: number of bins.
        limit: largest logit.
        simple: number of features in S.
    """

    bins: int = eqx.field(static=True, default=40)
    limit: float = eqx.field(static=True, default=20.0)
    simple: int = eqx.field(static=True, default=1)
    dims: ClassVar[tuple[str, ...]] = ("randomised", "label", "logit")

    def __check_init__(self):
        positive_integer("bins", self.bins)
        positive_integer("simple", self.simple)
        positive("limit", self.limit)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3 2 bins"]:
        """Shares; labels are negative, positive.

        Raises:
            ValueError: without a test sample, for several outputs, or too few features.
        """
        logits = three_logits(network, data, self.simple)
        test = second_sample(data)
        is_positive = test.y[:, 0] > 0
        place = jnp.floor((logits / self.limit + 1) * (self.bins / 2))
        place = jnp.clip(place, 0, self.bins - 1).astype(jnp.int32)
        shares = []
        for is_of in (~is_positive, is_positive):
            weight = jnp.where(is_of, test.weight, 0)
            count = lambda at, w=weight: jnp.zeros(self.bins, w.dtype).at[at].add(w)
            total = jnp.sum(weight)
            share = jax.vmap(count)(place) / jnp.where(total > 0, total, 1)
            shares.append(jnp.where(total > 0, share, jnp.nan))
        return jnp.stack(shares, axis=1)

    def coords(self) -> dict[str, np.ndarray]:
        """What is randomised, the class, and the centres of the bins."""
        centres = ((2 * np.arange(self.bins) + 1) / self.bins - 1) * self.limit
        return {
            "randomised": RANDOMISED,
            "label": np.array(["negative", "positive"]),
            "logit": centres,
        }
