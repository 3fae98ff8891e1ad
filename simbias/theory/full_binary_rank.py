"""How often random equations modulo 2 have one solution."""

import math

from simbias.validation.values import positive_integers


def full_binary_rank(m: int, d: int) -> float:
    """Probability that m uniform equations modulo 2 determine d unknowns.

        Π_{i<d} (1 − 2^{i−m}) ≥ 1 − 2^{d−m},

    0 for m < d.  For m = 2d it is at least 1 − 2⁻ᵈ; m = d leaves 0.2888 as d → ∞.

    Args:
        m: equations, each coefficient 0 or 1 with equal odds.
        d: unknowns.

    Raises:
        ValueError: for a number that is no positive integer.

    Column i lies outside the span of the i columns before it with odds 1 − 2^{i−m}.
    """
    positive_integers(m=m, d=d)
    return math.prod(max(0.0, 1 - 2.0 ** (i - m)) for i in range(d))
