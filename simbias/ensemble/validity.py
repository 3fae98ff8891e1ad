"""What an experiment, its samples and its measures must be, refused by name."""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import (
    AbstractFlow,
    AbstractMeasure,
    AbstractStop,
    Dataset,
    Experiment,
)

# Names the result uses for itself.
_RESERVED = ("status", "end_time", "seed", "time", "member")


def made(pair: Any) -> tuple[Dataset, Any]:
    """What `make` returned.

    Raises:
        ValueError: unless it is a sample and a network.
    """
    if isinstance(pair, tuple) and len(pair) == 2:
        data, network = pair
        if isinstance(data, Dataset) and callable(network):
            return data, network
    raise ValueError(
        "`make` must return (Dataset, network), got "
        f"{type(pair).__name__}. Example: return data, balanced(key, m=m, d=d)."
    )


def check_fit(network: Any, data: Any) -> None:
    """Refuse a network that cannot be trained on a sample.

    Raises:
        ValueError: for a leaf that is no array, an empty sample, or sizes of inputs or
            outputs that differ.
    """
    for name in ("x", "y", "weight", "mean"):
        if not hasattr(getattr(data, name), "shape"):
            raise ValueError(
                f"`data.{name}` must be an array, got {getattr(data, name)!r}."
            )
    if data.x.ndim != 2 or data.x.shape[0] == 0:
        raise ValueError(
            "`data.x` must have rows of coordinates, and one at least: the sample is "
            f"empty or flat, its shape {data.x.shape}."
        )
    n = data.x.shape[0]
    expected = {"y": (n, *data.y.shape[1:2]), "mean": data.y.shape, "weight": (n,)}
    for name, shape in expected.items():
        found = getattr(data, name).shape
        if found != shape or (name == "y" and len(found) != 2):
            raise ValueError(
                f"`data.{name}` has the shape {found}, beside {n} samples `data.x` and "
                f"`data.y` of shape {data.y.shape}. y and mean are (n, k), weight (n,)."
            )
    test = getattr(data, "test", None)
    if test is not None:
        for name in ("x", "y"):
            one, other = getattr(test, name).shape, getattr(data, name).shape
            if one[1:] != other[1:]:
                raise ValueError(
                    f"`data.test.{name}` has the shape {one}, beside `data.{name}` of "
                    f"shape {other}: all but the number of rows must agree."
                )
    x = jax.ShapeDtypeStruct(data.x.shape[1:], data.x.dtype)
    try:
        found = eqx.filter_eval_shape(network, x).shape
    except TypeError as error:
        raise ValueError(
            f"the network does not take inputs of {data.x.shape[1]} coordinates, as "
            f"`data.x` has: {str(error).splitlines()[0]}"
        ) from error
    if found != data.y.shape[1:]:
        raise ValueError(
            f"the network has outputs of shape {found}, and the targets `data.y` of "
            f"shape {data.y.shape[1:]}."
        )
    for path, leaf in jax.tree_util.tree_leaves_with_path(network):
        if not isinstance(leaf, (jax.Array, np.ndarray)):
            where = jax.tree_util.keystr(path)
            raise ValueError(
                f"the network holds {leaf!r} at `{where}`, which is no array. Example: "
                "eqx.field(static=True) for what is not trained, jnp.asarray(0.1) for "
                "what is."
            )


def check_measure(name: str, measure: Any, value: Any, coords: Mapping) -> None:
    """Refuse what a measure returns, or how it names its axes.

    Raises:
        ValueError: naming the measure.
    """
    if not isinstance(value, jax.ShapeDtypeStruct):
        raise ValueError(
            f"measure `{name}` returns a {type(value).__name__} and not an array. "
            "Example: return jnp.asarray(value)."
        )
    if jnp.issubdtype(value.dtype, jnp.complexfloating):
        raise ValueError(
            f"measure `{name}` is complex. Example: return jnp.abs(value)."
        )
    dims = tuple(measure.dims)
    if len(value.shape) != len(dims):
        raise ValueError(
            f"measure `{name}` names the axes {dims} but returns "
            f"an array of shape {value.shape}."
        )
    if len(set(dims)) < len(dims) or set(dims) & set(_RESERVED):
        raise ValueError(
            f"measure `{name}` names the axes {dims}: each may stand once, and none of "
            f"{', '.join(_RESERVED)}."
        )
    if strangers := set(coords) - set(dims):
        raise ValueError(
            f"measure `{name}` has coordinates of `{strangers.pop()}`, which is none "
            f"of its axes {dims}."
        )
    for dim, size in zip(dims, value.shape, strict=True):
        if dim in coords and coords[dim].shape != (size,):
            raise ValueError(
                f"measure `{name}` has {size} values along `{dim}` and coordinates of "
                f"shape {coords[dim].shape}."
            )


def check_axes(grid: Iterable[str], fields: Mapping[str, Any]) -> None:
    """Refuse measures that mean different things by an axis of one name.

    Args:
        grid: names of the axes of the grid.
        fields: name of a measure -> its `dims`, `shape` and `coords`, over all cells.

    Raises:
        ValueError: naming the measures and the axis.
    """
    taken = set(grid)
    sizes: dict[str, tuple[str, int]] = {}
    coords: dict[str, tuple[str, np.ndarray]] = {}
    for name, field in fields.items():
        if clash := taken & set(field.dims):
            raise ValueError(
                f"measure `{name}` names the axis `{clash.pop()}`, which is one of the "
                "grid; rename it."
            )
        for dim, size in zip(field.dims, field.shape, strict=True):
            other, theirs = sizes.setdefault(dim, (name, size))
            if theirs != size:
                raise ValueError(
                    f"measures `{other}` and `{name}` have {theirs} and {size} values "
                    f"along `{dim}`; rename the axis of one of them."
                )
        for dim, values in field.coords.items():
            other, theirs = coords.setdefault(dim, (name, values))
            if not np.array_equal(theirs, values):
                raise ValueError(
                    f"measures `{other}` and `{name}` have different coordinates along "
                    f"`{dim}`, {theirs[:4]} and {values[:4]}; rename the axis of one "
                    "of them."
                )


