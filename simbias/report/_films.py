"""Neurons of networks with one hidden layer over time, of some members."""

import itertools
import math
from typing import Any

import numpy as np
import xarray as xr

from simbias.core import Experiment
from simbias.errors import BadInput
from simbias.report._clusters import NONE, clusters
from simbias.report._packed_numbers import PackedNumbers
from simbias.verbs.neuron_history import neuron_history

# Most numbers, members, times and neurons.
_ROOM, _MEMBERS, _TIMES, _NEURONS = 600_000, 48, 60, 200


def films(
    ds: xr.Dataset,
    experiment: Experiment | None,
    lead: tuple[str, ...],
    packed: PackedNumbers,
    notes: list[str],
) -> dict[str, Any] | None:
    """Directions, masses with the sign of a, clusters; None if none are stored.

    A direction of more than two coordinates, the bias being one, is seen along the two
    that carry most of the member's mass at the end; `shares` of its square.
    """
    cells = list(itertools.product(*(ds[axis].values for axis in lead[:-1])))
    plain = lambda cell: (np.asarray(value).item() for value in cell)
    named = [dict(zip(lead, plain(cell), strict=False)) for cell in cells]
    try:
        first = _weights(ds, experiment, named[0], 0)
    except BadInput:
        return None  # of another kind, or none
    neurons, times = ds.sizes.get("neuron", first[1].shape[1]), first[2]
    at = _spread(times.size, _TIMES)
    room = min(_ROOM // (3 * len(at) * min(neurons, _NEURONS)), _MEMBERS)
    cells_in = _spread(len(named), max(room, 1))
    seeds = int(np.clip(room // len(cells_in), 1, ds.sizes["seed"]))
    if (len(cells_in), seeds) != (len(named), ds.sizes["seed"]):
        notes.append(
            f"Neurons are those of the first {seeds} of {ds.sizes['seed']} seeds in "
            f"{len(cells_in)} of {len(named)} cells."
        )
    members, found, grouped, counts = [], [], [], []
    for cell, seed in itertools.product(cells_in, range(seeds)):
        w, a, _ = _weights(ds, experiment, named[cell], seed)
        who = _spread(a.shape[1], _NEURONS)
        found.append(_seen(w[at][:, who], a[at][:, who]))
        ranks, count = clusters(w[at], a[at])
        grouped.append(ranks[:, who])
        counts.append(count)
        members.append([int(cell), seed])
    most = max(masses.shape[1] for _, masses, _ in found)
    if most < max(neurons, first[1].shape[1]):
        notes.append(f"Of every network {most} neurons are shown.")
    return {
        "members": members,
        "times": packed.add(times[at]),
        "places": packed.add(np.stack([_padded(one, most) for one, _, _ in found])),
        "masses": packed.add(np.stack([_padded(one, most) for _, one, _ in found])),
        "clusters": packed.add(np.stack([_padded(g, most, NONE) for g in grouped])),
        "counts": packed.add(np.stack(counts)),
        "shares": [share for _, _, share in found],
        "inputs": int(first[0].shape[-1]),
    }


def _weights(
    ds: xr.Dataset, experiment: Experiment | None, cell: dict[str, Any], seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(wⱼ, bⱼ) and aⱼ over time, and the times; ‖aⱼ‖ of several outputs."""
    seed = int(ds["seed"].values[seed])
    found = neuron_history(ds, experiment, seed=seed, **cell)
    w, a = found["w"].values, found["a"].values
    if "b" in found:
        w = np.concatenate([w, found["b"].values[..., None]], axis=-1)
    a = a if a.ndim == 2 else np.linalg.norm(a, axis=-1)
    return np.asarray(w, float), np.asarray(a, float), np.asarray(found["time"], float)


def _padded(
    values: np.ndarray, neurons: int, nothing: int | float = math.nan
) -> np.ndarray:
    """(time, neuron, …), and `nothing` for neurons that a smaller network lacks."""
    more = [(0, 0), (0, neurons - values.shape[1]), *([(0, 0)] * (values.ndim - 2))]
    return np.pad(values, more, constant_values=nothing)


def _spread(size: int, most: int) -> np.ndarray:
    """At most so many of the places 0, …, size − 1, evenly, with both ends."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _seen(w: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Directions (time, neuron, 2), masses a‖w‖, and the share that the plane shows."""
    size = np.linalg.norm(w, axis=-1, keepdims=True)
    unit, masses = w / np.where(size > 0, size, 1.0), a * size[..., 0]
    inputs = w.shape[-1]
    if inputs == 1:
        return np.concatenate([unit, np.zeros_like(unit)], axis=-1), masses, 1.0
    if inputs == 2:
        return unit, masses, 1.0
    last = np.nan_to_num(w[-1] * np.abs(a[-1])[:, None])
    _, strengths, directions = np.linalg.svd(last, full_matrices=True)
    total = float(np.sum(strengths**2))
    share = float(np.sum(strengths[:2] ** 2)) / total if total > 0 else 0.0
    return unit @ directions[:2].T, masses, round(share, 4)
