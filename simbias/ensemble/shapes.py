"""What the members of a grid look like: shapes, found by tracing and not computing."""

import contextlib
import dataclasses
import functools
import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import AbstractFlow, Experiment
from simbias.ensemble.footprint import footprint_and_equations
from simbias.ensemble.grid import Cell, Grid
from simbias.ensemble.keys import member_key
from simbias.ensemble.lane import Lane, Recorder, record_dtype, start
from simbias.ensemble.measurement import check_stop, coords_of, dims_of, measured
from simbias.ensemble.members import draw, maker, member_flow
from simbias.ensemble.tracing import check_traced
from simbias.errors import BadInput
from simbias.validation.agreement import check_loss
from simbias.validation.factorisations import check_factorisations, check_program


@dataclasses.dataclass(frozen=True)
class Field:
    """One recorded array: its own axes, their sizes and coordinates, its dtype."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    coords: Mapping[str, np.ndarray]


class Shapes:
    """The shapes of a grid's cells.

    Each set of sizes is traced once, with every corner of the box of the numbers of
    `make` (a limit on one of them may hang on a size, or on another number), and each
    number once with some of them: a sweep costs no tracing of its own.  Measures are
    traced once for all members that look alike: tasks, laws and shared optimisers of
    one shape cost no more than one of them.  `lanes` describes a member of each shape
    without its values; `trajectories`, `final` and `networks` are what members of each
    look record.
    """

    def __init__(self, experiment: Experiment, grid: Grid, recorder: Recorder):
        self.lanes: dict[Hashable, Lane] = {}
        self.recordings: dict[Hashable, tuple[int, int]] = {}
        self.trajectories: list[dict[str, Field]] = []
        self.final: list[dict[str, Field]] = []
        self.networks: list[dict[str, Field]] = []
        self._experiment = experiment
        self._recorder = recorder
        self._by_sizes: dict[Hashable, Hashable] = {}
        self._by_looks: dict[Hashable, Hashable] = {}
        self._drawn: dict[Hashable, Any] = {}
        self._checked: set[Hashable] = set()
        self._tried: set[tuple[str, Any]] = set()
        self._corners: set[Hashable] = set()
        self._ends: dict[str, tuple[float, float]] = {}
        for name, value in (item for c in grid.cells for item in c.numbers.items()):
            low, high = self._ends.get(name, (value, value))
            self._ends[name] = min(low, value), max(high, value)
        self._flows: dict[Hashable, AbstractFlow] = {}

    def of(self, cell: Cell) -> Hashable:
        """The shape of a cell's members, a key of `lanes`.

        Raises:
            ValueError: for a flow, a sample, a network or a measure that is wrong.
        """
        experiment = self._experiment
        flow = self._flow(cell)
        shaping = [(k, v) for k, v in cell.flow.items() if not isinstance(v, float)]
        sizes = (*cell.sizes.items(), *shaping)
        values = {(k, v) for k, v in cell.numbers.items() if isinstance(v, float)}
        corner = (sizes, *cell.numbers.items())
        is_inside = any(v not in self._ends[k] for k, v in cell.numbers.items())
        is_tried = values <= self._tried and (is_inside or corner in self._corners)
        if sizes in self._by_sizes and is_tried:
            return self._by_sizes[sizes]
        key = member_key(experiment.root, cell, 0)
        drawn = lambda numbers: draw(maker(experiment), cell.sizes, numbers, key)
        # What is drawn does not hang on the flow.
        made = (*cell.sizes.items(), *cell.numbers.items())
        if made not in self._drawn:
            with _sizes_named(cell):
                like = eqx.filter_eval_shape(functools.partial(drawn, cell.numbers))
            self._drawn[made] = like
        data, network = self._drawn[made]
        self._tried |= values
        self._corners.add(corner)
        if sizes not in self._by_sizes:
            fixed = tuple(cell.sizes.items())
            if fixed not in self._checked:
                check_traced(experiment.name, drawn, cell.numbers, (data, network))
                arrays = {
                    k: jnp.asarray(np.asarray(v)) for k, v in cell.numbers.items()
                }
                check_factorisations("`make`", drawn, arrays)
                self._checked.add(fixed)
            looks = _looks((flow, data, network))
            if looks not in self._by_looks:
                self._by_looks[looks] = self._recorded(flow, data, network, key)
            self._by_sizes[sizes] = self._by_looks[looks]
        return self._by_sizes[sizes]

    def _recorded(
        self, flow: AbstractFlow, data: Any, network: Any, key: jax.Array
    ) -> Hashable:
        """What members that look like this record, and the shape of their lanes."""
        experiment = self._experiment
        check_loss(experiment.loss, data)
        asked = check_stop(experiment.stop, flow, network, data, experiment.loss)
        fields, taken = _fields(experiment.measures, network, data)
        final, last = _fields(experiment.final, network, data)
        begin = functools.partial(start, _shapes_of(self._recorder, taken))
        lane = eqx.filter_eval_shape(begin, flow, network, data, key)
        self.trajectories.append(fields)
        self.final.append(final | _history(lane))
        self.networks.append(_kept(lane))
        shape = _looks(lane)
        if shape not in self.lanes:
            self.lanes[shape] = lane
            size, count = footprint_and_equations([*taken.values(), *asked])
            at_end, _ = footprint_and_equations(last.values())
            self.recordings[shape] = max(size, at_end), count
        return shape

    def _flow(self, cell: Cell) -> AbstractFlow:
        fields = tuple(cell.flow.items())
        if fields not in self._flows:
            self._flows[fields] = member_flow(self._experiment, cell)
        return self._flows[fields]


def _looks(tree: Any) -> Hashable:
    """All of a tree but the values of its arrays."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, tuple((v.shape, str(v.dtype)) for v in leaves)


