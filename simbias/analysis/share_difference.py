"""Interval for how much more often something is true of one group than of another."""

import numpy as np
from numpy.typing import ArrayLike

from simbias.analysis.interval import present, unknown
from simbias.analysis.looks import level_of_look
from simbias.analysis.wilson import wilson_score
from simbias.core import Estimate
from simbias.errors import BadInput


def share_difference(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """p₁ − p₂ of two groups of independent members, from what is true of each.

    p₁ − p₂ − √((p₁ − l₁)² + (u₂ − p₂)²) … p₁ − p₂ + √((u₁ − p₁)² + (p₂ − l₂)²)

    with Wilson's interval lᵢ … uᵢ of each share, corrected for continuity.  Of a
    prediction, with the members for which it came true as the first group and the
    others as the second, shares that were predicted give sensitivity + specificity − 1:
    1 if it is always right, 0 if it knows nothing.

    Args:
        first: one per member of the first group: true, false, 1, 0, or NaN for one
            without a result.
        second: the same of the second group.
        level: confidence.

    Raises:
        ValueError: for other values, or a level that is none.

    Reference: Newcombe (1998), Stat. Med. 17, 873, method 11.
    """
    level = level_of_look(level)
    groups = [present(first), present(second)]
    if not all(np.all((seen == 0) | (seen == 1)) for seen in groups):
        raise BadInput(
            "`first` and `second` must be true, false, 1, 0 or NaN. Example: risk < 1."
        )
    if not all(seen.size for seen in groups):
        return unknown(np.nan, level, "a group has no member with a result")
    one, two = (wilson_score(int(v.sum()), v.size, level=level) for v in groups)
    value = one.value - two.value
    return Estimate(
        value,
        value - float(np.hypot(one.value - one.low, two.high - two.value)),
        value + float(np.hypot(one.high - one.value, two.value - two.low)),
        "Newcombe's, from two Wilson scores corrected for continuity",
        level,
    )
