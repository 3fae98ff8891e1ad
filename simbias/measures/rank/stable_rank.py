"""How many directions a layer has, by the two norms of its matrix."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._layer import layer_matrix
from simbias.numerics import matrix_rank


class StableRank(AbstractMeasure):
    """Stable rank of a layer, ‖W‖²_F/‖W‖²_op; NaN for a layer of zeros.

    Args:
        layer: its name, as "w", "weights.0", or "layers.1.query.w".

    Reference: Le & Jegelka (2022), arXiv:2201.11968, for what it shows of training.
    """

    layer: str = eqx.field(static=True, default="w")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Stable rank of the layer."""
        return matrix_rank.stable_rank(layer_matrix(network, self.layer))
