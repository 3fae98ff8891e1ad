"""What compiling the programs of a run takes, before it starts."""

from collections.abc import Hashable

import equinox as eqx
import jax
import jax.numpy as jnp

from simbias.ensemble.footprint import equations
from simbias.ensemble.plan import Group, Plan

# Tracing included; fits nine programs of 400 to 20,000 equations within a tenth, see
# `benchmarks/memory.py`.
_BYTES, _POWER = 3.9 * 2**20, 0.62
# Drawing has about so many, and is compiled for a moment's use, which takes less.
_OF_DRAWING, _STARTING = 100, 0.6
# Of that memory what the compiled program and its equations keep.
KEPT = 0.3
# Seconds of one core, drawing and starting included: within a fifth of the processor
# time that the first networks of random_design, cantor, low_rank_squared and
# three_points took (171 to 5307 equations).
_SECONDS, _SECONDS_POWER = 0.12, 0.6
# Padding to the largest sample is advised if it makes at most so many times the rows.
_WORTH = 3


def describe_programs(plan: Plan, stations: int) -> str:
    """How many programs, how long they take to compile, and what would spare some."""
    groups, at_once = plan.groups, min(stations, len(plan.groups))
    # The dearest shape stands for all: each takes a while to trace.
    each = _SECONDS * _equations(plan, groups[0]) ** _SECONDS_POWER
    seconds = each * -(-len(groups) // at_once)
    said = "one program" if len(groups) == 1 else f"{len(groups)} programs"
    said += f" to compile, about {max(1, round(seconds))} s the first time"
    largest = max(_rows(group) for group in groups)
    if (fewer := len({_apart_from_rows(group) for group in groups})) < len(groups):
        rows = sum(group.size * _rows(group) for group in groups)
        if plan.size * largest <= _WORTH * rows:
            said += f" (`--pad-to {largest}` makes {fewer} of them)"
    return said


def _rows(group: Group) -> int:
    return group.lane.data.x.shape[0]


def _apart_from_rows(group: Group) -> Hashable:
    """What else shapes differ in than the size of the sample."""
    lane = group.lane
    tree = lane.flow, lane.state.network
    data = [v.shape[1:] for v in (lane.data.x, lane.data.y)]
    leaves = [getattr(v, "shape", v) for v in jax.tree.leaves(tree)]
    return jax.tree.structure(tree), str(leaves), *data


def bytes_of_compiling(plan: Plan, stations: int) -> int:
    """Memory of the programs of a run that are compiled at a time.

    Every station compiles what advances another shape; one that is left compiles what
    draws and starts members.  Programs that are read from the disk take less.
    """
    # The dearest shape comes first; each takes a while to trace.
    group, at_once = plan.groups[0], min(stations, len(plan.groups))
    total = at_once * _bytes_of(_equations(plan, group))
    if stations > at_once:
        total += _STARTING * _bytes_of(group.equations + _OF_DRAWING)
    return round(total)


def _bytes_of(equations: int) -> float:
    return _BYTES * equations**_POWER


def _equations(plan: Plan, group: Group) -> int:
    """Equations of the program that advances members: a step, and the measures."""
    lane, loss = group.lane, plan.experiment.loss
    known = lane.flow.step_equations(lane.state)
    if known is None:
        moving, fixed = eqx.partition((lane.flow, lane.state, lane.data), _is_array)

        def step(moving):
            flow, state, data = eqx.combine(moving, fixed)
            end = jnp.asarray(1.0, state.time.dtype)
            return eqx.filter(flow.step(state, data, loss, end), eqx.is_array)

        with jax.enable_x64(True):  # whatever the process has chosen, as when it runs
            known = equations(step, moving)
    return known + group.equations


def _is_array(value: object) -> bool:
    return isinstance(value, jax.ShapeDtypeStruct) or eqx.is_array(value)
