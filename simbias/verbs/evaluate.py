"""A function of kept networks, for all members of a result."""

import itertools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from simbias.core import Dataset, Experiment
from simbias.ensemble.footprint import footprint
from simbias.ensemble.grid import Cell
from simbias.ensemble.lane import record_dtype
from simbias.ensemble.leaves import named_leaves, with_leaves
from simbias.ensemble.measurement import check_value, coords_of, dims_of, tried
from simbias.ensemble.members import draw, maker
from simbias.ensemble.programs import drawer
from simbias.errors import BadInput
from simbias.introspection.array_network import original_network
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import as_result
from simbias.validation.targets import refuse
from simbias.verbs._write_back import check_axes, writable, write
from simbias.verbs.initial import one_of
from simbias.verbs.kept_networks import arrays_of, check_shapes, is_whole
from simbias.verbs.origin import drawn_cell, origin, values_of

# Networks that are looked at in one program: so many bytes of them, and so many.
_BYTES, _MOST = 128 << 20, 1024

Function = Callable[..., Any]


def evaluate(
    function: Function,
    ds: xr.Dataset | str | os.PathLike,
    experiment: Experiment | None = None,
    *,
    time: float | Sequence[float] | None = None,
    other_time: float | Sequence[float] | None = None,
    other_seed: int | Sequence[int] | None = None,
    save: str | None = None,
) -> xr.DataArray:
    """A function of one kept network, or of two, of every member.

        rank = simbias.evaluate(lambda network, data: …, ds)
        moved = simbias.evaluate(distance, ds, other_time=0.0)
        overlap = simbias.evaluate(similarity, ds, other_seed=range(20))
        simbias.evaluate(sharpness, "runs/threshold-quick", save="sharpness")

    It is compiled once per shape and computed on the default device, as many networks
    at a time as fit.  Samples are those of the run, with their padding of weight 0, as
    a measure sees them: a measure that is evaluated gives what it gave in the run.

    Args:
        function: of (network, data), as a measure is, to an array; with `other_time` or
            `other_seed` of (network, data, other network, other data).
        ds: a result, or a part of one, or the folder or URL of a run.
        experiment: the one that was run; None for one of `simbias.experiments`.
        time: of the networks, one or several of `ds["kept"]`; all of them if None.
        other_time: of the other networks: one, or several that make an axis
            `other_time`; that of the first network if None.
        other_seed: of the other networks, in the same cell: one, or several that make
            an axis `other_seed`; that of the first if None.
        save: name under which the outcome is kept in the stored run: `open_result`
            then has it as a variable.

    Returns:
        Over the axes of the grid, `seed`, `kept` (unless `time` is one number), those
        of the others, and the function's own (`dims` of a measure).  NaN where a
        network was not reached.

    Raises:
        ValueError: for a result without kept networks, a time or a seed that it does
            not hold, another experiment, a function that returns no array, or a part
            of a result that is to be saved.
    """
    ds = as_result(ds)
    store = None if save is None else writable(ds, save)
    experiment = origin(ds, experiment)
    name = getattr(function, "__name__", type(function).__name__)
    name = name if name.isidentifier() else "value"
    arrays = arrays_of(ds)
    kept, seeds = (np.atleast_1d(ds[name].values).tolist() for name in ("kept", "seed"))
    picked = {
        "seed": seeds,
        "kept": _picked("time", time, kept, kept),
        "other_seed": _picked("other_seed", other_seed, seeds, [None]),
        "other_time": _picked("other_time", other_time, kept, [None]),
    }
    known = values_of(ds)
    axes = {key: values for key, values in known.items() if key in ds.dims}
    if empty := [key for key, values in (axes | picked).items() if not values]:
        raise BadInput(
            f"`{empty[0]}` is empty: it must select at least one network of the result."
        )
    others = ("other_seed", "other_time")
    chosen = {key: picked[key] for key in others if picked[key] != [None]}
    if save is not None:
        check_axes(ds, store, save, chosen)
    look = _Looking(name, function, experiment, bool(chosen))
    fixed = {key: values[0] for key, values in known.items()}
    parts = {}
    with exact_numerics():
        for place in np.ndindex(*map(len, axes.values())):
            index = dict(zip(axes, place, strict=True))
            cell = fixed | {key: axes[key][i] for key, i in index.items()}
            stacked = {k: _stacked(array.isel(index)) for k, array in arrays.items()}
            drawn = drawn_cell(experiment, cell)
            parts[place] = look.at(drawn, stacked, seeds, kept, picked)
    values = _joined(parts, [len(v) for v in axes.values()])
    own = dims_of(name, function, values.ndim - len(axes) - len(picked))
    dims = [*axes, *picked, *own]
    found = xr.DataArray(values, axes | picked | coords_of(function), dims, name)
    gone = [k for k in others if k not in chosen]
    found = found.isel(dict.fromkeys(gone, 0), drop=True)
    asked = {"other_seed": other_seed, "other_time": other_time, "kept": time}
    single = [k for k, v in asked.items() if v is not None and np.ndim(v) == 0]
    single += [k for k in ("seed", "kept") if k not in ds.dims and k not in single]
    found = found.isel(dict.fromkeys(single, 0))
    scalars = {k: v for k, v in ds.coords.items() if not v.dims and k not in found.dims}
    found = found.assign_coords({**scalars, **found.coords})
    if save is not None:
        check_axes(ds, store, save, {k: found[k].values.tolist() for k in own})
        held = {k: v[0] for k, v in known.items() if k not in axes and k in ds.coords}
        write(store, save, found, held)
    return found


