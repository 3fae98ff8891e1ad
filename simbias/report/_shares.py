"""Which arrays are shares of a whole."""

import numpy as np

# Sums of float32 are this near.
_NEAR = 1e-4


def are_shares(values: np.ndarray) -> bool:
    """True for values that add up to 1 along their last axis, which are drawn as steps.

    Rows with a NaN, such as those of networks that failed, do not count.
    """
    totals = values.sum(axis=-1)
    known = totals[~np.isnan(totals)]
    is_whole = bool((np.abs(known - 1) < _NEAR).all())
    return known.size > 0 and is_whole and not bool((values < 0).any())
