"""Two-layer networks trained on infinitely many Gaussian inputs, in closed form."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Real
from simbias.errors import BadInput
from simbias.numerics.ode_solution import ode_solution
from simbias.theory.arc_cosine import arc_cosine, over_pairs

# An activation φ: a slope s for max(h, s·h), 0 for ReLU and 1 for the identity; "erf"
# for erf(h/√2); "quadratic" for h².
Phi = Real | str
# Neurons: incoming weights wⱼ, outgoing weights aⱼ, activation.
Neurons = tuple[Float[Array, "_ d"], Float[Array, "_ k"], Phi]


def population_loss(
    student: Neurons, teacher: Neurons, sigma: Real = 0.0
) -> Float[Array, ""]:
    """½ E |f(x) − y|² over x ~ N(0, I) and y = f*(x) + σ η, η ~ N(0, I).

    f(x) = Σⱼ aⱼ φ(wⱼ·x) is the student, f* the teacher, and with the matrices K of
    `gaussian_products` the loss is

        ½ tr(Aᵀ K(W, W) A − 2 Aᵀ K(W, V) B + Bᵀ K(V, V) B) + ½ k σ².

    It can be differentiated by JAX where no wⱼ is 0, also where neurons are parallel.

    Args:
        student: (w, a, φ), of k outputs.
        teacher: (v, b, ψ), of as many.
        sigma: σ, standard deviation of the noise.

    Raises:
        ValueError: for an unknown activation.

    Reference: Saad & Solla (1995), doi:10.1103/PhysRevE.52.4225, for erf; Cho & Saul
    (2009) for ReLU; the others follow from Wick's and Stein's formulas.
    """
    return population_distance(student, teacher) / 2 + student[1].shape[1] * (
        jnp.asarray(sigma) ** 2 / 2
    )


def population_distance(one: Neurons, other: Neurons) -> Float[Array, ""]:
    """E |f(x) − g(x)|² over x ~ N(0, I), of two networks of two layers.

    Args:
        one: (w, a, φ) of f.
        other: (v, b, ψ) of g.

    Raises:
        ValueError: for an unknown activation.
    """
    product = lambda p, q: jnp.sum(
        (p[1] @ q[1].T) * gaussian_products(p[0], q[0], p[2], q[2])
    )
    whole = product(one, one) - 2 * product(one, other) + product(other, other)
    # What cancels leaves rounding, which may be below 0.
    return jnp.maximum(whole, 0)


def gaussian_products(
    u: Float[Array, "m d"], v: Float[Array, "q d"], phi: Phi = 0.0, psi: Phi = 0.0
) -> Float[Array, "m q"]:
    """E φ(uᵢ·x) ψ(vⱼ·x) over x ~ N(0, I).

    With k the `arc_cosine` of ReLU, and slopes s and t,

        slopes           (1 − s)(1 − t) k(u, v) + ½ (s + t) u·v
        erf, erf         (2/π) arcsin(u·v / √((1 + |u|²)(1 + |v|²)))
        erf, t           (1 + t) u·v / √(2π (1 + |u|²))
        h², h²           |u|² |v|² + 2 (u·v)²
        h², t            (1 − t) (|u|² |v| + (u·v)² / |v|) / √(2π)
        h², erf          0

    Args:
        u: rows, none of them 0 where φ has a kink.
        v: rows, likewise.
        phi: φ.
        psi: ψ.

    Raises:
        ValueError: for an unknown activation.
    """
    for name in (phi, psi):
        if isinstance(name, str) and name not in ("erf", "quadratic"):
            raise BadInput(
                f'`phi` must be a slope, "erf" or "quadratic", got {name!r}. '
                "Example: phi=0.0 for ReLU."
            )
    dots = u @ v.T
    if not isinstance(phi, str) and not isinstance(psi, str):
        kernel = over_pairs(arc_cosine, u, v)
        return (1 - phi) * (1 - psi) * kernel + (phi + psi) / 2 * dots
    of_u, of_v = jnp.sum(u**2, axis=1)[:, None], jnp.sum(v**2, axis=1)[None, :]
    if phi == psi == "erf":
        return 2 / jnp.pi * jnp.arcsin(dots / jnp.sqrt((1 + of_u) * (1 + of_v)))
    if phi == psi == "quadratic":
        return of_u * of_v + 2 * dots**2
    if isinstance(phi, str) and isinstance(psi, str):
        return jnp.zeros_like(dots)
    if not isinstance(phi, str):
        return gaussian_products(v, u, psi, phi).T
    assert not isinstance(psi, str)
    if phi == "erf":
        return (1 + psi) / (2 * jnp.pi) ** 0.5 * dots / jnp.sqrt(1 + of_u)
    size = jnp.sqrt(of_v)
    return (1 - psi) / (2 * jnp.pi) ** 0.5 * (of_u * size + dots**2 / size)


@eqx.filter_jit
def population_flow(
    student: Neurons,
    teacher: Neurons,
    times: Float[Array, " t"],
    *,
    rtol: float = 1e-8,
) -> tuple[Float[Array, "t m d"], Float[Array, "t m k"]]:
    """w(t) and a(t) of the gradient flow of `population_loss`, both layers trained.

    By Dormand and Prince's method of order 8, with error control.

    Args:
        student: at time 0.
        teacher: is not trained.
        times: increasing, from 0 on.
        rtol: relative tolerance; the absolute one is rtol/1000 times the median weight.

    Raises:
        ValueError: for an unknown activation.
    """
    *start, phi = student
    loss = lambda wa: population_loss((*wa, phi), teacher)
    field = lambda wa: jax.tree.map(jnp.negative, jax.grad(loss)(wa))
    atol = rtol / 1000 * jnp.median(jnp.abs(start[0]))
    return ode_solution(field, tuple(start), times, rtol, atol)
