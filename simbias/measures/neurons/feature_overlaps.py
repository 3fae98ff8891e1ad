"""Direction of a layer against every feature of the data."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._layer import layer_matrix


class FeatureOverlaps(AbstractMeasure):
    """Cosine of the sum of the neurons with every feature of the data.

    It is cos(Σⱼ wⱼ, u), u a row of `data.features`, wⱼ the rows of a layer.

    Of one neuron this is cos(w, u).  NaN where the sum of the rows, or u, is 0.

    Args:
        layer: its name, as "w" or "weights.0".
        names: of the features, the coordinates of the result.

    Reference: Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567, section 3, of one
    neuron.
    """

    layer: str = eqx.field(static=True, default="w")
    names: tuple[str, ...] = eqx.field(static=True, default=())
    dims: ClassVar[tuple[str, ...]] = ("predictor",)

    def coords(self) -> dict[str, np.ndarray]:
        """Names of the features, if there are any."""
        return {"predictor": np.array(self.names)} if self.names else {}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " p"]:
        """Cosines in [−1, 1]."""
        w, u = jnp.sum(layer_matrix(network, self.layer), axis=0), data.features
        size = jnp.linalg.norm(w) * jnp.linalg.norm(u, axis=1)
        return u @ w / jnp.where(size > 0, size, jnp.nan)
