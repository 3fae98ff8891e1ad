"""Eigenvalues of the second moments of the inputs, the largest first."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear._row_space import row_space


class InputEigenvalues(AbstractMeasure):
    """Eigenvalues of XᵀX/n, the largest first; of the data alone.

    By the singular values of X.  `GramEigenvalues` has those of XXᵀ/n, from the
    smallest up.
    """

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """The first min(n, d); 0 where there is only padding."""
        return row_space(data).values
