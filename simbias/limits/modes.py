"""The modes in which a quadratic loss falls: q' = −H K q, H and K in blocks."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.numerics.precision import matmul

# Eigenvalues of H below this share of the largest are 0.
_NONE = 1e-11
# A rate is known to this share of the sum of all; a vector lies in a span.
_NOISE, _SPANNED = 1e-13, 1e-12
# Times that what lies in a span is taken off: vectors of it are known to fewer digits.
_PASSES = 3
# Roundings that a force along such an eigenvector may have.
_FORCE = 1e3


class Bending(NamedTuple):
    """H = Xᵀ diag(κ) X of the columns X: its root on its range, and what is left.

    Attributes:
        root: columns √λ v of the eigenvectors v of H; 0 where λ is.
        force: u with q = root·u.
        left: ½ |u|², the loss above the least.
        is_some: which eigenvalues are not 0.
        is_all: no eigenvector that is left out has a force but of rounding.  One that
            has is a mode all the same, which falls for longer than can be told here.
    """

    root: Float[Array, "c c"]
    force: Float[Array, " c"]
    left: Float[Array, ""]
    is_some: Bool[Array, " c"]
    is_all: Bool[Array, ""]


class Modes(NamedTuple):
    """Of root·K·root, K fixed: u' = −root·K·root u.

    Attributes:
        alpha: u in modes.
        slowness: 1/μ of each; 0 of a mode that is none.
        part: E, the share of each block of q in each mode.
        slowest: the largest 1/μ, infinite where a rate is nothing but rounding, or a
            mode is left out.
    """

    alpha: Float[Array, " c"]
    slowness: Float[Array, " c"]
    part: Float[Array, "r e c"]
    slowest: Float[Array, ""]


def bending(
    columns: Float[Array, "n c"], curvature: Float[Array, " n"], r: Float[Array, " n"]
) -> Bending:
    """Of a loss with gradient r and second derivatives κ in the outputs."""
    force = -matmul(columns.T, r[:, None])
    curved = matmul(columns.T, curvature[:, None] * columns)
    value, vector = jnp.linalg.eigh(curved)
    is_some = value > _NONE * value[-1]
    root = jnp.sqrt(jnp.where(is_some, value, 1))
    along = matmul(vector.T, force)[:, 0]
    # No force is larger: |√κ X v| |r/√κ|.
    scale = jnp.sqrt(value[-1] * jnp.sum(r**2 / jnp.where(curvature > 0, curvature, 1)))
    none = _FORCE * jnp.finfo(r.dtype).eps * scale
    is_all = jnp.all(is_some | (jnp.abs(along) <= none))
    u = jnp.where(is_some, along / root, 0)
    root = jnp.where(is_some, root, 0)[None, :] * vector
    return Bending(root, u, jnp.sum(u**2) / 2, is_some, is_all)


def is_spanned(
    across: Float[Array, "z n"],
    columns: Float[Array, "n c"],
    curvature: Float[Array, " n"],
    of: Bending,
) -> Bool[Array, " z"]:
    """Whether vectors are in the span of the columns, where κ is not 0."""
    weights = jnp.sqrt(curvature)
    size = jnp.maximum(jnp.sum(of.root**2, axis=0), jnp.where(of.is_some, 0, 1))
    # Orthonormal: diag(√κ) X v / √λ, and λ = |root|².
    basis = weights[:, None] * matmul(columns, of.root / size[None, :])
    scaled = weights[:, None] * across.T
    off = lambda _, rest: rest - matmul(basis, matmul(basis.T, rest))
    rest = jax.lax.fori_loop(0, _PASSES, off, scaled)
    length = lambda v: jnp.linalg.norm(v, axis=0)
    return length(rest) <= _SPANNED * length(scaled)


def modes(of: Bending, metric: Float[Array, "r e e"]) -> Modes:
    """The modes under K = `metric`."""
    r, e, _ = metric.shape
    pieces = of.root.reshape(r, e, r * e)
    moved = jnp.einsum("gij,gjc->gic", metric, pieces, precision="highest")
    rates = matmul(of.root.T, moved.reshape(r * e, r * e))
    # Directions in which L does not bend are no slow ones.
    size = jnp.trace(rates)
    rate, mode = jnp.linalg.eigh(rates + jnp.diag(jnp.where(of.is_some, 0, 1 + size)))
    alpha = matmul(mode.T, of.force[:, None])[:, 0]
    part = matmul(of.root, mode)
    rate = rate - _NOISE * size
    is_mode, is_fast = jnp.any(part != 0, axis=0), rate > 0
    slowness = jnp.where(is_fast, 1 / jnp.where(is_fast, rate, 1), 0)
    slowness = jnp.where(is_mode, slowness, 0)
    is_known = of.is_all & jnp.all(is_fast | ~is_mode)
    slowest = jnp.where(is_known, jnp.max(slowness), jnp.inf)
    return Modes(alpha, slowness, part.reshape(r, e, r * e), slowest)