def cost(lane: Lane) -> float:
    """What one evaluation of a member's field costs, up to a factor."""
    is_float = lambda v: jnp.issubdtype(v.dtype, jnp.inexact)
    leaves = filter(is_float, jax.tree.leaves(lane.state.network))
    return float(lane.data.x.shape[0] * sum(math.prod(v.shape) for v in leaves))


def widest(fields: list[dict[str, Field]]) -> dict[str, Field]:
    """Fields large enough for every shape of the grid."""
    out: dict[str, Field] = {}
    for name, field in (item for some in fields for item in some.items()):
        shapes = [out.get(name, field).shape, field.shape]
        shape = tuple(max(sizes) for sizes in zip(*shapes, strict=True))
        out[name] = dataclasses.replace(out.get(name, field), shape=shape)
    return out


def _fields(
    measures: Mapping, network: Any, data: Any
) -> tuple[dict[str, Field], dict[str, Any]]:
    """What measures record, and their programs."""
    fields, programs = {}, {}
    for name, measure in measures.items():
        value, programs[name] = measured(name, measure, network, data)
        check_program(f"measure `{name}`", programs[name])
        dtype = record_dtype(np.dtype(value.dtype))
        dims = dims_of(name, measure, value.ndim)
        fields[name] = Field(dims, value.shape, dtype, coords_of(measure))
    return fields, programs


def _shapes_of(recorder: Recorder, programs: Mapping[str, Any]) -> Recorder:
    """One that records zeros, which are traced in no time."""
    zeros = {}
    for name, program in programs.items():
        (value,) = program.out_avals
        zeros[name] = lambda *_, value=value: jnp.zeros(value.shape, value.dtype)
    return dataclasses.replace(recorder, measures=zeros, stop=None)


def _history(lane: Lane) -> dict[str, Field]:
    """What the flow writes down itself."""
    history = eqx.filter_eval_shape(lambda lane: lane.flow.history(lane.state), lane)
    return {
        name: Field(("event",), v.shape, np.dtype(v.dtype), {})
        for name, v in history.items()
    }


def _kept(lane: Lane) -> dict[str, Field]:
    """The arrays of the networks that are kept, each with axes of its own."""
    fields = {}
    for name, leaf in lane.kept.items():
        own = (f"network.{name}.{i}" for i in range(len(leaf.shape) - 1))
        fields[name] = Field(("kept", *own), leaf.shape, np.dtype(leaf.dtype), {})
    return fields


@contextlib.contextmanager
def _sizes_named(cell: Cell) -> Iterator[None]:
    """An error of JAX in `make` says which size is none, if one is.

    Raises:
        ValueError: naming the argument.
    """
    try:
        yield
    except BadInput:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        for name, value in cell.arguments.items():
            if type(value) is int and value < 1:
                why = (str(error).strip() or repr(error)).splitlines()[0]
                raise BadInput(
                    f"`cell.{name}` is {value}, and `make` fails: {why} "
                    f"Example: {name}=100."
                ) from error
        raise
