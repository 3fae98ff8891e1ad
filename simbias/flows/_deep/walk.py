"""Crossings inside a step, one after the other, up to the first real decision.

After a crossing at u the field of one sample differs by J = ∓(1 − slope) g ∇z.  To
first order the weights move by (t − u) J more; pre-activations of the sample follow
from its new gates.  So a crossing costs a few passes of one sample.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._deep import tolerances
from simbias.flows._deep.event_times import (
    GRID,
    LAGRANGE,
    NODES,
    ON_GRID,
    PARTS,
    Path,
    root_in,
)
from simbias.flows._deep.gated_sample import GatedSample
from simbias.flows._deep.sliding import (
    Rows,
    Slots,
    marked,
    multipliers,
    rows_of,
    scales,
)
from simbias.numerics.conditionals import once

# Other pre-activations that are 0 within this share of their unit's size at a crossing
# make it a decision.
_TOGETHER = 1e-6
# The speed behind a crossing is at least this share of that before it.
_LEAST_SPEED = 1e-3
_MOST_CROSSINGS = 100


class Walk(NamedTuple):
    """Where the walk is, what has crossed, and what the crossings add to the weights.

    At t the weights are those of the step plus t · `gain` − `lag`.  `sizes` are
    Σ |J| (1, u, u², u³) over the crossings at u.  `stop` is the entry at which a
    decision is due, −1 if the walk reaches the end of the step.  `crossed_at` are the
    times of crossings, infinite for other entries, and None unless they are recorded.
    """

    at: Float[Array, ""]
    is_above: Bool[Array, "n u"]
    has_crossed: Bool[Array, "n u"]
    values: Float[Array, "5 n u"]
    gain: Float[Array, " p"]
    lag: Float[Array, " p"]
    sizes: Float[Array, "4"]
    crossings: Int[Array, ""]
    stop: Int[Array, ""]
    goes: Bool[Array, ""]
    crossed_at: Float[Array, "n u"] | None

    def rest(self) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Mean share of the step after a crossing, and its standard deviation.

        Each crossing counts by |J| times that share, by which it moves the weights.
        """
        s0, s1, s2, s3 = self.sizes
        at = self.at
        first = s0 * at - s1
        second = s0 * at**2 - 2 * at * s1 + s2
        third = s0 * at**3 - 3 * at**2 * s1 + 3 * at * s2 - s3
        safe = jnp.where(first > 0, first, 1)
        mean = jnp.where(first > 0, second / safe, 0)
        variance = jnp.where(first > 0, third / safe, 0) - mean**2
        return mean, jnp.sqrt(jnp.maximum(variance, 0))


