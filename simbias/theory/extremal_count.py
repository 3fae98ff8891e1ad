"""How many extremal vectors a sign has, as n → ∞: a law for every dimension.

Around the direction of the teacher, on the scale of 1/n at which hyperplanes pass, G is
a paraboloid with a Poisson process of creases.  A maximum lies inside a cell, or on as
many concave creases as it likes; counting levels of the gradient gives the mean number
of each kind.  In the plane the gradient is a random walk with a drift, whose jumps have
the law of Laplace, and the number itself has a law.  docs/alignment/extremal_count.md
has the derivation.
"""

import math

import numpy as np
from jaxtyping import Float

from simbias.core import Real
from simbias.errors import BadInput
from simbias.validation.values import not_negative, positive_integer, positive_integers


def extremal_count(d: int, sigma: Real, *, slope: Real = 0.0) -> float:
    """Mean number of extrema at which the neurons of one sign can end, n → ∞.

    E = (1 + κ)^{d − 1},   κ = (σ/π)·(1 − α)/(1 + α)

    x ~ N(0, I), y = β*·x + σ η with η ~ N(0, 1) and ‖β*‖ = 1, activation max(z, αz).
    C(d − 1, j) κʲ of them lie on j hyperplanes: 1 inside a cell, whatever σ is.  For
    another noise of mean 0 put σ = E|ε|·√(π/2), for another ‖β*‖ divide σ by it.

    Args:
        d: input dimension.
        sigma: σ.
        slope: α in (−1, 1], of the activation for negative inputs; 0 for ReLU.

    Raises:
        ValueError: for a size or number out of range.

    Reference: derived in docs/alignment/extremal_count.md.
    """
    positive_integer("d", d)
    return (1 + _crease(sigma, slope)) ** (d - 1)


def extremal_chance(
    most: int, sigma: Real, *, slope: Real = 0.0
) -> Float[np.ndarray, " most"]:
    """Probabilities of 1, 2, …, `most` such extrema in the plane, n → ∞.

    P(1) = 1 − u,   P(1 + j) = u r^{j − 1} (1 − r),   j ≥ 1

    u = (1 − k)(1 + k²)/(1 + k),   r = (1 − k)(1 + k + 2k²)/(1 + k)²,   1/k − k = 2κ

    The mean is 1 + κ, that of `extremal_count` with d = 2.  For Gaussian x and noise
    only: that is what makes the jumps of the slope memoryless.

    Args:
        most: how many probabilities.
        sigma: σ.
        slope: α in (−1, 1], of the activation for negative inputs; 0 for ReLU.

    Raises:
        ValueError: for a size or number out of range.

    Reference: derived in docs/alignment/extremal_count.md.
    """
    positive_integer("most", most)
    _, again, more = _returns(_crease(sigma, slope))
    several = again * (1 - more) * more ** np.arange(most - 1)
    return np.concatenate([[1 - again], several])


def extremal_spread(sigma: Real, *, slope: Real = 0.0) -> float:
    """Mean angle from the first to the last of them, in units of π/n, if there are two.

    The plane again, n → ∞; π/n is the mean angle from one hyperplane to the next.  With
    k, u and r of `extremal_chance`, c = π/2, s = πκ and ψ = sk(1 + k²)/(1 − k²)²

    T₁/u + T₂ + (T₃ + rT₂)/(1 − r),   T₁ = (s/ψ)(k + 2(1 − k)/(1 + k)²)

    T₂ = 2s/((1 + k)c),   T₃ = (2s/ψ)(k(1 + k)² + 1 − k)/(1 + k)³

    are what the walk spends below 0 until it first comes back, above 0 each time, and
    below 0 until it comes back again, nothing if it does not.

    Args:
        sigma: σ > 0.
        slope: α in (−1, 1), of the activation for negative inputs; 0 for ReLU.

    Raises:
        ValueError: for a number out of range.

    Reference: derived in docs/alignment/extremal_count.md.
    """
    kappa = _crease(sigma, slope)
    if not kappa > 0:
        raise BadInput(
            "`sigma` must be positive and `slope` below 1, or else there are no two, "
            f"got sigma={sigma}, slope={slope}. Example: sigma=0.3, slope=0."
        )
    k, again, more = _returns(kappa)
    size = math.pi * kappa
    # Given that it comes back the walk is one with the opposite drift.
    rise = size * k * (1 + k**2) / (1 - k**2) ** 2
    above = 4 * size / ((1 + k) * math.pi)
    first = size / rise * (k + 2 * (1 - k) / (1 + k) ** 2)
    later = 2 * size / rise * (k * (1 + k) ** 2 + 1 - k) / (1 + k) ** 3
    return (first + again * (above + (later + more * above) / (1 - more))) / again


def extremal_count_at(n: int, sigma: Real, *, d: int = 2) -> float:
    """Mean number of such extrema for ReLU, n large but finite.

    E = E_θ[(1 + s/π)^{d − 2} (1 + (σ² + 2θ²)/(πs))],   s² = σ² + θ²

    θ, the length of a normal vector of d − 1 coordinates of variance 2(1 + σ²)/n, is
    the angle of the extrema with ±β*: there the teacher does not vanish on the
    hyperplanes that pass.  For d = 2

    E = 1 + (4√(1 + σ²)/(π√(πn))) z e^z K₁(z),   z = nσ²/(8(1 + σ²))

    which is 1 + 4/(π√(πn)) without noise and 1 + σ/π + 3(1 + σ²)/(πσn) + … with it.
    Other terms of the order 1/n are left out.

    Args:
        n: samples.
        sigma: σ.
        d: input dimension.

    Raises:
        ValueError: for a size or number out of range.

    Reference: derived in docs/alignment/extremal_count.md.
    """
    positive_integers(n=n, d=d)
    not_negative("sigma", sigma)
    if d == 1:
        return 1.0
    t = (np.arange(8000) + 0.5) / 8000 * (10 + d**0.5)
    chi = np.exp((d - 2) * np.log(t / d**0.5) - t**2 / 2)
    angle = t * math.sqrt(2 * (1 + float(sigma) ** 2) / n)
    s = np.hypot(float(sigma), angle)
    along = 1 + (float(sigma) ** 2 + 2 * angle**2) / (math.pi * s)
    number = along * (1 + s / math.pi) ** (d - 2)
    return float(number @ chi / chi.sum())


def _crease(sigma: Real, slope: Real) -> float:
    """κ, concave creases of a unit of gradient."""
    not_negative("sigma", sigma)
    if not -1 < slope <= 1:
        raise BadInput(f"`slope` must lie in (−1, 1], got {slope}. Example: slope=0.1.")
    return float(sigma) / math.pi * (1 - float(slope)) / (1 + float(slope))


def _returns(kappa: float) -> tuple[float, float, float]:
    """The number k, and the probabilities u and r of a first and a further return."""
    k = math.hypot(1, kappa) - kappa
    again = (1 - k) * (1 + k**2) / (1 + k)
    return k, again, (1 - k) * (1 + k + 2 * k**2) / (1 + k) ** 2
