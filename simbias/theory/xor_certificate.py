"""The inequality behind the end of training on XOR-like clusters."""

import math
from typing import NamedTuple

import scipy

from simbias.errors import BadInput


class XorCertificate(NamedTuple):
    """Both sides of the inequality, as times in units of 1/B."""

    needed: float
    available: float

    @property
    def holds(self) -> bool:
        """True if needed < available."""
        return self.needed < self.available


def xor_certificate(
    noise: float = 0.01,
    smallest: float = 5e-4,
    largest: float = 0.5,
    ratio: float = 1000.0,
    *,
    reached: float = 2.25,
    bound: float = 8 / 3,
) -> XorCertificate:
    """Inequality that the proof of Proposition 5.7 evaluates numerically.

        h((1 − 2a) q₁²) < (A/B) h((1 − 2a) q₂²)
                        + (1 − A/B) (1 + e C) ln((1 − 2a) b₁²)
                        − (1 + C e^{(1 − 2a) b₂²}) ln c²
        h(x) = C (Ei(x) − Ei(1)) + ln x
        A = ((1 − 2a) e^{−7 a q₂²} − 4a)/2,   B = (1 + a)/2,   C = e^{−4 a q₂²}

    h is the time in which a squared scale x grows by x' = x/(1 + C eˣ), counted from
    1; A and B bound the pull of a cluster of radius a from below and above.  The left
    side is the time in which the slowest neuron gets to q₁, the right side the time
    that there is before the fastest can have passed q₂.

    Args:
        noise: a, radius of the clusters.
        smallest: b₁, least scale at which the first neurons start.
        largest: b₂, largest.
        ratio: c, of the largest to the smallest scale of the four neurons at the start.
        reached: q₁.
        bound: q₂.

    Raises:
        ValueError: unless 0 ≤ a < 1/2 and all others are positive.

    Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, Proposition 5.7, whose
    published check gives 29.5602 < 29.6294 for the defaults.  The meaning of the
    letters is ours, read off the formula.
    """
    if not 0 <= noise < 0.5 or min(smallest, largest, ratio, reached, bound) <= 0:
        raise BadInput(
            "`noise` must lie in [0, ½) and the others must be positive, got "
            f"{(noise, smallest, largest, ratio, reached, bound)}. Example: noise=0.01."
        )
    kept, square = 1 - 2 * noise, bound**2
    slow = (kept * math.exp(-7 * square * noise) - 4 * noise) / 2
    fast = (1 + noise) / 2
    c = math.exp(-4 * square * noise)
    h = lambda x: c * float(scipy.special.expi(x) - scipy.special.expi(1)) + math.log(x)
    available = slow / fast * h(kept * square)
    available += (1 - slow / fast) * (1 + c * math.e) * math.log(kept * smallest**2)
    available -= (1 + c * math.exp(kept * largest**2)) * math.log(ratio**2)
    return XorCertificate(h(kept * reached**2), available)
