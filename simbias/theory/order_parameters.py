"""One-pass SGD of a soft committee machine in high dimension: equations of overlaps."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Real
from simbias.numerics.ode_solution import ode_solution


@eqx.filter_jit
def order_parameters(
    overlaps: Float[Array, "p p"], students: int, rate: Real, times: Float[Array, " t"]
) -> Float[Array, "t p p"]:
    """Overlaps of students and teachers under one-pass SGD, d → ∞.

    f(x) = Σᵢ φ(wᵢ·x) learns f*(x) = Σₙ φ(vₙ·x), φ(h) = erf(h/√2), x ~ N(0, I), from one
    new sample per step with learning rate η/d, on half the squared error.  With the
    matrix C of all products of the rows of w and v, at time α = steps/d,

        d(wᵢ·vₙ)/dα = η Dᵢₙ,   d(wᵢ·wₖ)/dα = η (Dᵢₖ + Dₖᵢ) + η² Eᵢₖ
        Dᵢⱼ = E[φ'(hᵢ) hⱼ (f* − f)],   Eᵢₖ = E[φ'(hᵢ) φ'(hₖ) (f* − f)²]

    in closed form, h the p Gaussian pre-activations with covariance C.  For η → 0 this
    is the population flow in the time ηα.

    Args:
        overlaps: C at time 0, the students first.
        students: number of rows of w.
        rate: η.
        times: α, increasing, the first one is 0.

    Reference: Saad & Solla (1995), doi:10.1103/PhysRevE.52.4225, equations for general
    K and M.
    """
    field = lambda c: _velocity(c, students, rate)
    return ode_solution(field, overlaps, times, 1e-8, 1e-10)


def committee_loss(overlaps: Float[Array, "p p"], students: int) -> Float[Array, ""]:
    """½ E (f − f*)², from the overlaps of students and teachers.

    Args:
        overlaps: C, the students first.
        students: how many.

    Reference: as `order_parameters`.
    """
    sign = _signs(overlaps, students)
    size = 1 + jnp.diag(overlaps)
    products = jnp.arcsin(overlaps / jnp.sqrt(jnp.outer(size, size)))
    return sign @ products @ sign / jnp.pi


def _velocity(c: Float[Array, "p p"], students: int, rate: Real) -> Float[Array, "p p"]:
    every = jnp.arange(len(c))
    error = -_signs(c, students)  # f* − f = Σ error φ(h)
    over = lambda f, *axes: _mapped(f, axes)
    three = over(lambda i, j, k: _three(c, i, j, k), every, every, every)
    drift = three @ error
    four = over(lambda i, k, m, n: _four(c, i, k, m, n), every, every, every, every)
    noise = jnp.einsum("ikmn,m,n->ik", four, error, error)
    moves = jnp.arange(len(c)) < students
    first = jnp.where(moves[:, None], drift, 0)
    both = moves[:, None] & moves[None, :]
    return rate * (first + first.T) + jnp.where(both, rate**2 * noise, 0)


def _mapped(f, axes):
    for place in reversed(range(len(axes))):
        f = jax.vmap(f, tuple(0 if k == place else None for k in range(len(axes))))
    return f(*axes)


def _signs(c: Float[Array, "p p"], students: int) -> Float[Array, " p"]:
    """+1 for a student, −1 for a teacher."""
    return jnp.where(jnp.arange(len(c)) < students, 1.0, -1.0)


def _three(c: Array, i: Array, j: Array, k: Array) -> Array:
    """E[φ'(hᵢ) hⱼ φ(hₖ)]."""
    of_i = 1 + c[i, i]
    root = jnp.sqrt(of_i * (1 + c[k, k]) - c[i, k] ** 2)
    return 2 / jnp.pi * (c[j, k] * of_i - c[i, j] * c[i, k]) / (root * of_i)


def _four(c: Array, i: Array, j: Array, m: Array, n: Array) -> Array:
    """E[φ'(hᵢ) φ'(hⱼ) φ(hₘ) φ(hₙ)]."""
    of_i, of_j, ij = 1 + c[i, i], 1 + c[j, j], c[i, j]
    whole = of_i * of_j - ij**2

    def minor(p: Array, q: Array) -> Array:
        own = c[j, p] * c[j, q] * of_i + c[i, p] * c[i, q] * of_j
        return whole * c[p, q] - own + ij * (c[i, p] * c[j, q] + c[i, q] * c[j, p])

    size = jnp.sqrt((whole + minor(m, m)) * (whole + minor(n, n)))
    return 4 / jnp.pi**2 / jnp.sqrt(whole) * jnp.arcsin(minor(m, n) / size)
