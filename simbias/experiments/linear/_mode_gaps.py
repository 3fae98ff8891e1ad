"""How far modes are from the closed form of their strength."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from simbias.theory.mode_strength import mode_strength

# What a mode needs to follow the closed form.
BELOW = "0 < u(0) < s"


def mode_gaps(
    strengths: Float[np.ndarray, "p s t"],
    time: Float[np.ndarray, " t"],
    targets: Sequence[float],
    depth: int,
) -> Float[np.ndarray, "p s t"] | None:
    """|u(t) − closed form|/s, from the first record on; NaN of a member that failed.

    Args:
        strengths: u by mode, seed and time.
        time: in the clock of `mode_strength`.
        targets: s of every mode.
        depth: N.

    Returns:
        None if a mode does not begin between 0 and s, where there is no closed form.
    """
    s = np.array(targets)[:, None, None]
    first = strengths[:, :, :1]
    if np.any((first <= 0) | (first >= s)):
        return None
    laws = [
        mode_strength(time, row, float(target), depth)
        for row, target in zip(first, targets, strict=True)
    ]
    return abs(strengths - np.stack(laws)) / s
