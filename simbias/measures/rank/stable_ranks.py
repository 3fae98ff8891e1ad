"""How many directions each layer has, by the two norms of its matrix."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics.matrix_rank import stable_rank


class StableRanks(AbstractMeasure):
    """Stable rank of every matrix of `weights`, ‖W‖²_F/‖W‖²_op.

    As `StableRank` of one layer; NaN for a layer of zeros.

    Reference: Le & Jegelka (2022), arXiv:2201.11968, for what it shows of training.
    """

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """From the first layer to the last."""
        return jnp.stack([stable_rank(w) for w in network.weights])
