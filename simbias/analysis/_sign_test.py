"""Between which sizes of a grid a median must cross a level, exactly."""

import numpy as np
import scipy
from jaxtyping import Float, Int

Counts = Int[np.ndarray, " n"]


def sign_interval(
    sizes: Float[np.ndarray, " n"], below: Counts, trials: Counts, level: float
) -> tuple[float, float]:
    """Sizes between which P(value below) falls through ½; 0 or inf beyond the grid.

    From either end of the grid inwards, a size is left behind as long as a one-sided
    sign test says on which side of the crossing it lies.  The first wrong step is one
    test of level (1 − level)/2, whatever the law, and however the sizes depend on each
    other: only P(value below) must not rise with the size.

    Reference: Hsu & Berger (1999), J. Am. Stat. Assoc. 94, 468 (steps in fixed order).
    """
    tail = (1 - level) / 2
    is_before = scipy.stats.binom.sf(below - 1, trials, 0.5) <= tail
    is_after = scipy.stats.binom.cdf(below, trials, 0.5) <= tail
    first = int(np.cumprod(is_before).sum())
    last = len(sizes) - int(np.cumprod(is_after[::-1]).sum())
    low = float(sizes[first - 1]) if first else 0.0
    return low, float(sizes[last]) if last < len(sizes) else np.inf
