"""A linear model seen from the span of its samples."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset


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
