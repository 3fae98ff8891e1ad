"""Which sides and pins hold from a point on where pre-activations are 0."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._deep import tolerances
from simbias.flows._deep.event_log import kinds_between
from simbias.flows._deep.gated_sample import GatedSample
from simbias.flows._deep.look import Look, look
from simbias.flows._deep.signals import awake_by, idle_entries
from simbias.flows._deep.sliding import Rows, Slots, marked, rows_of, scales

# A speed below this share of the jump of speeds at a kink is none.
_NEUTRAL = 1e-6


class Decision(NamedTuple):
    """Sides and pins from here on, the field, and what was counted.

    `entry` and `kind` are the entries that were 0 and what they did.
    """

    is_above: Bool[Array, "n u"]
    slots: Slots
    field: Float[Array, " p"]
    evaluations: Int[Array, ""]
    crossings: Int[Array, ""]
    slides: Int[Array, ""]
    releases: Int[Array, ""]
    choices: Int[Array, ""]
    has_no_slot: Bool[Array, ""]
    entry: Int[Array, " s"]
    kind: Int[Array, " s"]


class _Pivot(NamedTuple):
    state: Int[Array, " s"]
    last: Int[Array, " s"]
    leader: Int[Array, " s"]
    speed: Float[Array, " s"]
    scale: Float[Array, "n u"]
    field: Float[Array, " p"]
    count: Int[Array, ""]
    choices: Int[Array, ""]
    is_done: Bool[Array, ""]


def decide(
    sample: GatedSample,
    theta: Float[Array, " p"],
    is_above: Bool[Array, "n u"],
    slots: Slots,
    forced: Bool[Array, "n u"],
    ahead: Float[Array, " p"],
) -> Decision:
    """Consistent sides and pins of all entries with z = 0, by principal pivoting.

    An entry is consistent below if z does not rise, above if z does not fall, and
    pinned if its multiplier lies between its bounds.  In turn the entry that is worst
    changes: to pinned, or to the other side where the kink is concave; from pinned to
    the side by whose bound it left.  Within one layer that solves the least-norm
    problem of the Clarke subdifferential.  If it goes on for long the first one
    changes (Murty's rule), and units that wake need not agree with their speeds.

    Args:
        sample: with its network.
        theta: weights.
        is_above: sides before.
        slots: pins before.
        forced: further entries to be taken as 0.
        ahead: added to the weights at which fields are compared; 0 unless all speeds
            vanish and only later ones decide.
    """
    n, units = is_above.shape
    size, dtype = slots.entry.shape[0], theta.dtype
    was_pinned = marked(slots.entry, slots.is_used, is_above)
    scale = scales(sample, is_above, was_pinned)
    _, z = sample.outputs(theta, scale)
    tolerance = 10 * tolerances.of_surface(dtype) * tolerances.unit_sizes(sample, z)
    is_near = (jnp.abs(z) <= tolerance[None, :]) | forced | was_pinned
    is_near &= sample.is_real[:, None]
    idle = idle_entries(sample, theta, jnp.where(is_near, 0, scale))
    is_open = is_near & ~idle
    entry = jnp.flatnonzero(is_open, size=size, fill_value=-1).astype(jnp.int32)
    has_no_slot = jnp.sum(is_open) > size
    is_used, place = entry >= 0, jnp.maximum(entry, 0)
    number = jnp.sum(is_used, dtype=jnp.int32)
    side = jnp.where(is_above.reshape(-1)[place], 1, -1)
    start = jnp.where(was_pinned.reshape(-1)[place], 0, side).astype(jnp.int32)
    order = jnp.arange(size, dtype=jnp.int32)
    theta = theta + ahead

    def body(pivot: _Pivot) -> _Pivot:
        scale, still = _awake(sample, theta, pivot, entry, idle)
        rows = rows_of(sample, theta, scale, entry, is_used)
        state, leader = _together(pivot.state, rows, is_used)
        is_pinned = is_used & (state == 0)
        now = Slots(entry, leader)
        found = look(sample, theta, scale, now, is_pinned, rows, still)
        excess, wish = _wishes(found, state, start, pivot.last, rows)
        leads = is_used & (leader == order)
        excess = jnp.where(leads, excess, 0)
        is_settled = jnp.all(state == pivot.state)
        is_right = is_settled & ~jnp.any(excess > 0)
        # Units wake by the speeds of the turn before, which may have been others.
        is_same = ~jnp.any(idle) | jnp.all(scale == pivot.scale)
        is_done = is_right & (is_same | (pivot.count >= 5 * number + 8))
        first = jnp.argmax(excess > 0)
        worst = jnp.where(pivot.count < 3 * number + 3, jnp.argmax(excess), first)
        moves = (leader == worst.astype(jnp.int32)) & is_used & is_settled & ~is_right
        # A pin that has become concave repels on both sides.
        is_concave = found.bounds.high < found.bounds.low
        is_choice = is_concave & (state == 0) & (pivot.last == 0)
        is_choice = is_choice[worst] & is_settled & ~is_right
        is_choice |= is_done & ~is_same
        choices = pivot.choices + is_choice.astype(jnp.int32)
        new = jnp.sign(rows.ratios(leader)).astype(jnp.int32) * wish[worst]
        last = jnp.where(moves & (state != 0), state, pivot.last)
        return _Pivot(
            jnp.where(moves, new, state),
            last,
            leader,
            found.speed,
            scale,
            found.field,
            pivot.count + 1,
            choices,
            is_done,
        )

    first = _Pivot(
        start,
        start,
        order,
        jnp.ones(size, dtype),
        scale,
        jnp.zeros_like(theta),
        jnp.int32(0),
        jnp.int32(0),
        jnp.array(False),
    )
    most = 6 * number + 10
    end = jax.lax.while_loop(lambda p: ~p.is_done & (p.count < most), body, first)
    is_pinned = is_used & (end.state == 0)
    above = end.scale == 1
    # Gates of pins are 0; their sides stay what they were.
    above = jnp.where(marked(entry, is_pinned, is_above), is_above, above)
    count = lambda v: jnp.sum(v & is_used).astype(jnp.int32)
    return Decision(
        is_above=above,
        slots=_packed(Slots(entry, end.leader), is_pinned),
        field=end.field,
        evaluations=end.count,
        crossings=count((start != 0) & (end.state == -start)),
        slides=count((start != 0) & (end.state == 0)),
        releases=count((start == 0) & (end.state != 0)),
        choices=end.choices + (~end.is_done).astype(jnp.int32),
        has_no_slot=has_no_slot,
        entry=entry,
        kind=jnp.where(is_used, kinds_between(start, end.state), 0),
    )


def _awake(
    sample: GatedSample,
    theta: Float[Array, " p"],
    pivot: _Pivot,
    entry: Int[Array, " s"],
    idle: Bool[Array, "n u"],
) -> tuple[Float[Array, "n u"], Bool[Array, "n u"]]:
    """Gates as the slots are now; idle units wake by the entries that rise."""
    is_used = entry >= 0
    place = jnp.where(is_used, entry, idle.size)
    units = idle.shape[1]
    slope = sample.slope[jnp.maximum(entry, 0) % units]
    gate = jnp.where(pivot.state > 0, 1, jnp.where(pivot.state < 0, slope, 0))
    scale = pivot.scale.reshape(-1).at[place].set(gate, mode="drop")
    least = 1e-3 * jnp.max(jnp.where(is_used, jnp.abs(pivot.speed), 0))
    rise = jnp.where(pivot.state > 0, jnp.maximum(pivot.speed, least), 0)
    source = jnp.zeros(idle.size, theta.dtype).at[place].set(rise, mode="drop")
    shape = idle.shape
    return awake_by(sample, theta, scale.reshape(shape), idle, source.reshape(shape))


def _together(
    state: Int[Array, " s"], rows: Rows, is_used: Bool[Array, " s"]
) -> tuple[Int[Array, " s"], Int[Array, " s"]]:
    """States and leaders, where entries with parallel normals go together."""
    size, dtype = state.shape[0], rows.length.dtype
    order = jnp.arange(size, dtype=jnp.int32)
    rank = jnp.where(state == 0, order, order + size)
    near = 1 - jnp.abs(rows.cosine) <= tolerances.of_parallel(dtype)
    near &= is_used[:, None] & is_used[None, :]
    near |= order[:, None] == order[None, :]
    leader = jnp.argmin(jnp.where(near, rank[None, :], 3 * size), axis=1)
    leader = leader.astype(jnp.int32)
    joined = jnp.sign(rows.ratios(leader)).astype(jnp.int32) * state[leader]
    return jnp.where(leader == order, state, joined), leader


def _wishes(
    found: Look,
    state: Int[Array, " s"],
    start: Int[Array, " s"],
    last: Int[Array, " s"],
    rows: Rows,
) -> tuple[Float[Array, " s"], Int[Array, " s"]]:
    """How far each leader is from consistent (0 if it is), and what it wants to be."""
    bounds, dtype = found.bounds, found.field.dtype
    is_convex = bounds.high > bounds.low
    # At its bound an entry is not pinned: one that arrives where nothing pulls it back,
    # as a unit that dies there, has arrived.
    small = tolerances.of_multiplier(dtype)
    outside = bounds.excess() + small
    # Not by distances: at a kink far smaller than the multiplier they are equal.
    middle = (bounds.low + bounds.high) / 2
    is_concave = bounds.high < bounds.low
    by_bound = jnp.where((bounds.multiplier > middle) ^ is_concave, 1, -1)
    away = jnp.where(last != 0, -last, by_bound)
    pinned = jnp.where(is_concave, 1e9, outside)
    from_pin = jnp.where(is_concave, away, by_bound)

    length = rows.length * jnp.linalg.norm(found.field)
    heading = state.astype(dtype)
    back = -found.speed * heading / jnp.where(length > 0, length, 1)
    wrong = back - tolerances.of_speed(dtype)
    square = jnp.where(rows.length > 0, rows.length, 1) ** 2
    needed = -found.speed * heading / square
    wrong = jnp.where(needed > 2 * small * bounds.size(), wrong, 0)
    from_side = jnp.where(is_convex, 0, -state)
    # Let go by a concave kink, an entry does not stay where nothing moves it away.
    jump = (bounds.low - bounds.high) * square
    stays = is_concave & (start == 0) & (found.speed * heading <= _NEUTRAL * jump)
    wrong = jnp.where(stays, 1e8, wrong)

    excess = jnp.where(state == 0, pinned, wrong)
    wish = jnp.where(state == 0, from_pin, from_side).astype(jnp.int32)
    return jnp.maximum(excess, 0), wish


def _packed(slots: Slots, is_kept: Bool[Array, " s"]) -> Slots:
    """The kept slots first, their leaders renumbered."""
    order = jnp.argsort(~is_kept, stable=True)
    to = (
        jnp.zeros_like(slots.leader)
        .at[order]
        .set(jnp.arange(len(order), dtype=jnp.int32))
    )
    is_kept = is_kept[order]
    entry = jnp.where(is_kept, slots.entry[order], -1)
    own = jnp.arange(len(order), dtype=jnp.int32)
    return Slots(entry, jnp.where(is_kept, to[slots.leader[order]], own))
