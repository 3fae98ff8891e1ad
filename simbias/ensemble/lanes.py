"""What compiled programs do to the lanes of several members at once."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray, PyTree, UInt

from simbias.core import AbstractFlow, AbstractNetwork, Dataset, Measure, Status
from simbias.ensemble.events import Finished
from simbias.ensemble.keys import split_keys
from simbias.ensemble.lane import Lane, Recorder, of_original, start
from simbias.ensemble.members import Maker, draw
from simbias.validation.targets import Faults, faults


class Drawn(eqx.Module):
    """Members before they start, stacked: as many as `numbers` of keys were given."""

    data: Dataset
    network: AbstractNetwork
    key_flow: PRNGKeyArray
    faults: Faults


def idle(like: Lane, width: int) -> Lane:
    """`width` lanes of one shape, given with or without values; nothing runs there."""
    lanes = jax.tree.map(lambda v: _zeros(width, v), like)
    status = jnp.full(width, Status.REACHED_TIME, jnp.int32)
    return eqx.tree_at(lambda lanes: lanes.state.status, lanes, status)


def draw_members(
    fixed: tuple[Maker, Any],
    numbers: dict[str, jax.Array],
    keys: UInt[Array, "members 3"],
    count: Int[Array, ""],
) -> Drawn:
    """The first `count` members of one cell, before they start."""
    by, sizes = fixed

    def one(numbers, key):
        key_draw, key_flow = split_keys(key)
        data, network = draw(by, sizes, numbers, key_draw)
        return Drawn(data, network, key_flow, faults(data))

    return _each(one, numbers, keys, count)


def start_members(
    recorder: Recorder,
    first: tuple[AbstractFlow, Drawn, Int[Array, " members"], Int[Array, ""]],
    lanes: Lane,
) -> Lane:
    """Lanes with the first `count` of `drawn` at their places, started."""
    flow, drawn, places, count = first

    def put(i, lanes):
        one = jax.tree.map(lambda v: v[i], drawn)
        lane = start(recorder, flow, one.network, one.data, one.key_flow)
        return place_lane((places[i], lane), lanes)

    return jax.lax.fori_loop(0, count, put, lanes)


def place_lane(new: tuple[Int[Array, ""], Lane], lanes: Lane) -> Lane:
    """Lanes with one of them replaced."""
    place, lane = new
    return jax.tree.map(lambda all_, one: all_.at[place].set(one), lanes, lane)


def spread_lane(first: tuple[Int[Array, ""], Array], lanes: Lane) -> Lane:
    """Lanes whose empty ones hold copies of one that is not, and do not run."""
    place, is_empty = first
    wide = lambda v: is_empty.reshape(-1, *(1,) * (v.ndim - 1))
    out = jax.tree.map(lambda v: jnp.where(wide(v), v[place], v), lanes)
    status = jnp.where(is_empty, jnp.int32(Status.REACHED_TIME), out.state.status)
    return eqx.tree_at(lambda lanes: lanes.state.status, out, status)


def finish_members(
    final: dict[str, Measure],
    places: Int[Array, " members"],
    count: Int[Array, ""],
    lanes: Lane,
) -> Finished:
    """What is kept of the lanes at the first `count` places."""

    def one(shared, place):
        final, lanes = shared
        lane = jax.tree.map(lambda v: v[place], lanes)
        state = lane.state
        of = lambda measure: of_original(measure)(state.network, lane.data)
        values = {name: of(measure) for name, measure in final.items()}
        values |= lane.flow.history(state)
        records, status = lane.records, state.status
        return Finished(
            records, lane.cursor, status, state.time, state.stats, values, lane.kept
        )

    return _each(one, (final, lanes), places, count)


def _each(
    one: Callable[[PyTree, Array], PyTree],
    shared: PyTree,
    inputs: Array,
    count: Int[Array, ""],
) -> PyTree:
    """`one` of the first `count` inputs, one after another, and zeros for the rest."""
    # Under jit it is traced once, for its shapes and for the loop.
    one = eqx.filter_jit(one)
    like = eqx.filter_eval_shape(one, shared, inputs[0])
    put = lambda i, out: jax.tree.map(
        lambda all_, value: all_.at[i].set(value), out, one(shared, inputs[i])
    )
    blank = jax.tree.map(lambda v: _zeros(inputs.shape[0], v), like)
    return jax.lax.fori_loop(0, count, put, blank)


def _zeros(width: int, like: Any) -> jax.Array:
    return jax.lax.full((width, *like.shape), 0, like.dtype)
