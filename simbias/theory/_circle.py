"""Extrema of a sum of ReLUs on the unit circle, by sorting the angles of its kinks."""

import numpy as np
from jaxtyping import Float, Int

Critical = tuple[Float[np.ndarray, "v 2"], Int[np.ndarray, " v"], Int[np.ndarray, " v"]]


def critical_on_circle(
    x: Float[np.ndarray, "n 2"], pull: Float[np.ndarray, " n"]
) -> Critical:
    """All critical directions of G(w) = Σ g_k (w·x_k)₊, their kind, and ones.

    Between two kinks G = D·w, with at most one extremum since the arc is at most π
    wide: it is there if the slopes at both ends say so.  At a kink the slopes of both
    sides decide; where a slope vanishes, D points at the kink and G'' = −G decides.
    """
    if x.shape[0] == 0:
        return np.zeros((0, 2)), np.zeros(0, int), np.zeros(0, int)
    kink, drive = arcs(x, pull)
    width = (np.roll(kink, -1) - kink) % (2 * np.pi)
    slope_after = np.sum(drive * _tangent(kink), axis=1)
    slope_before_next = np.sum(drive * _tangent(kink + width), axis=1)
    value = np.sum(drive * _unit(kink), axis=1)
    tiny = _rounding(x, pull)

    begin = _sign(slope_after, tiny)
    end = _sign(slope_before_next, tiny)
    inside = np.where(begin == -end, begin, 0)

    curvature = -_sign(value, tiny)
    right = np.where(begin == 0, curvature, begin)
    left = np.where(np.roll(end, 1) == 0, curvature, -np.roll(end, 1))
    # One side flat in first order only: such neurons stay if they come from there.
    is_one_sided = (right == -left) & ((begin == 0) | (np.roll(end, 1) == 0))
    is_extremum = (right == left) & (right != 0)
    at_kink = is_extremum | (is_one_sided & (right != 0))

    length = np.linalg.norm(drive, axis=1, keepdims=True)[inside != 0]
    peaks = inside[inside != 0][:, None] * drive[inside != 0] / length
    kind_at_kink = np.where(is_extremum, -right, 0)[at_kink]
    direction = np.concatenate([peaks, _unit(kink[at_kink])])
    kind = np.concatenate([inside[inside != 0], kind_at_kink]).astype(int)
    return direction, kind, np.ones_like(kind)


def arcs(
    x: Float[np.ndarray, "n 2"], pull: Float[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "c 2"]]:
    """Angles of the kinks in [0, 2π), and D on the arc that begins at each."""
    normal = np.arctan2(x[:, 1], x[:, 0])
    part = pull[:, None] * x
    angle = np.concatenate([normal - np.pi / 2, normal + np.pi / 2]) % (2 * np.pi)
    order = np.argsort(angle)
    angle, jump = angle[order], np.concatenate([part, -part])[order]
    # Parallel samples share a kink; rounding must not put an arc between its copies.
    gap = (angle - np.roll(angle, 1)) % (2 * np.pi)
    is_new = gap > 32 * np.pi * np.finfo(float).eps
    kink = angle[is_new]
    jumps = np.zeros((kink.size, 2))
    # Copies before the first new angle belong to the last kink, across 2π.
    np.add.at(jumps, (np.cumsum(is_new) - 1) % kink.size, jump)
    middle = _unit(kink[:1] + ((kink[1] - kink[0]) % (2 * np.pi)) / 2)
    first = np.where(x @ middle[0] > 0, pull, 0) @ x
    drive = first[None, :] + np.cumsum(jumps, axis=0) - jumps[:1]
    # Where nothing is active the sum is rounding, and would seem to pull.
    is_none = np.linalg.norm(drive, axis=1) <= _rounding(x, pull)
    return kink, np.where(is_none[:, None], 0, drive)


def _unit(angle: Float[np.ndarray, " c"]) -> Float[np.ndarray, "c 2"]:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _tangent(angle: Float[np.ndarray, " c"]) -> Float[np.ndarray, "c 2"]:
    return np.stack([-np.sin(angle), np.cos(angle)], axis=1)


def _sign(v: Float[np.ndarray, " c"], tiny: float) -> Int[np.ndarray, " c"]:
    return np.where(np.abs(v) > tiny, np.sign(v), 0).astype(int)


def _rounding(x: Float[np.ndarray, "n 2"], pull: Float[np.ndarray, " n"]) -> float:
    size = np.abs(pull) @ np.linalg.norm(x, axis=1)
    return float((64 + 2 * len(x)) * np.finfo(float).eps * size)
