"""Median and central 80 % over the seeds of every cell."""

import numpy as np

LEVELS = (0.1, 0.5, 0.9)


def quantiles(values: np.ndarray, is_good: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of the members that are good and have a value, and how many there are.

    Args:
        values: (cell, seed, …).
        is_good: (cell, seed).

    Returns:
        Three of (cell, …), NaN where there is no value, and the count.  Between two
        members linear, as `numpy.quantile`, which takes one row after another.
    """
    extra = (1,) * (values.ndim - 2)
    is_in = is_good.reshape(*is_good.shape, *extra) & np.isfinite(values)
    ordered = np.sort(np.where(is_in, values, np.inf), axis=1)
    count = is_in.sum(axis=1)
    out = []
    for level in LEVELS:
        place = level * np.maximum(count - 1, 0)
        below = np.floor(place).astype(int)
        above = np.minimum(below + 1, np.maximum(count - 1, 0))
        first, second = (
            np.take_along_axis(ordered, i[:, None], axis=1)[:, 0]
            for i in (below, above)
        )
        with np.errstate(invalid="ignore"):  # of rows without a value
            mixed = first + (place - below) * (second - first)
        out.append(np.where(count > 0, mixed, np.nan))
    return (*out, count)
