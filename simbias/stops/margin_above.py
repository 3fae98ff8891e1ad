"""Rest once every sample is far on its side."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from simbias.core import AbstractStop, Dataset
from simbias.validation.values import positive


class MarginAbove(AbstractStop):
    """min over the samples of yᵢ f(xᵢ) ≥ level, labels y ∈ {−1, +1}.

    Under `log_logistic` margins grow without bound and steps become as small as one
    over the margin: this ends a member where its direction is known to about 1/level.

    Args:
        level: margin that is enough.
    """

    level: float = eqx.field(static=True, default=1000.0)

    def __check_init__(self):
        positive("level", self.level)

    def __call__(self, network: Any, data: Dataset) -> Bool[Array, ""]:
        """True if every sample has it."""
        margins = jnp.min(data.y * jax.vmap(network)(data.x), axis=1)
        return jnp.all(jnp.where(data.weight > 0, margins >= self.level, True))
