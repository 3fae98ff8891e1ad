"""The neurons of one member of a result, over time."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
import xarray as xr

from simbias.core import CellValue, Experiment
from simbias.ensemble.engine import exact_numerics
from simbias.ensemble.leaves import named_leaves
from simbias.ensemble.members import draw
from simbias.errors import BadInput
from simbias.measures.neurons.neuron_weights import NeuronWeights
from simbias.verbs._kept import arrays_of, check_shapes, one_of_each
from simbias.verbs._origin import drawn_cell, origin, values_of
from simbias.verbs.redraw import one_cell, one_of


def neuron_history(
    ds: xr.Dataset,
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
        ds: a result, or a part of one.
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
    experiment = origin(ds, experiment)
    cell = one_cell(values_of(ds), where)
    seed = one_of("seed", np.atleast_1d(ds["seed"].values).tolist(), seed)
    place = {**cell, "seed": seed}
    shapes = _shapes(experiment, cell)
    layer = _layer(shapes)
    recorded = _recorded(ds)
    if recorded is not None:
        times = np.atleast_1d(ds["time"].values)
        found = layer.cut(_over_time(ds[recorded], place, "time"), shapes)
    elif "kept" in ds.coords:
        arrays = arrays_of(ds)
        times = np.atleast_1d(ds["kept"].values)
        whole = {k: _over_time(v, place, "kept") for k, v in arrays.items()}
        check_shapes(shapes, {k: v.shape[1:] for k, v in whole.items()})
        found = layer.named(
            {k: v[(..., *map(slice, shapes[k]))] for k, v in whole.items()}
        )
    else:
        raise BadInput(
            "the result holds no neurons along time: record them, with "
            'measures={"neuron_weights": NeuronWeights()}, or keep whole networks, '
            "with keep=(0.0, 1.0, 10.0) among times= (--keep 0 1 10)."
        )
    scalars = {name: value for name, value in place.items() if np.ndim(value) == 0}
    coords = {name: value for name, value in scalars.items() if value is not None}
    return xr.Dataset(found, {"time": times, **coords})


class _Layer(NamedTuple):
    """Names of the arrays of a network with one hidden layer; `is_turned` for aᵀ."""

    w: str
    b: str
    a: str
    is_turned: bool

    def named(self, arrays: Mapping[str, np.ndarray]) -> dict[str, tuple]:
        """The variables of a result from arrays over time."""
        a = arrays[self.a]
        a = np.moveaxis(a, -1, -2) if self.is_turned else a
        is_single = a.shape[-1] == 1
        out = {
            "w": (("time", "neuron", "input"), arrays[self.w]),
            "a": (
                ("time", "neuron") if is_single else ("time", "neuron", "output"),
                a[..., 0] if is_single else a,
            ),
        }
        if self.b in arrays:
            out["b"] = (("time", "neuron"), arrays[self.b])
        return out

    def cut(
        self, rows: np.ndarray, shapes: Mapping[str, tuple[int, ...]]
    ) -> dict[str, tuple]:
        """The variables from rows (wⱼ, bⱼ, aⱼ) over time, as `NeuronWeights` has."""
        m, d = shapes[self.w]
        k, e = shapes[self.a][1], d + (self.b in shapes)
        arrays = {self.w: rows[:, :m, :d], self.a: rows[:, :m, e : e + k]}
        if e > d:
            arrays[self.b] = rows[:, :m, d]
        return self.named(arrays)


_LAYERS = (
    _Layer("w", "b", "a", is_turned=False),
    _Layer("weights.0", "biases.0", "weights.1", is_turned=True),
    _Layer("layers.0.weight", "layers.0.bias", "layers.1.weight", is_turned=True),
)


def _layer(shapes: Mapping[str, tuple[int, ...]]) -> _Layer:
    for layer in _LAYERS:
        is_there = layer.w in shapes and layer.a in shapes
        is_deeper = layer.is_turned and layer.a.replace("1", "2") in shapes
        if is_there and not is_deeper and len(shapes[layer.w]) == 2:
            return layer
    raise BadInput(
        "neurons are those of a network with one hidden layer, and this run has one "
        f"with the arrays {', '.join(shapes)}."
    )


def _recorded(ds: xr.Dataset) -> str | None:
    """The variable of `NeuronWeights` along time, if there is one."""
    measures = json.loads(ds.attrs["configuration"])["measures"]
    for name, measure in measures.items():
        is_it = isinstance(measure, dict) and measure["type"] == NeuronWeights.__name__
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
    drawn = drawn_cell(experiment.make, cell)

    def made() -> Any:
        key = jax.random.key(0)
        dtype, make = experiment.dtype, experiment.make
        return draw(make, dtype, drawn.sizes, drawn.numbers, key)[1]

    with exact_numerics():
        network = eqx.filter_eval_shape(made)
    return {name: leaf.shape for name, leaf in named_leaves(network).items()}
