"""Rest once the sample is interpolated."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Bool

from simbias.core import AbstractStop, Dataset
from simbias.errors import BadInput
from simbias.losses import mse


class TrainRiskBelow(AbstractStop):
    """True once (1/n) Σᵢ |f(xᵢ) − yᵢ|² < level (no ½)."""

    level: float = eqx.field(static=True, default=1e-8)

    def __check_init__(self):
        if not self.level > 0:
            raise BadInput(
                f"`level` must be positive, got {self.level}. Example: level=1e-8."
            )

    def __call__(self, network: Any, data: Dataset) -> Bool[Array, ""]:
        """Whether the member may rest."""
        return mse(jax.vmap(network)(data.x), data.y, data.weight) < self.level
