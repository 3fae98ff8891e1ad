"""The largest eigenvalues of the empirical neural tangent kernel."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.measures.kernel._rows import check_rows, kernel_of
from simbias.validation.values import positive_integer


class KernelEigenvalues(AbstractMeasure):
    """Eigenvalues of Σ_c K_c/(k n), the largest first, n without padding, k outputs.

    With one output and `losses.half_mse` the rates at which the residual falls along
    the eigenvectors, while the kernel stays.

    Args:
        count: how many.
        rows: the first so many of the sample; None are all of them.
    """

    count: int = eqx.field(static=True, default=10)
    rows: int | None = eqx.field(static=True, default=None)
    dims: ClassVar[tuple[str, ...]] = ("eigenvalue",)

    def __check_init__(self):
        positive_integer("count", self.count)
        check_rows(self.rows)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " eigenvalue"]:
        """Eigenvalues in falling order.

        Raises:
            ValueError: for more of them than rows.
        """
        kernel, n = kernel_of(network, data, self.rows)
        if self.count > kernel.shape[1]:
            raise BadInput(
                f"`count` must be at most the rows, {kernel.shape[1]}, got "
                f"{self.count}."
            )
        values = jnp.linalg.eigvalsh(jnp.mean(kernel, axis=0) / n)
        return values[::-1][: self.count]
