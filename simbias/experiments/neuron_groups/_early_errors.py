"""Distance of a network from the exact early limit of its neurons."""

import jax.numpy as jnp
import numpy as np
import xarray as xr

from simbias.analysis.parts import with_axes
from simbias.experiments.neuron_groups._phases import (
    Extremum,
    first_phase,
    sample,
    second_phase,
)
from simbias.losses import logistic
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.early_limit import EarlyLimit, early_limit

AXES = ("extremum", "kappa", "m", "r")
# At T₁, over ‖r u*‖: ‖u − r u*‖ in the prominent set, ‖u‖ elsewhere.  At T₂: ‖u‖
# elsewhere over that in the set, and the widest angle inside a cluster of the set.
ERRORS = ("prominent", "others", "others_late", "spread")


def errors(ds: xr.Dataset) -> xr.Dataset:
    """Distances from the early limit, over the grid and seeds; NaN if not recorded.

    `prominent` is ‖u − r u*‖ over P and `others` ‖u‖ over the rest, both at T₁ and
    relative to ‖r u*‖; `others_late` is ‖u‖ over the rest relative to that over P at
    T₂, and `spread` the largest angle in radians of a neuron of P with the mean of its
    cluster at T₂.
    """
    ds, axes = with_axes(ds, AXES), (*AXES, "seed")
    weights = ds["neuron_weights"].transpose(*axes, "time", ...)
    found = np.full((len(ERRORS), *weights.shape[: len(axes)]), np.nan)
    for place in np.ndindex(*found.shape[1:]):
        one = weights[place]
        path = one.values[:, np.isfinite(one.values[-1, :, 0])]
        extremum, kappa, r = (one[k].item() for k in ("extremum", "kappa", "r"))
        phases = first_phase(extremum, kappa, r), second_phase(extremum, kappa, r)
        rows = [np.flatnonzero(ds["time"].values == t) for t in (0.0, *phases)]
        if path.shape[1] and all(len(row) for row in rows):
            start, early, late = (path[row[0]] for row in rows)
            limit = _limit(extremum, start)
            found[(slice(None), *place)] = distances(
                limit, start, early, late, phases[0]
            )
    variables = {k: (axes, v) for k, v in zip(ERRORS, found, strict=True)}
    return xr.Dataset(variables, {k: ds[k].values for k in axes})


def _limit(extremum: Extremum, start: np.ndarray) -> EarlyLimit:
    with exact_numerics():
        w, a = jnp.asarray(start[:, :2]), jnp.asarray(start[:, 2])
        return early_limit(sample(extremum), logistic, w, a)


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
