"""Phases of condensation: directions, rates, and errors of the early theory."""

import dataclasses
import functools
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from simbias.analysis.parts import with_axes
from simbias.core import Dataset
from simbias.datasets import xor_clusters
from simbias.losses import logistic
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.early_limit import EarlyLimit, early_limit
from simbias.theory.extremal_vectors import extremal_vectors

# The scale at which the second phase is observed.
EPSILON = 0.3
Extremum = Literal["cell", "kink", "generic"]
# Seed of the sample whose largest |G| lies inside a cell, or on a hyperplane; of the
# generic ones the first with it inside a cell.
_SAMPLES: dict[str, int] = {"cell": 2, "kink": 6, "generic": 2}
# How many directions have the largest |G|: mirror images make two of one.
DIRECTIONS: dict[str, int] = {"cell": 2, "kink": 2, "generic": 1}


def sample(extremum: Extremum) -> Dataset:
    """16 points in four loose clusters at 60°, the same for every network.

    Opposite clusters are mirror images, so G(−w) = G(w).  In the generic dataset they
    are not: each cluster has its own noise.
    """
    key = jax.random.key(_SAMPLES[extremum])
    draw = functools.partial(xor_clusters, key, angle=np.pi / 3, sigma=0.3, clip=0.6)
    if extremum != "generic":
        return draw(n=16)
    # Of four clusters with the same 16 points each has four that no other has.
    whole, cluster = draw(n=64), np.arange(16) // 4
    own = np.arange(16) + 16 * cluster
    rows = {k: getattr(whole, k)[own] for k in ("x", "y", "weight", "mean")}
    return dataclasses.replace(whole, **rows)


@functools.cache
def rates(extremum: Extremum) -> tuple[float, float]:
    """λ and λ₂, the two largest values of |G| at which neurons grow, for logistic."""
    with exact_numerics():
        found = extremal_vectors(sample(extremum))
    # The values are those of half_mse; −ℓ'(0) = ½.
    grown = np.unique(np.abs(found.value[found.kind * found.value > 0] / 2).round(12))
    return float(grown[-1]), float(grown[-2])


def first_phase(extremum: Extremum, kappa: float, r: float) -> float:
    """T₁ = (1/λ) ln(r/σ), σ = r^(1 + κ): the fastest neurons have the scale r."""
    return float(kappa * np.log(1 / r) / rates(extremum)[0])


def second_phase(extremum: Extremum, kappa: float, r: float) -> float:
    """T₂ = (1/λ) ln(ε/σ): the fastest neurons have the scale ε, `EPSILON`."""
    log = kappa * np.log(1 / r) + np.log(EPSILON / r)
    return float(log / rates(extremum)[0])


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
