"""Histogram of the directions of the neurons, for widths too large to store."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.measures._cosine import cosines
from simbias.measures._neurons import mass_shares


class CosineHistogram(AbstractMeasure):
    """Share of the neurons with cos(wⱼ, u) in each of `bins` equal parts of [−1, 1].

    u as in `NeuronCosine`.  Each neuron counts 1, or |aⱼ|‖wⱼ‖ if `is_mass_weighted`.
    Neurons that are zero have no cosine and are not counted.  A value on the edge of
    two bins belongs to the upper one, and 1 to the last.  The shares add up to 1; NaN
    if nothing has a cosine.
    """

    bins: int = eqx.field(static=True, default=40)
    feature: int | None = eqx.field(static=True, default=None)
    output: int = eqx.field(static=True, default=0)
    is_mass_weighted: bool = eqx.field(static=True, default=False)
    dims: ClassVar[tuple[str, ...]] = ("cosine",)

    def __check_init__(self):
        if self.bins < 1:
            raise BadInput(
                f"`bins` must be a positive integer, got {self.bins}. Example: bins=40."
            )

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " bins"]:
        """Shares of the bins."""
        c = cosines(network, data, self.feature, self.output)
        is_counted = ~jnp.isnan(c)
        weight = mass_shares(network) if self.is_mass_weighted else jnp.ones_like(c)
        weight = jnp.where(is_counted, weight, 0)
        place = jnp.floor((jnp.where(is_counted, c, 0) + 1) * (self.bins / 2))
        place = jnp.minimum(place.astype(jnp.int32), self.bins - 1)
        is_here = place[None, :] == jnp.arange(self.bins, dtype=jnp.int32)[:, None]
        counts = jnp.sum(jnp.where(is_here, weight[None, :], 0), axis=1)
        total = jnp.sum(counts)
        return jnp.where(total > 0, counts / jnp.where(total > 0, total, 1), jnp.nan)

    def coords(self) -> dict[str, np.ndarray]:
        """Centres of the bins."""
        return {"cosine": (2 * np.arange(self.bins) + 1) / self.bins - 1}