def walk(
    sample: GatedSample,
    path: Path,
    length: Float[Array, ""],
    is_above: Bool[Array, "n u"],
    slots: Slots,
    may_cross: Bool[Array, ""],
    *,
    records_events: bool = False,
) -> Walk:
    """All crossings of a step; it stops at the first that is no plain crossing.

    Args:
        sample: with its network.
        path: weights at a fraction of the step, under the gates at its beginning.
        length: of the step.
        is_above: sides at the beginning.
        slots: pins; they cross nothing.
        may_cross: False stops at the first crossing.
        records_events: the result has the times of crossings.
    """
    zero = jnp.zeros_like(length)
    theta, dtype = path(zero), length.dtype
    is_pinned = marked(slots.entry, slots.is_used, is_above)
    scale = scales(sample, is_above, is_pinned)
    outs, values = jax.lax.map(
        lambda u: sample.outputs(path(u), scale), jnp.asarray(NODES, dtype)
    )
    sizes = tolerances.unit_sizes(sample, values[0])[None, :]
    limit = (tolerances.of_surface(dtype) * sizes)[None]
    may = (~is_pinned & sample.is_real[:, None])[None]
    leads = slots.is_leader()
    rows = [
        rows_of(sample, path(u), scale, slots.entry, leads)
        for u in (zero, jnp.ones_like(zero))
    ]
    units = is_above.shape[1]
    nodes, lagrange = jnp.asarray(NODES, dtype), jnp.asarray(LAGRANGE, dtype)
    grid = jnp.asarray(GRID, dtype)

    def body(w: Walk) -> Walk:
        sign = jnp.where(w.is_above, 1, -1).astype(dtype)[None]
        flat = (sign * w.values).reshape(len(NODES), -1)
        on_grid = (jnp.asarray(ON_GRID, dtype) @ flat).reshape(PARTS, *is_above.shape)
        is_off = may & (on_grid < -limit) & (grid > w.at)[:, None, None]
        some = jnp.any(is_off, axis=(1, 2))
        part, is_one = jnp.argmax(some), jnp.any(some)
        low = jnp.maximum(part.astype(dtype) / PARTS, w.at)
        high = (part.astype(dtype) + 1) / PARTS
        entry, guess = _earliest(lagrange @ flat, is_off[part].reshape(-1), low, high)
        i, u = entry // units, entry % units
        x, s = sample.x[i], scales(sample, w.is_above, is_pinned)[i]
        none = jnp.zeros_like(s)
        position = lambda at: path(at) + at * w.gain - w.lag
        own = lambda at: sign[0, i, u] * sample.one(position(at), x, s, none)[1][u]
        at = root_in(own, low, high, guess)

        here = position(at)
        run = lambda theta, shift: sample.one(theta, x, s, shift)
        (out, z), back = jax.vjp(run, here, none)
        at_node = at ** jnp.arange(len(NODES), dtype=dtype) @ lagrange
        out_all = jnp.tensordot(at_node, outs, 1).at[i].set(out)
        pull = jax.grad(sample.loss)(out_all, sample.y, sample.weight)[i]
        signal = back((pull, none))[1][u]
        one = jax.nn.one_hot(u, units, dtype=dtype)
        normal = back((jnp.zeros_like(pull), one))[0]
        raw = -(1 - sample.slope[u]) * signal * normal
        raw = jnp.where(w.is_above[i, u], -raw, raw)
        jump = _projected(rows, leads, raw, at) * length
        _, before = jax.jvp(path, (at,), (jnp.ones_like(at),))
        direction = -sign[0, i, u]
        speed = direction * (normal @ (before + w.gain))
        behind = speed + direction * (normal @ jump)
        polynomial = jnp.tensordot(at_node, w.values, 1)
        # What is 0 for want of a live input all along meets nothing.
        is_live = jnp.any(w.values != 0, axis=0)
        others = (jnp.abs(polynomial) <= _TOGETHER * sizes) & may[0] & is_live
        others = others.reshape(-1).at[entry].set(False)
        beside = (jnp.abs(z) <= _TOGETHER * sizes[0]) & (
            jnp.arange(units, dtype=jnp.int32) != u
        )
        is_plain = (
            may_cross
            & (speed > 0)
            & (behind > _LEAST_SPEED * speed)
            & ~w.has_crossed[i, u]
            & ~jnp.any(others)
            & ~jnp.any(beside)
            & ~jnp.any(is_pinned[i])
            & (w.crossings < _MOST_CROSSINGS)
        )
        crosses = is_one & is_plain
        flipped = w.is_above.at[i, u].set(~w.is_above[i, u])
        gain = w.gain + jump
        lag = w.lag + at * jump
        gates = scales(sample, flipped, is_pinned)[i]
        again = lambda c: sample.one(path(c) + c * gain - lag, x, gates, none)[1]
        values = w.values.at[:, i].set(jax.lax.map(again, nodes))
        size = jnp.linalg.norm(jump)
        crossed = Walk(
            at=at,
            is_above=flipped,
            has_crossed=w.has_crossed.at[i, u].set(True),
            values=values,
            gain=gain,
            lag=lag,
            sizes=w.sizes + size * at ** jnp.arange(4, dtype=dtype),
            crossings=w.crossings + 1,
            stop=jnp.int32(-1),
            goes=jnp.array(True),
            crossed_at=None if w.crossed_at is None else w.crossed_at.at[i, u].set(at),
        )
        ended = w._replace(
            at=jnp.where(is_one, at, 1),
            stop=jnp.where(is_one, entry, -1).astype(jnp.int32),
            goes=jnp.array(False),
        )
        return jax.tree.map(lambda a, b: jnp.where(crosses, a, b), crossed, ended)

    first = Walk(
        at=zero,
        is_above=is_above,
        has_crossed=jnp.zeros_like(is_above),
        values=values,
        gain=jnp.zeros_like(theta),
        lag=jnp.zeros_like(theta),
        sizes=jnp.zeros(4, dtype),
        crossings=jnp.int32(0),
        stop=jnp.int32(-1),
        goes=jnp.array(True),
        crossed_at=jnp.full(is_above.shape, jnp.inf, dtype) if records_events else None,
    )
    return jax.lax.while_loop(lambda w: w.goes, body, first)


def _earliest(
    coefficients: Float[Array, "5 e"],
    is_off: Bool[Array, " e"],
    low: Float[Array, ""],
    high: Float[Array, ""],
) -> tuple[Int[Array, ""], Float[Array, ""]]:
    """The entry whose polynomial turns negative first in a bracket, and when."""

    def halve(_, carry):
        low, high = carry
        middle = (low + high) / 2
        value = coefficients[-1]
        for coefficient in coefficients[-2::-1]:
            value = value * middle + coefficient
        is_below = value < 0
        return jnp.where(is_below, low, middle), jnp.where(is_below, middle, high)

    bracket = jnp.full(is_off.shape, low), jnp.full(is_off.shape, high)
    _, roots = jax.lax.fori_loop(0, 30, halve, bracket)
    roots = jnp.where(is_off, roots, 2)
    entry = jnp.argmin(roots).astype(jnp.int32)
    return entry, roots[entry]


def _projected(
    rows: list[Rows],
    leads: Bool[Array, " s"],
    jump: Float[Array, " p"],
    at: Float[Array, ""],
) -> Float[Array, " p"]:
    """The jump off the normals of the pins, between those at both ends of the step."""

    def change(jump):
        ends = [jump + r.combined(multipliers(r, jump, leads)) for r in rows]
        return (1 - at) * ends[0] + at * ends[1]

    return once(jnp.any(leads), change, jump)
