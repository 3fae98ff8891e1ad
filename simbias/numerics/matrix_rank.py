"""How many directions a matrix has, effectively, by its singular values."""

import jax.numpy as jnp
from jax.scipy.special import entr
from jaxtyping import Array, Float

from simbias.errors import BadInput

Matrix = Float[Array, "p q"]


def stable_rank(matrix: Matrix) -> Float[Array, ""]:
    """‖W‖²_F/‖W‖²_op = Σ σ²/max σ², from 1 to the rank; NaN for a matrix of zeros.

    Reference: Rudelson & Vershynin (2007), J. ACM 54.
    """
    values = _relative(singular_values(matrix))
    return jnp.sum(values**2)


def spectral_entropy(matrix: Matrix, *, is_squared: bool = False) -> Float[Array, ""]:
    """−Σ pᵢ ln pᵢ, pᵢ = σᵢ/Σ σ, or σᵢ²/Σ σ² if `is_squared`.

    From 0 (rank 1) to ln min(p, q); NaN for a matrix of zeros.  Its exponential is the
    effective rank of Roy & Vetterli.  Of a Gram matrix K = ΦΦᵀ, σᵢ(K) = σᵢ(Φ)²: the
    entropy of K is that of Φ with `is_squared`.

    References: Roy & Vetterli (2007), EUSIPCO, definition 1 (the exponential, of σ);
    Huh et al. (2023), arXiv:2103.10427 (the entropy, of σ(K)).
    """
    values = _relative(singular_values(matrix))
    parts = values**2 if is_squared else values
    return jnp.sum(entr(parts / jnp.sum(parts)))


def effective_rank(matrix: Matrix, *, is_squared: bool = False) -> Float[Array, ""]:
    """Exp of `spectral_entropy`: r if r singular values are equal and the others 0."""
    return jnp.exp(spectral_entropy(matrix, is_squared=is_squared))


def singular_values(matrix: Matrix) -> Float[Array, " r"]:
    """In falling order.

    Raises:
        ValueError: for what is no matrix, or has no entry.
    """
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise BadInput(
            f"`matrix` must have rows and columns, got the shape {matrix.shape}."
        )
    return jnp.linalg.svd(matrix, compute_uv=False)


def _relative(values: Float[Array, " r"]) -> Float[Array, " r"]:
    """σᵢ/max σ, so that no square underflows; NaN if all are 0."""
    top = values[0]
    return jnp.where(top > 0, values / jnp.where(top > 0, top, 1), jnp.nan)
