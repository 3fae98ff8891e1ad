"""The directions to which the neurons of a run turned, and the neurons of each."""

import numpy as np
import xarray as xr

from simbias.analysis.parts import with_axes
from simbias.core import Dataset, Experiment
from simbias.experiments._draws import samples
from simbias.theory.extremal_vectors import extremal_residual

AXES = ("sigma", "d", "n")
# Directions closer than this are one; what is left of a start at the end is 1e-8.
SAME = 1e-5
_MEMBER = (*AXES, "seed")
_SIGNS = (1, -1)
_FOUND = ("angle", "rate", "count", "share", "stray", "residual")


def extremes(ds: xr.Dataset, experiment: Experiment) -> xr.Dataset:
    """Extremal vectors found, over (sigma, d, n, seed, sign of aⱼ); NaN if missing.

    `angle` with sign(aⱼ)β* (rad) and `rate` |G| belong to the direction to which most
    neurons of the sign turned.  `count` is the number of directions, `share` the share
    of the neurons in the largest basin.  `stray` is the share that ended on the other
    side, and `residual` the largest KKT residual.
    """
    ds = with_axes(ds, AXES)
    weights = ds["neuron_weights"].transpose(*_MEMBER, "neuron", "weight")
    found = np.full((len(_FOUND), *weights.shape[:4], len(_SIGNS)), np.nan)
    is_there = xr.apply_ufunc(np.isfinite, weights).any(["neuron", "weight"])
    for i, cell, data in samples(ds, experiment, is_there):
        # Networks of a smaller dimension have NaN at the end of their rows.
        neurons = weights.values[i][:, : cell["d"] + 1]
        neurons = neurons[np.isfinite(neurons).all(axis=1)]
        for k, sign in enumerate(_SIGNS):
            mine = neurons[sign * neurons[:, -1] > 0, :-1]
            if len(mine):
                found[(slice(None), *i, k)] = _basins(data, mine, sign)
    axes = (*_MEMBER, "sign")
    variables = {k: (axes, v) for k, v in zip(_FOUND, found, strict=True)}
    return xr.Dataset(
        variables, {k: ds[k].values for k in _MEMBER} | {"sign": [*_SIGNS]}
    )


def _basins(data: Dataset, w: np.ndarray, sign: int) -> np.ndarray:
    """Values in the order of `_FOUND`, for the neurons of one sign."""
    size = np.abs(w).max(axis=1, keepdims=True)
    u = w / size / np.linalg.norm(w / size, axis=1, keepdims=True)
    distinct, counts = _distinct(u)
    residual = max(extremal_residual(data, v) for v in distinct)
    top, beta = distinct[np.argmax(counts)], np.asarray(data.features)[0]
    cosines = sign * u @ beta
    angle = 2 * np.arctan2(
        np.linalg.norm(top - sign * beta), np.linalg.norm(top + sign * beta)
    )
    heights = np.maximum(np.asarray(data.x) @ top, 0)
    rate = abs(np.mean(heights * np.asarray(data.y)[:, 0]))
    share, stray = counts.max() / counts.sum(), np.mean(cosines < 0)
    return np.array([angle, rate, len(counts), share, stray, residual])


def _distinct(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions further apart than `SAME`, and the number of neurons of each."""
    kept, counts = [], []
    while len(u):
        is_same = np.linalg.norm(u - u[0], axis=1) < SAME
        kept.append(u[0])
        counts.append(int(is_same.sum()))
        u = u[~is_same]
    return np.array(kept), np.array(counts)
