"""What a run will do, settled before it starts: members, shapes, sizes in memory."""

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import AbstractNetwork, Dataset, Experiment, Make
from simbias.ensemble.grid import Cell, Grid, bucket, make_grid, member_key, padded
from simbias.ensemble.lane import Lane, Recorder, start

# Names the result uses for itself.
_RESERVED = ("status", "end_time", "seed", "time", "member")


@dataclasses.dataclass(frozen=True)
class Field:
    """One recorded array: its own axes, their sizes and coordinates, its dtype."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    coords: Mapping[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Group:
    """Members of one shape, which share one compiled program.

    `spans` hold their numbers in the run, `lane` describes one without its values, and
    `cost` is what one evaluation of the field costs, up to a factor.
    """

    spans: tuple[range, ...]
    lane: Lane
    cost: float

    @property
    def size(self) -> int:
        """Number of members."""
        return sum(map(len, self.spans))

    @property
    def members(self) -> Iterator[int]:
        """Numbers of the members."""
        return itertools.chain.from_iterable(self.spans)


@dataclasses.dataclass(frozen=True)
class Plan:
    """Members of a run are numbered cell by cell, the seed varying fastest."""

    experiment: Experiment
    grid: Grid
    recorder: Recorder
    groups: tuple[Group, ...]
    trajectories: Mapping[str, Field]
    final: Mapping[str, Field]
    stats: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.grid.cells) * self.experiment.seeds

    def cell(self, member: int) -> Cell:
        """Cell of a member."""
        return self.grid.cells[member // self.experiment.seeds]

    def seed(self, member: int) -> int:
        """Seed of a member."""
        return member % self.experiment.seeds

    def coordinates(self) -> dict[str, np.ndarray]:
        """Value of every grid axis, and the seed, for each member."""
        repeat = self.experiment.seeds
        columns = {
            axis: np.repeat([_value(c, axis) for c in self.grid.cells], repeat)
            for axis in self.grid.axes
        }
        return columns | {"seed": np.tile(np.arange(repeat), len(self.grid.cells))}


def make_plan(experiment: Experiment) -> Plan:
    """Check an experiment and settle its shapes, without computing anything.

    Raises:
        ValueError: naming the field that is wrong.
    """
    _check(experiment)
    grid = make_grid(experiment)
    recorder = Recorder(
        experiment.loss, experiment.times, dict(experiment.measures), experiment.stop
    )
    by_shape: dict[Any, list[range]] = {}
    lanes: dict[Any, Lane] = {}
    costs: dict[Any, float] = {}
    final: list[dict[str, Field]] = []
    trajectories: list[dict[str, Field]] = []
    described: dict[Any, Any] = {}
    tried: set[tuple[str, Any]] = set()
    for index, cell in enumerate(grid.cells):
        sizes = tuple(cell.sizes.items())
        values = {(k, v) for k, v in cell.numbers.items() if isinstance(v, float)}
        member_flow(experiment, cell)
        # Each set of sizes is traced once, and each float once with some of them.
        if sizes not in described or not values <= tried:
            data, network = _draw_shapes(experiment, cell)
            tried |= values
        if sizes not in described:
            lane = _start_shapes(experiment, recorder, cell, data, network)
            trajectories.append(_fields(recorder.measures, network, lane.data))
            final.append(_fields(experiment.final, network, lane.data))
            shape = (
                jax.tree.structure(lane),
                tuple((v.shape, str(v.dtype)) for v in jax.tree.leaves(lane)),
            )
            described[sizes] = shape
            lanes[shape] = lane
            costs[shape] = float(lane.data.x.shape[0] * _parameters(network))
        first = index * experiment.seeds
        span = range(first, first + experiment.seeds)
        by_shape.setdefault(described[sizes], []).append(span)
    groups = [
        Group(tuple(spans), lanes[shape], costs[shape])
        for shape, spans in by_shape.items()
    ]
    # The dearest first: what is left for the end is then short.
    groups.sort(key=lambda g: -g.cost)
    lane = groups[0].lane
    clash = {*lane.state.stats} & {*experiment.measures, *experiment.final}
    if clash:
        raise ValueError(
            f"the flow already counts `{clash.pop()}`; rename the measure."
        )
    return Plan(
        experiment,
        grid,
        recorder,
        tuple(groups),
        _widest(trajectories),
        _widest(final),
        tuple(lane.state.stats),
    )


def draw(
    make: Make, dtype: str, sizes: Mapping, numbers: Mapping, key: jax.Array
) -> tuple[Dataset, AbstractNetwork]:
    """One member's padded data and initial network, drawn in float64, then cast."""
    data, network = make(key, **sizes, **numbers)
    data = padded(data, bucket(data.x.shape[0]))
    cast = lambda v: v.astype(jnp.dtype(dtype)) if eqx.is_inexact_array(v) else v
    return jax.tree.map(cast, data), jax.tree.map(cast, network)


