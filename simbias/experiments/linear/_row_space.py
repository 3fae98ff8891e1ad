"""A linear model seen from the span of its samples."""

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.networks.dense.deep_linear import DeepLinear


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


class RowError(AbstractMeasure):
    """vᵢ·(w − X⁺y) for every eigenvector vᵢ of XᵀX in the span of the samples."""

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """From the largest eigenvalue down; a `DeepLinear` of one output."""
        space = row_space(data)
        return space.rows @ _weights(network) - space.target


class Outside(AbstractMeasure):
    """P⊥w, the part of w that no sample sees."""

    dims: ClassVar[tuple[str, ...]] = ("input",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " d"]:
        """A vector of inputs; a `DeepLinear` of one output."""
        rows, w = row_space(data).rows, _weights(network)
        # Twice, so that what is left of the span is of the order of rounding of P⊥w.
        w = w - rows.T @ (rows @ w)
        return w - rows.T @ (rows @ w)


class Eigenvalues(AbstractMeasure):
    """λᵢ of XᵀX/n, from the largest down."""

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:  # noqa: ARG002
        """0 where there is only padding."""
        return row_space(data).values


class LeastNorm(AbstractMeasure):
    """‖X⁺y‖, the norm of the smallest w with Xw = y."""

    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:  # noqa: ARG002
        """Of the data alone."""
        return jnp.linalg.norm(row_space(data).target)


class RidgeDistance(AbstractMeasure):
    """‖w − w_λ‖, w_λ = argmin (1/2n)‖Xw − y‖² + (λ/2)‖w‖², for several λ.

    w_λ = V (S² + λ)⁻¹ S² Vᵀ X⁺y.
    """

    penalties: tuple[float, ...] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("penalty",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " q"]:
        """A distance for each λ; a `DeepLinear` of one output."""
        (rows, values, target), w = row_space(data), _weights(network)
        penalties = jnp.asarray(self.penalties, w.dtype)[:, None]
        kept = values[None] / (values[None] + penalties)
        ridge = (kept * target[None]) @ rows
        return jnp.linalg.norm(w[None] - ridge, axis=1)

    def coords(self) -> dict[str, np.ndarray]:
        """λ, in the units of the eigenvalues of XᵀX/n."""
        return {"penalty": np.asarray(self.penalties)}


def _weights(network: DeepLinear) -> Float[Array, " d"]:
    return network.product[0]
