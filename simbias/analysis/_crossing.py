"""Where medians over a grid of sizes first rise to a value."""

import numpy as np
from jaxtyping import Float

from simbias.analysis._threshold import Sizes


def first_crossings(
    sizes: Sizes, medians: Float[np.ndarray, "r n"], value: float
) -> Float[np.ndarray, " r"]:
    """First crossing of every row; 0 if already above at the start, inf if never.

    Between two sizes the median is taken as linear in ln n.
    """
    is_above = medians >= value
    # The size after the crossing; 1 where there is none, replaced below.
    i = np.maximum(np.argmax(is_above, axis=1), 1)
    row, x = np.arange(len(medians)), np.log(sizes)
    below, above = medians[row, i - 1], medians[row, i]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        part = (value - below) / (above - below)
    # −∞ where failed members hold the median: any value is crossed at the size after.
    part = np.where(np.isfinite(part), np.clip(part, 0, 1), 1.0)
    found = np.exp(x[i - 1] + part * (x[i] - x[i - 1]))
    found = np.where(is_above[:, 0], 0.0, found)
    return np.where(is_above.any(axis=1), found, np.inf)
