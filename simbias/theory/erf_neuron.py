"""One neuron of erf on two classes: its force, and the path that it takes."""

import functools

import numpy as np
import scipy
from jaxtyping import Float

from simbias.errors import BadInput

# Nodes along a side of the rectangle, and along the sum of all Gaussian inputs.
_SIDE, _GAUSSIAN = 32, 64
Numbers = tuple[float, ...]


def erf_neuron_force(
    weights: Float[np.ndarray, " d"],
    means: Float[np.ndarray, " d"],
    deviations: Float[np.ndarray, " d"],
    *,
    sides: int = 2,
) -> Float[np.ndarray, " d"]:
    """ẇ = E[(y − φ(w·x)) φ'(w·x) x], the flow of ½E(φ(w·x) − y)², φ(h) = erf(h/√2).

    x = y μ + s ξ with the first `sides` of the ξ uniform on ±√3, the others normal, as
    by `datasets.rectangular`.  With G(h) = (1 − φ(h)) φ'(h) at y = 1, by symmetry,

        ẇᵢ = μᵢ E[G] + sᵢ² wᵢ E[G'] + (κᵢ/6) sᵢ⁴ wᵢ³ E[G'''] + …

    κᵢ the excess kurtosis, −6/5 or 0.  Means act at w = 0, covariances to first order
    in w, fourth cumulants to third.  For Gaussian classes the sum ends after two terms
    (Stein): w then stays in the span of the Σᵏμ, and rests where w ∝ Σ⁻¹μ.

    By Gauss's quadrature along every side and along the Gaussian part of w·x.

    Args:
        weights: w.
        means: μ.
        deviations: s.
        sides: 0, 1 or 2; how many inputs are uniform.

    Raises:
        ValueError: for another number of sides.

    Reference: the series is after Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567,
    section 3.
    """
    if sides not in (0, 1, 2):
        raise BadInput(f"`sides` must be 0, 1 or 2, got {sides!r}.")
    u, share = np.polynomial.legendre.leggauss(_SIDE)
    z, chance = np.polynomial.hermite_e.hermegauss(_GAUSSIAN)
    along = np.meshgrid(*[3**0.5 * u] * sides, z, indexing="ij")
    odds = np.ones(())
    for part in (*[share / 2] * sides, chance / chance.sum()):
        odds = np.multiply.outer(odds, part)
    scaled = weights * deviations
    h = weights @ means + np.linalg.norm(scaled[sides:]) * along[-1]
    for side in range(sides):
        h = h + scaled[side] * along[side]
    slope = (2 / np.pi) ** 0.5 * np.exp(-(h**2) / 2)
    error = 1 - scipy.special.erf(h / 2**0.5)
    first = np.sum(odds * error * slope)
    second = np.sum(odds * (-(slope**2) - error * slope * h))
    force = means * first + deviations * scaled * second
    for side in range(sides):
        pull = np.sum(odds * error * slope * along[side])
        force[side] = means[side] * first + deviations[side] * pull
    return force


@functools.cache
def optimum(means: Numbers, deviations: Numbers) -> Float[np.ndarray, " p"]:
    """Direction, of length 1, where the flow rests under the law of the rectangle."""
    mean, deviation = np.array(means), np.array(deviations)
    force = lambda w: erf_neuron_force(w, mean, deviation)
    near = path((0.0, 200.0), means, deviations)[-1]
    found = scipy.optimize.root(force, near, tol=1e-10)
    assert found.success
    return found.x / np.linalg.norm(found.x)


@functools.cache
def path(
    times: Numbers, means: Numbers, deviations: Numbers, sides: int = 2
) -> Float[np.ndarray, "time p"]:
    """w(t) of the flow under the law from w = 0, at `times` from 0 on."""
    mean, deviation = np.array(means), np.array(deviations)
    force = lambda _, w: erf_neuron_force(w, mean, deviation, sides=sides)
    span, start = (0.0, times[-1]), np.zeros(len(mean))
    found = scipy.integrate.solve_ivp(
        force, span, start, "LSODA", times, rtol=1e-7, atol=1e-9
    )
    return found.y.T
