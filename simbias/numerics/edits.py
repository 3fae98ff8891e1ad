"""Maps of one law to another: moments that are exchanged, and all else kept."""

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float

from simbias.errors import BadInput

Rows = Float[Array, "n d"]
Square = Float[Array, "d d"]
# An eigenvalue below this share of the largest counts as 0.
_SINGULAR = 1e-12


def shifted(x: Rows, source: Float[Array, "p d"], target: Float[Array, "q d"]) -> Rows:
    """Rows x + μ' − μ, the means of the rows of `target` and `source`."""
    mean = lambda rows: jnp.mean(rows, axis=0, keepdims=True)
    return x + mean(target) - mean(source)


def quantile_normalised(
    x: Rows, source: Float[Array, "p d"], target: Float[Array, "q d"]
) -> Rows:
    """F'⁻¹(F(x)) for every input: its quantile among `source`, in `target`.

    F is linear between the points (x₍ᵢ₎, (i − ½)/p) and constant beyond them, F'
    likewise.  Rows of `source` itself, if there are as many of `target`, get the values
    of `target`, in the order of their own.

    Raises:
        ValueError: for a source or target of fewer than two rows.
    """
    for name, rows in (("source", source), ("target", target)):
        if len(rows) < 2:
            raise BadInput(
                f"`{name}` must have two rows or more, got {len(rows)}: too few "
                "samples for a quantile."
            )
    level = lambda rows: (jnp.arange(len(rows), dtype=rows.dtype) + 0.5) / len(rows)

    def one(x: Array, source: Array, target: Array) -> Array:
        share = jnp.interp(x, jnp.sort(source), level(source))
        return jnp.interp(share, level(target), jnp.sort(target))

    return jax.vmap(one, in_axes=1, out_axes=1)(x, source, target)


def transported(
    x: Rows, source: Float[Array, "p d"], target: Float[Array, "q d"]
) -> Rows:
    """T(x) = μ' + A(x − μ): rows of `source` get mean and covariance of `target`.

    A as by `gaussian_transport`, of the covariances with 1/n.

    Raises:
        ValueError: as there.
    """
    (mean, spread), (other, aim) = (_moments(rows) for rows in (source, target))
    return other + (x - mean) @ gaussian_transport(spread, aim)


def gaussian_transport(covariance: Square, target: Square) -> Square:
    """A = S^{−1/2} (S^{1/2} S' S^{1/2})^{1/2} S^{−1/2}: A S A = S', A = Aᵀ ≥ 0.

    The map of N(0, S) to N(0, S') that moves it least in the mean square.

    Args:
        covariance: S, with an inverse.
        target: S'.

    Raises:
        ValueError: if S is singular.

    References: Olkin & Pukelsheim (1982); Belrose et al. (2024), arXiv:2402.04362.
    """
    values, frame = jnp.linalg.eigh(covariance)
    if not isinstance(values, Tracer) and values[0] <= _SINGULAR * values[-1]:
        raise BadInput(
            f"`covariance` is singular: its eigenvalues reach from {values[0]:.3g} to "
            f"{values[-1]:.3g}. Give more rows than inputs, and inputs that vary."
        )
    size = jnp.sqrt(values)[None]
    root, inverse = (frame * size) @ frame.T, (frame / size) @ frame.T
    squares, axes = jnp.linalg.eigh(root @ target @ root)
    middle = (axes * jnp.sqrt(jnp.maximum(squares, 0))[None]) @ axes.T
    return inverse @ middle @ inverse


def _moments(rows: Float[Array, "n d"]) -> tuple[Float[Array, "1 d"], Square]:
    mean = jnp.mean(rows, axis=0, keepdims=True)
    return mean, (rows - mean).T @ (rows - mean) / len(rows)
