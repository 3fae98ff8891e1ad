"""A linear model seen from the span of its samples."""

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class SpanError(AbstractMeasure):
    """Error of linear weights along each eigenvector of the inputs.

    It is vᵢ·(w − X⁺y), vᵢ an eigenvector of XᵀX in the span of the samples.

    X⁺y is the interpolator of least norm.  Needs a network with a `product` and one
    output, such as `DeepLinear`.
    """

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """By eigenvector, the largest eigenvalue first, in units of the weights."""
        space = row_space(data)
        return space.rows @ weights_of(network) - space.target


class OutsideSpan(AbstractMeasure):
    """Part of the weights that no sample sees: P⊥w, orthogonal to all inputs.

    Needs a network with a `product` and one output, such as `DeepLinear`.
    """

    dims: ClassVar[tuple[str, ...]] = ("input",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " d"]:
        """A vector of inputs, in units of the weights."""
        rows, w = row_space(data).rows, weights_of(network)
        # Twice, so that what is left of the span is of the order of rounding of P⊥w.
        w = w - rows.T @ (rows @ w)
        return w - rows.T @ (rows @ w)


class LeastNorm(AbstractMeasure):
    """Norm of the least-norm interpolator, ‖X⁺y‖; of the data alone."""

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """In units of the weights; of the first target."""
        return jnp.linalg.norm(row_space(data).target)


class RidgeDistance(AbstractMeasure):
    """Distance of the weights from the ridge solution, for several penalties.

    It is ‖w − w_λ‖, w_λ = argmin (1/2n)‖Xw − y‖² + (λ/2)‖w‖².

    w_λ = V (S² + λ)⁻¹ S² Vᵀ X⁺y with X/√n = U S Vᵀ.  Needs a network with a `product`
    and one output, such as `DeepLinear`.

    Args:
        penalties: values of λ, in units of the eigenvalues of XᵀX/n.
    """

    penalties: tuple[float, ...] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("penalty",)

    def coords(self) -> dict[str, np.ndarray]:
        """The values of λ."""
        return {"penalty": np.asarray(self.penalties)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " q"]:
        """A distance for each λ, in units of the weights."""
        (rows, values, target), w = row_space(data), weights_of(network)
        penalties = jnp.asarray(self.penalties, w.dtype)[:, None]
        kept = values[None] / (values[None] + penalties)
        ridge = (kept * target[None]) @ rows
        return jnp.linalg.norm(w[None] - ridge, axis=1)


class InputEigenvalues(AbstractMeasure):
    """Eigenvalues of XᵀX/n, the largest first; of the data alone.

    By the singular values of X.  `GramEigenvalues` has those of XXᵀ/n, from the
    smallest up.
    """

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """The first min(n, d); 0 where there is only padding."""
        return row_space(data).values


class RowSpace(NamedTuple):
    """X/√n = U S Vᵀ: `rows` are those of Vᵀ, `values` S², `target` is Vᵀ X⁺y.

    λ₁ ≥ λ₂ ≥ … are the eigenvalues of XᵀX/n.  Rows of padding give values of 0, and
    what has one is 0 in `rows` and `target`.
    """

    rows: Float[Array, "r d"]
    values: Float[Array, " r"]
    target: Float[Array, " r"]


def row_space(data: Dataset) -> RowSpace:
    """By the singular values of X; those below rounding count as 0."""
    root = jnp.sqrt(data.weight / jnp.sum(data.weight))[:, None]
    left, s, rows = jnp.linalg.svd(root * data.x, full_matrices=False)
    cutoff = jnp.finfo(s.dtype).eps * max(data.x.shape)
    is_there = s > cutoff * s[0]
    s = jnp.where(is_there, s, 0)
    inverse = jnp.where(is_there, 1 / jnp.where(is_there, s, 1), 0)
    target = inverse * (left.T @ (root * data.y))[:, 0]
    return RowSpace(jnp.where(is_there[:, None], rows, 0), s**2, target)


def weights_of(network: Any) -> Float[Array, " d"]:
    """The vector w of a linear model of one output."""
    return network.product[0]
