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
from simbias.ensemble.lane import Lane, Recorder, record_dtype, start
from simbias.ensemble.tracing import check_traced
from simbias.ensemble.validity import (
    check_axes,
    check_experiment,
    check_fit,
    check_measure,
    made,
)


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


def make_plan(experiment: Experiment) -> Plan:
    """Check an experiment and settle its shapes, without computing anything.

    Raises:
        ValueError: naming the field that is wrong.
    """
    check_experiment(experiment)
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
        shaping = [(k, v) for k, v in cell.flow.items() if not isinstance(v, float)]
        sizes = (*cell.sizes.items(), *shaping)
        values = {(k, v) for k, v in cell.numbers.items() if isinstance(v, float)}
        member_flow(experiment, cell)
        # Each set of sizes is traced once, and each float once with some of them.
        if sizes not in described or not values <= tried:
            drawn = functools.partial(_drawn, experiment, cell)
            data, network = eqx.filter_eval_shape(
                functools.partial(drawn, cell.numbers)
            )
            tried |= values
        if sizes not in described:
            check_traced(experiment.name, drawn, cell.numbers)
            trajectories.append(_fields(recorder.measures, network, data))
            final.append(_fields(experiment.final, network, data))
            lane = _start_shapes(experiment, recorder, cell, data, network)
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
    widest, widest_final = _widest(trajectories), _widest(final)
    check_axes(grid.axes, widest | widest_final)
    return Plan(
        experiment,
        grid,
        recorder,
        tuple(groups),
        widest,
        widest_final,
        tuple(lane.state.stats),
    )


def draw(
    make: Make, dtype: str, sizes: Mapping, numbers: Mapping, key: jax.Array
) -> tuple[Dataset, AbstractNetwork]:
    """One member's padded data and initial network, drawn in float64, then cast."""
    data, network = made(make(key, **sizes, **numbers))
    check_fit(network, data)
    data = padded(data, bucket(data.x.shape[0]))
    cast = lambda v: v.astype(jnp.dtype(dtype)) if eqx.is_inexact_array(v) else v
    return jax.tree.map(cast, data), jax.tree.map(cast, network)


def member_flow(experiment: Experiment, cell: Cell) -> Any:
    """The flow of a cell: its fields replaced, its numbers to be traced."""
    return traced(dataclasses.replace(experiment.flow, **cell.flow))


def traced(flow: Any) -> Any:
    """The flow with its numbers as arrays: one program serves every tolerance.

    Those that shape something are static fields, and no part of the tree.
    """
    is_number = lambda v: isinstance(v, (bool, int, float))
    array = lambda v: jnp.asarray(np.asarray(v)) if is_number(v) else v
    return jax.tree.map(array, flow)


def _drawn(
    experiment: Experiment, cell: Cell, numbers: Mapping
) -> tuple[Dataset, AbstractNetwork]:
    key = member_key(experiment.root, cell, 0)
    return draw(experiment.make, experiment.dtype, cell.sizes, numbers, key)


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
        coords = {k: np.asarray(v) for k, v in measure.coords().items()}
        check_measure(name, measure, value, coords)
        dtype = record_dtype(np.dtype(value.dtype))
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
