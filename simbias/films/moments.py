"""Which records a film shows."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

MOST = 120


def moments(
    values: Sequence[Float[np.ndarray, "t ..."]], most: int = MOST
) -> Int[np.ndarray, " frame"]:
    """Numbers of the records that become frames: all of them if they are few enough.

    Otherwise the first, the last and those between at equal distances of
    ½ (share of the records) + ½ (share of what moves), so that frames are dense where
    something happens.

    Args:
        values: what moves, one row per record; each counts relative to its range.
        most: frames.
    """
    count = len(values[0])
    if count <= most:
        return np.arange(count)
    moved = np.zeros(count - 1)
    for rows in values:
        rows = rows.reshape(count, -1)
        span = np.nanmax(rows) - np.nanmin(rows)
        if np.isfinite(span) and span > 0:
            step = np.abs(np.diff(rows, axis=0)) / span
            moved = np.maximum(moved, np.nanmax(np.nan_to_num(step), axis=1))
    passed = np.concatenate([[0.0], np.cumsum(moved)])
    share = passed / passed[-1] if passed[-1] > 0 else np.linspace(0, 1, count)
    way = (np.linspace(0, 1, count) + share) / 2
    wanted = np.linspace(0, 1, most)
    return np.unique(np.searchsorted(way, wanted - 1e-12).clip(0, count - 1))
