"""The empirical neural tangent kernel on the sample."""

from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.kernel._rows import check_rows, kernel_of


class TangentKernel(AbstractMeasure):
    """Tangent kernel K_c(xᵢ, xⱼ) = ∇f_c(xᵢ)·∇f_c(xⱼ) of every output c; 0 for padding.

    n² numbers: meant for `final`, or for `simbias.evaluate` of kept networks.

    Args:
        rows: the first so many of the sample; None are all of them.

    Reference: Jacot, Gabriel & Hongler (2018), arXiv:1806.07572.
    """

    rows: int | None = eqx.field(static=True, default=None)
    dims: ClassVar[tuple[str, ...]] = ("output", "row", "column")

    def __check_init__(self):
        check_rows(self.rows)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "k n n"]:
        """The kernel of every output."""
        return kernel_of(network, data, self.rows)[0]