def _check_measures(field: str, measures: Any) -> None:
    is_one = lambda v: isinstance(v, AbstractMeasure)
    if not isinstance(measures, Mapping) or not all(map(is_one, measures.values())):
        raise ValueError(
            f"`{field}` must map names to measures, got {measures!r}. "
            f"Example: {field}={{'train_risk': TrainRisk()}}."
        )
    for name, measure in measures.items():
        _check_static(f"measure `{name}`", measure)


def _check_static(name: str, module: Any) -> None:
    """Refuse arrays in static fields: two of them cannot be compared, which JAX does.

    Raises:
        ValueError: naming the field.
    """
    for field in dataclasses.fields(module):
        value = getattr(module, field.name)
        is_static = field.metadata.get("static", False)
        if is_static and any(map(eqx.is_array, jax.tree.leaves(value))):
            raise ValueError(
                f"{name} holds an array in its static field `{field.name}`. Leave out "
                "static=True: an array is a field like any other."
            )
        if isinstance(value, eqx.Module) and not is_static:
            _check_static(name, value)


def check_resources(lanes: Any, devices: Any) -> None:
    """Refuse what a run cannot run on; None leaves the choice to the engine.

    Raises:
        ValueError: naming the argument.
    """
    is_count = isinstance(lanes, int) and not isinstance(lanes, bool) and lanes > 0
    if lanes is not None and not is_count:
        raise ValueError(
            f"`lanes` must be a positive integer, got {lanes!r}. Example: lanes=64."
        )
    if devices is None:
        return
    is_list = isinstance(devices, (list, tuple)) and len(devices) > 0
    if not is_list or not all(isinstance(d, jax.Device) for d in devices):
        raise ValueError(
            f"`devices` must be a list of devices, one at least, got {devices!r}. "
            "Example: devices=jax.devices()[:1]."
        )
    if len({d.platform for d in devices}) > 1:
        raise ValueError(
            f"`devices` must be of one kind, got {devices!r}: their bits differ."
        )


def check_experiment(experiment: Any) -> None:
    """Refuse fields of an experiment that are wrong whatever is drawn.

    Raises:
        ValueError: naming the field.
    """
    if not isinstance(experiment, Experiment):
        raise ValueError(
            f"`experiment` must be an Experiment, got {experiment!r}. "
            "Example: threshold.experiment()."
        )
    times = experiment.times
    seeds = experiment.seeds
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise ValueError(
            f"`seeds` must be a positive integer, got {experiment.seeds}. "
            "Example: seeds=20."
        )
    if not isinstance(times, tuple) or not all(
        isinstance(t, (int, float)) and not isinstance(t, bool) for t in times
    ):
        raise ValueError(f"`times` must be a tuple of numbers, got {times!r}.")
    if not times or not all(math.isfinite(t) and t >= 0 for t in times):
        raise ValueError(
            f"`times` must be finite, not negative and not empty, got {times}. "
            "Example: times=(0.0, 1.0, 10.0)."
        )
    if any(b <= a for a, b in zip(times, times[1:], strict=False)) or times[-1] <= 0:
        raise ValueError(
            f"`times` must increase and end after 0, got {times}. "
            "Example: times=(0.0, 1.0, 10.0)."
        )
    if experiment.dtype not in ("float32", "float64"):
        raise ValueError(
            f'`dtype` must be "float32" or "float64", got {experiment.dtype!r}.'
        )
    root = experiment.root
    if isinstance(root, bool) or not isinstance(root, int) or not 0 <= root < 2**32:
        raise ValueError(f"`root` must be from 0 to 2³² − 1, got {experiment.root}.")
    if not isinstance(experiment.cell, Mapping) or not all(
        isinstance(k, str) for k in experiment.cell
    ):
        raise ValueError(
            f"`cell` must map names to values, got {experiment.cell!r}. "
            "Example: cell={'n': (20, 50)}."
        )
    if not isinstance(experiment.flow, AbstractFlow):
        raise ValueError(
            f"`flow` must be a flow, got {experiment.flow!r}. Example: ReluFlow()."
        )
    for field in ("make", "loss"):
        value = getattr(experiment, field)
        if not callable(value):
            raise ValueError(f"`{field}` must be a function, got {value!r}.")
    if not isinstance(experiment.stop, AbstractStop | None):
        raise ValueError(f"`stop` must be a stop or None, got {experiment.stop!r}.")
    if experiment.stop is not None:
        _check_static("`stop`", experiment.stop)
    for field in ("measures", "final"):
        _check_measures(field, getattr(experiment, field))
    measures = {**experiment.measures, **experiment.final}
    taken = {*_RESERVED, *experiment.cell}
    taken |= {dim for measure in measures.values() for dim in measure.dims}
    for name in measures:
        if not name.isidentifier() or name in taken:
            raise ValueError(
                f"a measure cannot be called `{name}`: it must be a Python identifier "
                "and not the name of an axis or of a column of the members."
            )
    twice = set(experiment.measures) & set(experiment.final)
    if twice:
        raise ValueError(
            f"`final` and `measures` both hold `{sorted(twice)[0]}`; rename one."
        )