def member_flow(experiment: Experiment, cell: Cell) -> Any:
    """The flow of a cell: its fields replaced, its numbers to be traced."""
    return traced(dataclasses.replace(experiment.flow, **cell.flow))


def traced(flow: Any) -> Any:
    """The flow with its numbers as arrays: one program serves every tolerance."""
    return jax.tree.map(
        lambda v: jnp.asarray(v, jnp.float64) if isinstance(v, float) else v, flow
    )


def _draw_shapes(experiment: Experiment, cell: Cell) -> tuple[Any, Any]:
    key = member_key(experiment.root, cell, 0)
    make, dtype = experiment.make, experiment.dtype
    drawn = functools.partial(draw, make, dtype, cell.sizes, cell.numbers)
    data, network = eqx.filter_eval_shape(drawn, key)
    check_fit(network, data)
    return data, network


def check_fit(network: Any, data: Any) -> None:
    """Refuse a network that cannot be trained on a sample.

    Raises:
        ValueError: for an empty sample, or sizes of inputs or outputs that differ.
    """
    if data.x.shape[0] == 0:
        raise ValueError("the sample is empty: `data.x` has no rows.")
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


def _start_shapes(
    experiment: Experiment, recorder: Recorder, cell: Cell, data: Any, network: Any
) -> Lane:
    flow = member_flow(experiment, cell)
    key = member_key(experiment.root, cell, 0)
    return eqx.filter_eval_shape(start, recorder, flow, network, data, key)


def _fields(measures: Mapping, network: Any, data: Any) -> dict[str, Field]:
    fields = {}
    for name, measure in measures.items():
        value = eqx.filter_eval_shape(measure, network, data)
        if len(value.shape) != len(measure.dims):
            raise ValueError(
                f"measure `{name}` names the axes {measure.dims} but returns "
                f"an array of shape {value.shape}."
            )
        dtype = np.dtype(value.dtype)
        if dtype.kind != "f":
            dtype = np.dtype(np.float32)
        coords = {k: np.asarray(v) for k, v in measure.coords().items()}
        fields[name] = Field(tuple(measure.dims), value.shape, dtype, coords)
    return fields


def _widest(fields: list[dict[str, Field]]) -> dict[str, Field]:
    """Fields large enough for every shape of the grid."""
    out = {}
    for name, first in fields[0].items():
        shapes = [f[name].shape for f in fields]
        shape = tuple(max(sizes) for sizes in zip(*shapes, strict=True))
        out[name] = dataclasses.replace(first, shape=shape)
    return out


def _parameters(network: Any) -> int:
    return sum(
        math.prod(v.shape)
        for v in jax.tree.leaves(network)
        if jnp.issubdtype(v.dtype, jnp.inexact)
    )


def _value(cell: Cell, axis: str) -> Any:
    if axis.startswith("flow."):
        return cell.flow[axis.removeprefix("flow.")]
    return cell.arguments[axis]


def _check(experiment: Experiment) -> None:
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
    if isinstance(experiment.root, bool) or not 0 <= experiment.root < 2**32:
        raise ValueError(f"`root` must be from 0 to 2³² − 1, got {experiment.root}.")
    if not callable(experiment.loss):
        raise ValueError(f"`loss` must be a function, got {experiment.loss!r}.")
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
