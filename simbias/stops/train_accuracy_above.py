"""Rest once nearly every sample is classified."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from simbias.core import AbstractStop, Dataset
from simbias.errors import BadInput
from simbias.numerics.tiling import ROWS
from simbias.validation.values import positive


class TrainAccuracyAbove(AbstractStop):
    """Share of the training samples with yᵢ f(xᵢ) > 0 at least `level`, labels ±1.

    Args:
        level: share that is enough, up to 1.
    """

    level: float = eqx.field(static=True, default=1 - 1e-4)
    targets: ClassVar[str] = "signs"

    def __check_init__(self):
        positive("level", self.level)
        if self.level > 1:
            raise BadInput(
                f"`level` must be at most 1, got {self.level}. Example: level=0.999."
            )

    def __call__(self, network: Any, data: Dataset) -> Bool[Array, ""]:
        """Whether the member may rest."""
        margin = data.y * jax.lax.map(network, data.x, batch_size=ROWS)
        is_right = jnp.all(margin > 0, axis=1)
        # Counted, not averaged: 1 − 1e-4 of 10⁵ samples is beyond float32 sums.
        real = jnp.sum(data.weight > 0, dtype=jnp.int32)
        right = jnp.sum(is_right & (data.weight > 0), dtype=jnp.int32)
        wide = jnp.result_type(float)
        return right.astype(wide) >= self.level * real.astype(wide)
