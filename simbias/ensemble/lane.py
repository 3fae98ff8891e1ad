"""One member in motion, and the only place where the member axis is added.

`start` and `advance` are written for one member.  `advance_all` gives them the member
axis: one after another on a CPU (a member's weights stay in cache, and a lane that
waits costs nothing), side by side on an accelerator.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from simbias.core import (
    AT_REST,
    AbstractFlow,
    AbstractNetwork,
    AbstractStop,
    Dataset,
    FlowState,
    Loss,
    Measure,
    Status,
)
from simbias.ensemble.leaves import kept_dtype, named_leaves, nothing
from simbias.flow import innermost
from simbias.introspection.array_network import original_network
from simbias.numerics.conditionals import when

Layout = Literal["in turn", "side by side"]

# A time counts as reached within rounding of a sum of steps.
_REACHED = 1 - 1e-12


class Recorder(eqx.Module):
    """What is written down, and when: the same for every member, so all static."""

    loss: Loss = eqx.field(static=True)
    times: tuple[float, ...] = eqx.field(static=True)
    measures: Mapping[str, Measure]
    stop: AbstractStop | None
    keep: tuple[int, ...] = eqx.field(static=True, default=())
    """Which of the times, by number, are those of networks that are kept."""


class Lane(eqx.Module):
    """A member: its flow, data, state, and records so far (NaN where not reached).

    `kept` holds the arrays of its network at the times of which networks are kept.
    """

    flow: AbstractFlow
    data: Dataset
    state: FlowState
    cursor: Int[Array, ""]
    records: dict[str, Float[Array, "t ..."]]
    kept: dict[str, Array]


def start(
    recorder: Recorder,
    flow: AbstractFlow,
    network: AbstractNetwork,
    data: Dataset,
    key: PRNGKeyArray,
) -> Lane:
    """The member at time 0, recorded there if 0 is one of the times."""
    state = flow.init(network, data, recorder.loss, key)
    records = {}
    for name, measure in recorder.measures.items():
        value = jax.eval_shape(of_original(measure), network, data)
        shape = (len(recorder.times), *value.shape)
        records[name] = jnp.full(shape, jnp.nan, record_dtype(value.dtype))
    kept = {}
    if recorder.keep:
        for name, leaf in named_leaves(network).items():
            dtype = kept_dtype(np.dtype(leaf.dtype))
            shape = (len(recorder.keep), *leaf.shape)
            kept[name] = jnp.full(shape, nothing(dtype), dtype)
    lane = Lane(flow, data, state, jnp.int32(0), records, kept)
    if recorder.times[0] > 0:
        return lane
    recorder = _of_flow(recorder, flow, lane.state.network)
    return dataclasses.replace(lane, **_parts(_recorded(recorder, data, _moving(lane))))


def advance(recorder: Recorder, lane: Lane, attempts: Int[Array, ""]) -> Lane:
    """At most `attempts` attempted steps, recording at each time that is reached."""
    flow, data = lane.flow, lane.data
    times = jnp.asarray(recorder.times, jnp.float64)
    recorder = _of_flow(recorder, flow, lane.state.network)
    record_when = when(lambda data, moving: _recorded(recorder, data, moving))

    def is_moving(carry):
        moving, i = carry
        return (i < attempts) & (moving[0].status == Status.RUNNING)

    def move(carry):
        (state, cursor, *written), i = carry
        until = times[cursor]
        state = flow.step(state, data, recorder.loss, until)
        at_rest = is_at_rest(state.status)
        is_due = (state.time >= until * _REACHED) & (state.status == Status.RUNNING)
        moving = record_when(is_due | at_rest, data, (state, cursor, *written))
        return moving, i + 1

    moving, _ = jax.lax.while_loop(is_moving, move, (_moving(lane), jnp.int32(0)))
    return dataclasses.replace(lane, **_parts(moving))


def advance_all(
    recorder: Recorder,
    lanes: Lane,
    attempts: Int[Array, ""],
    layout: Layout,
) -> Lane:
    """`advance` for lanes stacked along a leading member axis."""
    one = lambda lane: advance(recorder, lane, attempts)
    if layout == "in turn":
        return jax.lax.map(one, lanes)
    return jax.vmap(one)(lanes)


def of_original(measure: Measure) -> Measure:
    """The measure, of a network as the engine moves it."""
    return lambda network, data: measure(original_network(network), data)


def is_at_rest(status: Int[Array, ""]) -> Bool[Array, ""]:
    """Whether nothing moves any more."""
    return jnp.any(status == jnp.asarray(AT_REST, jnp.int32))


def record_dtype(dtype: np.dtype) -> np.dtype:
    """What values of a measure are written down as: floats as they are.

    All else, counts and truth values, becomes float64, which is exact up to 2⁵³ and
    has a NaN for what is not reached.
    """
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


def _moving(lane: Lane) -> tuple:
    return lane.state, lane.cursor, lane.records, lane.kept


def _parts(moving: tuple) -> dict:
    return dict(zip(("state", "cursor", "records", "kept"), moving, strict=True))


def _of_flow(recorder: Recorder, flow: AbstractFlow, network: Any) -> Recorder:
    """With the stop as it is under the flow of a member."""
    if recorder.stop is None:
        return recorder
    own = innermost(flow, original_network(network))
    return dataclasses.replace(recorder, stop=recorder.stop.of_flow(own))


def _recorded(recorder: Recorder, data: Dataset, moving: tuple) -> tuple:
    """Write one row, then decide whether the member is finished."""
    state, cursor, records, kept = moving
    rows = {}
    for name, measure in recorder.measures.items():
        value = of_original(measure)(state.network, data).astype(records[name].dtype)
        rows[name] = records[name].at[cursor].set(value)
    status = state.status
    is_running = status == Status.RUNNING
    if recorder.stop is not None:
        said = recorder.stop.status(
            original_network(state.network), data, recorder.loss
        )
        status = jnp.where(is_running, said.astype(jnp.int32), status)
    is_last = cursor + 1 >= len(recorder.times)
    status = jnp.where(
        is_last & (status == Status.RUNNING), jnp.int32(Status.REACHED_TIME), status
    )
    if recorder.keep:
        # At rest it stays what it is: the same network holds for every later time.
        numbers = jnp.asarray(recorder.keep, jnp.int32)
        is_now = (numbers == cursor) | ((numbers > cursor) & is_at_rest(status))
        for name, leaf in named_leaves(state.network).items():
            mask = is_now.reshape(-1, *(1,) * leaf.ndim)
            kept = {
                **kept,
                name: jnp.where(mask, leaf.astype(kept[name].dtype), kept[name]),
            }
    return dataclasses.replace(state, status=status), cursor + 1, rows, kept
