"""Lists, ranges and arrays of an experiment, as tuples of Python's numbers."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from simbias.core import Experiment


def with_tuples(experiment: Experiment) -> Experiment:
    """The same experiment, whose axes and times are tuples.

    What is no sequence of numbers stays as it is, to be refused by name.
    """
    if not isinstance(experiment, Experiment):
        return experiment
    cell = experiment.cell
    if isinstance(cell, Mapping):
        cell = {key: _plain(value) for key, value in cell.items()}
    return dataclasses.replace(
        experiment,
        cell=cell,
        seeds=_plain(experiment.seeds),
        times=_times(experiment.times),
        keep=_times(experiment.keep),
        shared=_plain(experiment.shared),
        root=_plain(experiment.root),
        pad_to=_plain(experiment.pad_to),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray | jax.Array) and value.ndim < 2:
        found = np.asarray(value).tolist()
        return tuple(found) if isinstance(found, list) else found
    if isinstance(value, tuple | list | range):
        return tuple(v.item() if isinstance(v, np.generic) else v for v in value)
    return value


def _times(value: Any) -> Any:
    found = _plain(value)
    is_number = lambda v: isinstance(v, int | float) and not isinstance(v, bool)
    if isinstance(found, tuple) and all(map(is_number, found)):
        return tuple(map(_number, found))
    return value


def _number(value: float | int) -> float:
    """As a float; an integer that no float holds is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
