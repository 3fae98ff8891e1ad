"""What compiling the programs of a run takes in memory, before it starts."""

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