def _joined(parts: dict[tuple[int, ...], np.ndarray], shape: list[int]) -> np.ndarray:
    """The outcomes of all cells; what one does not fill is NaN."""
    sizes = zip(*(part.shape for part in parts.values()), strict=True)
    dtype = np.result_type(*(part.dtype for part in parts.values()))
    out = np.full([*shape, *map(max, sizes)], np.nan, dtype)
    for place, part in parts.items():
        out[(*place, *map(slice, part.shape))] = part
    return out


def _picked(name: str, asked: Any, known: list, default: list) -> list:
    if asked is None:
        return default
    return [one_of(name, known, value) for value in np.atleast_1d(asked).tolist()]


def _stacked(array: xr.DataArray) -> np.ndarray:
    """(seed, kept, …), also where the result has one of them only."""
    for name in ("kept", "seed"):
        if name not in array.dims:
            array = array.expand_dims(name)
    return array.transpose("seed", "kept", ...).values


class _Looking:
    """A function, compiled once for every shape, and the program that draws."""

    def __init__(
        self, name: str, function: Function, experiment: Experiment, is_pair: bool
    ):
        self._name = name
        self._function = function
        self._experiment = experiment
        self._is_pair = is_pair
        self._drawn = drawer()
        self._program = eqx.filter_jit(_all)

    def at(
        self,
        cell: Cell,
        arrays: dict[str, np.ndarray],
        seeds: list[int],
        kept: list[float],
        picked: dict[str, list],
    ) -> np.ndarray:
        """The outcomes of a cell, over (seed, kept, other seed, other time, …)."""
        experiment = self._experiment
        drawn = lambda: draw(
            maker(experiment), cell.sizes, cell.numbers, jax.random.key(0)
        )
        data, like = eqx.filter_eval_shape(drawn)
        shapes = {name: leaf.shape for name, leaf in named_leaves(like).items()}
        check_shapes(shapes, {name: v.shape[2:] for name, v in arrays.items()})
        leaves = {
            name: arrays[name][(..., *map(slice, shape))]
            for name, shape in shapes.items()
        }
        two = (original_network(like), data) * (2 if self._is_pair else 1)
        value, _ = tried(f"`{self._name}`", self._function, *two)
        check_value(self._name, self._function, value)
        dtype = record_dtype(np.dtype(value.dtype))
        shape = [len(v) for v in picked.values()]
        room = min(self._places(two, value), math.prod(shape))
        out = np.full([math.prod(shape), *value.shape], np.nan, dtype)
        for first, jobs in _jobs(picked, seeds, kept, room):
            one, other = jobs[:, :2], jobs[:, 2:]
            sides = [one, other] if self._is_pair else [one]
            filled = [np.resize(side, (room, 2)) for side in sides]
            pick = lambda side: {k: v[tuple(side.T)] for k, v in leaves.items()}
            networks = [pick(side) for side in filled]
            samples = [self._samples(cell, seeds, side[:, 0]) for side in filled]
            found = self._program(self._function, like, networks, samples)
            whole = [is_whole(some)[: len(jobs)] for some in networks]
            found = np.asarray(found)[: len(jobs)].astype(dtype)
            found[~np.logical_and.reduce(whole)] = np.nan
            out[first : first + len(jobs)] = found
        return out.reshape(*shape, *value.shape)

    def _samples(self, cell: Cell, seeds: list[int], which: np.ndarray) -> Dataset:
        unique, places = np.unique(which, return_inverse=True)
        room = min(len(which), len(seeds))
        wanted = [seeds[i] for i in unique]
        drawn = self._drawn(self._experiment, cell, wanted, room)
        found, reader = (
            jax.device_get(drawn.faults),
            (f"`{self._name}`", self._function),
        )
        for i in range(len(wanted)):
            of_one = jax.tree.map(lambda v: v[i], found)  # noqa: B023
            refuse(self._experiment.loss, [reader], of_one)
        return jax.tree.map(lambda v: v[places], drawn.data)

    def _places(self, arguments: Sequence[Any], value: jax.ShapeDtypeStruct) -> int:
        """Networks that are looked at together; all programs of a cell have as many."""
        leaves = [v for v in jax.tree.leaves((arguments, value)) if hasattr(v, "shape")]
        size = sum(math.prod(v.shape) * v.dtype.itemsize for v in leaves)
        if jax.default_backend() != "cpu":  # which takes one after another
            arrays, rest = eqx.partition(arguments, lambda v: hasattr(v, "shape"))
            given = lambda arrays: self._function(*eqx.combine(arrays, rest))
            size += 8 * footprint(given, arrays)
        return max(1, min(_MOST, _BYTES // max(size, 1)))


def _jobs(
    picked: dict[str, list], seeds: list[int], kept: list[float], room: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Places of (seed, time, other seed, other time) in pieces, and their firsts."""
    places = []
    for seed, time, other_seed, other_time in itertools.product(*picked.values()):
        s, t = seeds.index(seed), kept.index(time)
        u = s if other_seed is None else seeds.index(other_seed)
        v = t if other_time is None else kept.index(other_time)
        places.append((s, t, u, v))
    for first in range(0, len(places), room):
        yield first, np.asarray(places[first : first + room])


def _all(function: Function, like: Any, networks: list, samples: list) -> jax.Array:
    """The function of every network, or pair: in turn on a CPU, else side by side."""

    def one(inputs):
        networks, samples = inputs
        arguments = [
            part
            for leaves, data in zip(networks, samples, strict=True)
            for part in (with_leaves(like, leaves), data)
        ]
        return jnp.asarray(function(*arguments))

    inputs = (networks, samples)
    if jax.default_backend() == "cpu":
        return jax.lax.map(one, inputs)
    return jax.vmap(one)(inputs)
