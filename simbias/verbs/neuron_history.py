"""The neurons of one member of a result, over time."""

import json
import os
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np
import xarray as xr

from simbias.core import AbstractMeasure, CellValue, Experiment
from simbias.ensemble.leaves import named_leaves
from simbias.ensemble.members import draw, maker
from simbias.errors import BadInput
from simbias.introspection.hidden_layer import Neurons, hidden_layer
from simbias.measures.neurons.neuron_weights import NeuronWeights
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import as_result
from simbias.verbs.initial import one_cell, one_of
from simbias.verbs.kept_networks import arrays_of, check_shapes, one_of_each
from simbias.verbs.origin import drawn_cell, origin, values_of


def neuron_history(
    ds: xr.Dataset | str | os.PathLike,
    experiment: Experiment | None = None,
    *,
    seed: int = 0,
    **where: CellValue,
) -> xr.Dataset:
    """Weights of every neuron of one member, at every time that has them.

        neurons = simbias.neuron_history(ds, scale=1e-4, seed=3)
        angle = np.arctan2(neurons["w"][..., 1], neurons["w"][..., 0])

    f(x) = Σⱼ aⱼ φ(wⱼ·x + bⱼ), of a two-layer network or of another one with a single
    hidden layer, as `mlp` or `eqx.nn.MLP`.  They are those of the measure
    `NeuronWeights` if the run recorded it along `time`, else those of the networks that
    were kept.  Nothing is computed.

    Args:
        ds: a result, a part of one, or the folder or URL of a run.
        experiment: the one that was run; None for one of `simbias.experiments`.
        seed: of the member.
        where: the value on every axis of the grid; those that have one value may be
            left out.

    Returns:
        `w` (time, neuron, input), `a` (time, neuron), or (time, neuron, output) if
        there are several outputs, and `b` (time, neuron) where neurons have a bias; NaN
        after a failure.  No more neurons than the member has.

    Raises:
        ValueError: for networks of another kind, a result that has neither, a member
            that it does not hold, or another experiment.
    """
    ds = as_result(ds)
    experiment = origin(ds, experiment)
    cell = one_cell(values_of(ds), where)
    seed = one_of("seed", np.atleast_1d(ds["seed"].values).tolist(), seed)
    place = {**cell, "seed": seed}
    shapes = _shapes(experiment, cell)
    layer = hidden_layer(shapes)
    recorded = variable_of(ds, NeuronWeights)
    if recorded is not None:
        times = np.atleast_1d(ds["time"].values)
        like = layer.neurons({k: np.empty(shape) for k, shape in shapes.items()})
        found = _cut(_over_time(ds[recorded], place, "time"), like)
    elif "kept" in ds.coords:
        arrays = arrays_of(ds)
        times = np.atleast_1d(ds["kept"].values)
        whole = {k: _over_time(v, place, "kept") for k, v in arrays.items()}
        check_shapes(shapes, {k: v.shape[1:] for k, v in whole.items()})
        found = layer.neurons(
            {k: v[(..., *map(slice, shapes[k]))] for k, v in whole.items()}
        )
    else:
        raise BadInput(
            "the result has no neurons over time. Record them with "
            'measures={"neuron_weights": NeuronWeights()}, or store whole networks '
            "with keep=(0.0, 1.0, 10.0), some of the times (--keep 0 1 10)."
        )
    scalars = {name: value for name, value in place.items() if np.ndim(value) == 0}
    coords = {name: value for name, value in scalars.items() if value is not None}
    return xr.Dataset(_variables(found), {"time": times, **coords})


def _variables(neurons: Neurons) -> dict[str, tuple]:
    w, b, a = neurons
    out: dict[str, tuple] = {"w": (("time", "neuron", "input"), w)}
    if a.shape[-1] == 1:
        out["a"] = (("time", "neuron"), a[..., 0])
    else:
        out["a"] = (("time", "neuron", "output"), a)
    if b is not None:
        out["b"] = (("time", "neuron"), b)
    return out


def _cut(rows: np.ndarray, like: Neurons) -> Neurons:
    """The neurons of rows (wⱼ, bⱼ, aⱼ) over time, as `NeuronWeights` has them."""
    w, b, a = like
    rows, d = rows[:, : len(w)], w.shape[1]
    e = d if b is None else d + 1
    return (
        rows[:, :, :d],
        None if b is None else rows[:, :, d],
        rows[:, :, e : e + a.shape[1]],
    )


def variable_of(ds: xr.Dataset, kind: type[AbstractMeasure]) -> str | None:
    """The variable of a measure along time, if the run has one."""
    measures = json.loads(ds.attrs["configuration"])["measures"]
    for name, measure in measures.items():
        is_it = isinstance(measure, dict) and measure["type"] == kind.__name__
        if is_it and name in ds:
            return name
    return None


def _over_time(array: xr.DataArray, place: Mapping[str, Any], time: str) -> np.ndarray:
    """One member's values, time first, also where one time was selected."""
    if time not in array.dims:
        array = array.expand_dims(time)
    values = one_of_each(array, place)
    dims = [dim for dim in array.dims if dim not in place]
    return np.moveaxis(values, dims.index(time), 0)


def _shapes(
    experiment: Experiment, cell: Mapping[str, CellValue]
) -> dict[str, tuple[int, ...]]:
    """Shape of every array of the member's network, without drawing it."""
    drawn = drawn_cell(experiment, cell)

    def made() -> Any:
        key = jax.random.key(0)
        return draw(maker(experiment), drawn.sizes, drawn.numbers, key)[1]

    with exact_numerics():
        network = eqx.filter_eval_shape(made)
    return {name: leaf.shape for name, leaf in named_leaves(network).items()}
