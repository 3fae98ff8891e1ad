"""Distance of a network from the exact early limit of its neurons."""

import numpy as np

from simbias.theory.early_limit import EarlyLimit

# At T₁, over ‖r u*‖: ‖u − r u*‖ in the prominent set, ‖u‖ elsewhere.  At T₂: ‖u‖
# elsewhere over that in the set, and the widest angle inside a cluster of the set.
ERRORS = ("prominent", "others", "others_late", "spread")


def distances(
    limit: EarlyLimit,
    start: np.ndarray,
    early: np.ndarray,
    late: np.ndarray,
    time: float,
) -> tuple[float, ...]:
    """The four errors of one network; rows (w, a) of its neurons at 0, T₁ and T₂.

    Args:
        limit: early limit of the rows at time 0.
        start: weights at time 0.
        early: weights at T₁.
        late: weights at T₂.
        time: T₁.

    Returns:
        In the order of `ERRORS`.
    """
    is_prominent = limit.prominent()
    toward = np.column_stack([limit.direction, np.sign(start[:, 2])])
    size = limit.amplitude * np.exp(limit.fastest * time)
    target = (size[:, None] * toward)[is_prominent]
    scale = float(np.linalg.norm(target))
    norm = lambda v: float(np.linalg.norm(v))
    return (
        norm(early[is_prominent] - target) / scale,
        norm(early[~is_prominent]) / scale,
        norm(late[~is_prominent]) / norm(late[is_prominent]),
        _spread(late[is_prominent, :2], limit.direction[is_prominent]),
    )


def _spread(w: np.ndarray, direction: np.ndarray) -> float:
    widest = 0.0
    for one in np.unique(direction.round(9), axis=0):
        mine = w[(direction.round(9) == one).all(axis=1)]
        mean = mine.sum(axis=0)
        turn = mine[:, 0] * mean[1] - mine[:, 1] * mean[0]
        widest = max(widest, float(np.abs(np.arctan2(turn, mine @ mean)).max()))
    return widest
