"""The empirical neural tangent kernel, its eigenvalues, and what it learns."""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection import tangents
from simbias.introspection.outputs import outputs
from simbias.validation.values import positive_integer


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


class KernelRates(AbstractMeasure):
    """Rate at which the tangent kernel learns each of given functions.

    For a function g_q it is vᵀKv/(n vᵀv) with v = (g_q(xᵢ))ᵢ; for one output.

    The eigenvalue of K/n if v is an eigenvector: the rate at which the residual along
    v falls under `losses.half_mse`.  A gradient for every function, and no kernel.

    Args:
        functions: x "d" -> values "q", a named function: all g_q of one input.
    """

    functions: Callable[[Array], Array] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("function",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " q"]:
        """Rates; NaN for a function that is 0 on the sample."""
        out = jax.eval_shape(network, data.x[0])
        if out.shape != (1,):
            raise BadInput(f"KernelRates needs one output, got {out.shape[0]}.")
        is_real = (data.weight > 0)[:, None]
        v = jnp.where(is_real, outputs(self.functions, data.x), 0)
        share = data.x.shape[0] / jnp.sum(is_real.astype(data.x.dtype))
        return share * tangents.tangent_rates(network, data.x, v)


def check_rows(rows: int | None) -> None:
    """Refuse what is no number of rows; None are all of them."""
    if rows is not None:
        positive_integer("rows", rows)


def kernel_of(
    network: Any, data: Dataset, rows: int | None
) -> tuple[Float[Array, "k n n"], Float[Array, ""]]:
    """K on the first rows, 0 where one of the two is padding, and how many are none.

    Raises:
        ValueError: for more rows than the sample has.
    """
    n = data.x.shape[0]
    if rows is not None and rows > n:
        raise BadInput(f"`rows` must be at most the {n} of the sample, got {rows}.")
    is_real = data.weight[:rows] > 0
    kernel = tangents.tangent_kernel(network, data.x[:rows])
    is_kept = is_real[:, None] & is_real[None, :]
    count = jnp.sum(is_real.astype(kernel.dtype))
    return jnp.where(is_kept[None], kernel, 0), count
