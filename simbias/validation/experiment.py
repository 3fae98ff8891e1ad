"""What an experiment and its measures must be, refused by name."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from simbias.core import (
    AbstractFlow,
    AbstractStop,
    Experiment,
)
from simbias.errors import BadInput
from simbias.validation.values import is_finite, short

# Names the result uses for itself.
RESERVED = ("status", "end_time", "seed", "time", "kept", "member")


def check_names(arguments: Iterable[str], fields: Mapping[str, Any]) -> None:
    """Refuse names that would mean two things in the result.

    Args:
        arguments: of `make`, and of the flow where it varies.
        fields: name of a measure -> its `dims`, `shape` and `coords`, over all cells.

    Raises:
        ValueError: naming the argument, or the measures and their axis.
    """
    taken = set(arguments)
    if clash := taken & set(RESERVED):
        raise BadInput(
            f"`make` has an argument `{clash.pop()}`, a name that results use for "
            f"their own axes and columns ({', '.join(RESERVED)}). Rename it."
        )
    sizes: dict[str, tuple[str, int]] = {}
    coords: dict[str, tuple[str, np.ndarray]] = {}
    for name, field in fields.items():
        if name in taken:
            raise BadInput(
                f"a measure cannot be called `{name}`, which is an argument of `make`. "
                "Rename it."
            )
        if clash := taken & set(field.dims):
            raise BadInput(
                f"measure `{name}` names the axis `{clash.pop()}`, which is an "
                "argument of `make`. Rename it."
            )
        for dim, size in zip(field.dims, field.shape, strict=True):
            other, theirs = sizes.setdefault(dim, (name, size))
            if theirs != size:
                raise BadInput(
                    f"measures `{other}` and `{name}` have {theirs} and {size} values "
                    f"along `{dim}`. Rename the axis of one of them."
                )
        for dim, values in field.coords.items():
            other, theirs = coords.setdefault(dim, (name, values))
            if not np.array_equal(theirs, values):
                raise BadInput(
                    f"measures `{other}` and `{name}` have different coordinates along "
                    f"`{dim}`, {theirs[:4]} and {values[:4]}. Rename the axis of one "
                    "of them."
                )


def check_measures(field: str, measures: Any) -> None:
    """Refuse what is no mapping of names to measures, and arrays in static fields.

    Raises:
        ValueError: naming the field.
    """
    is_one = lambda v: callable(v) and not isinstance(v, type)
    if not isinstance(measures, Mapping) or not all(map(is_one, measures.values())):
        raise BadInput(
            f"`{field}` must map names to measures, got {measures!r}. Example: "
            f"{field}={{'train_risk': TrainRisk()}}, or a function (network, data)."
        )
    for name, measure in measures.items():
        if isinstance(measure, eqx.Module):
            check_static(f"measure `{name}`", measure)


def check_resources(lanes: Any, devices: Any) -> None:
    """Refuse what a run cannot run on; None leaves the choice to the engine.

    Raises:
        ValueError: naming the argument.
    """
    is_count = isinstance(lanes, int) and not isinstance(lanes, bool) and lanes > 0
    if lanes is not None and not is_count:
        raise BadInput(
            f"`lanes` must be a positive integer, got {lanes!r}. Example: lanes=64."
        )
    if devices is None:
        return
    is_list = isinstance(devices, (list, tuple)) and len(devices) > 0
    if not is_list or not all(isinstance(d, jax.Device) for d in devices):
        raise BadInput(
            f"`devices` must be a list of at least one device, got {devices!r}. "
            "Example: devices=jax.devices()[:1]."
        )
    if len({d.platform for d in devices}) > 1:
        raise BadInput(
            f"`devices` must be of one kind, got {devices!r}: results of different "
            "kinds differ in the last bits."
        )


def check_experiment(experiment: Any) -> None:
    """Refuse fields of an experiment that are wrong whatever is drawn.

    Raises:
        ValueError: naming the field.
    """
    if not isinstance(experiment, Experiment):
        raise BadInput(
            f"`experiment` must be an Experiment, got {experiment!r}. "
            "Example: threshold.experiment()."
        )
    if not isinstance(experiment.name, str) or not experiment.name:
        raise BadInput(
            f"`name` must be a word, got {experiment.name!r}. Example: name='mine'."
        )
    name = experiment.name
    if {"/", "\\"} & {*name} or name in (".", "..") or not name.isprintable():
        raise BadInput(
            "`name` must be a word without slashes and control characters, because "
            f"files are named after it, got {name!r}. Example: name='mine'."
        )
    times = experiment.times
    seeds = experiment.seeds
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise BadInput(
            f"`seeds` must be a positive integer, got {seeds!r}. Example: seeds=20."
        )
    if not is_finite(seeds):
        raise BadInput(
            f"`seeds` must be a number of seeds, got {short(seeds)}. Example: seeds=20."
        )
    if not isinstance(times, tuple) or not all(
        isinstance(t, (int, float)) and not isinstance(t, bool) for t in times
    ):
        raise BadInput(
            f"`times` must be a tuple of numbers, got {times!r}. "
            "Example: times=(0.0, 1.0, 10.0)."
        )
    if not times or not all(is_finite(t) and t >= 0 for t in times):
        raise BadInput(
            f"`times` must be finite, 0 or more, and not empty, got {times!r:.200}. "
            "Example: times=(0.0, 1.0, 10.0)."
        )
    if any(b <= a for a, b in zip(times, times[1:], strict=False)):
        raise BadInput(
            f"`times` must increase, got {times}. Example: times=(0.0, 1.0, 10.0)."
        )
    keep = experiment.keep
    if not isinstance(keep, tuple) or any(time not in times for time in keep):
        raise BadInput(
            f"`keep` must be a tuple of some of the `times`, {times}, got {keep}. "
            f"Example: keep={times[-1:]}."
        )
    if any(b <= a for a, b in zip(keep, keep[1:], strict=False)):
        raise BadInput(f"`keep` must increase, got {keep}.")
    if experiment.dtype not in ("float32", "float64"):
        raise BadInput(
            f'`dtype` must be "float32" or "float64", got {experiment.dtype!r}.'
        )
    root = experiment.root
    if isinstance(root, bool) or not isinstance(root, int) or not 0 <= root < 2**32:
        raise BadInput(
            f"`root` must be an integer from 0 to 2³² − 1, got {experiment.root}."
        )
    least = experiment.pad_to
    if isinstance(least, bool) or not isinstance(least, int) or least < 0:
        raise BadInput(f"`pad_to` must be an integer, 0 or more, got {least!r}.")
    if not isinstance(experiment.cell, Mapping) or not all(
        isinstance(k, str) for k in experiment.cell
    ):
        raise BadInput(
            f"`cell` must map names to values, got {experiment.cell!r}. "
            "Example: cell={'n': (20, 50)}."
        )
    if not isinstance(experiment.flow, AbstractFlow):
        raise BadInput(
            f"`flow` must be a flow, got {experiment.flow!r}. Example: ReluFlow()."
        )
    for field in ("make", "loss"):
        value = getattr(experiment, field)
        if not callable(value):
            raise BadInput(f"`{field}` must be a function, got {value!r}.")
    if not isinstance(experiment.stop, AbstractStop | None):
        raise BadInput(
            f"`stop` must be a stop or None, got {experiment.stop!r}. Example: "
            "TrainAccuracyAbove(0.99)."
        )
    if experiment.stop is not None:
        check_static("`stop`", experiment.stop)
    for field in ("measures", "final"):
        check_measures(field, getattr(experiment, field))
    measures = {**experiment.measures, **experiment.final}
    taken = {*RESERVED, *experiment.cell}
    taken |= {d for v in measures.values() for d in getattr(v, "dims", ())}
    for name in measures:
        if not name.isidentifier() or name in taken:
            raise BadInput(
                f"a measure cannot be called `{name}`: its name must be a Python "
                "identifier, and not that of an axis or column of results."
            )
    twice = set(experiment.measures) & set(experiment.final)
    if twice:
        raise BadInput(
            f"`final` and `measures` both have `{sorted(twice)[0]}`. Rename one."
        )


def check_static(name: str, module: Any, example: str = "") -> None:
    """Refuse arrays in static fields: two of them cannot be compared, which JAX does.

    Args:
        name: of the module, in a message.
        module: with the modules that it holds.
        example: what to do in place of that.

    Raises:
        ValueError: naming the field.
    """
    is_array = lambda v: isinstance(v, (jax.Array, np.ndarray))
    is_module = lambda v: isinstance(v, eqx.Module)
    for field in dataclasses.fields(module):
        value = getattr(module, field.name)
        leaves = jax.tree.leaves(value, is_leaf=is_module)
        if not field.metadata.get("static", False):
            for inner in filter(is_module, leaves):
                check_static(name, inner, example)
        elif any(map(is_array, leaves)):
            example = example or "Leave out static=True."
            raise BadInput(
                f"{name} holds an array in the static field `{field.name}` of a "
                f"{type(module).__name__}, and JAX cannot compare arrays. {example}"
            )
