"""One attempted step of the exact flow of a ReLU network."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.by_class import field_at
from simbias.flows._relu.classes import Classes, classes
from simbias.flows._relu.clearance import turned_by
from simbias.flows._relu.course import Course, Pins, control_points
from simbias.flows._relu.crossings import MAX_EVENTS
from simbias.flows._relu.decoupled import lag_of_growth
from simbias.flows._relu.events import Events, kinds_of_leaving
from simbias.flows._relu.frozen import Rates, Sample, output_rates
from simbias.flows._relu.led import Led, sizes
from simbias.flows._relu.leg import Method, first_leg, whole_step
from simbias.flows._relu.norms import largest_of_rows, norm_of_rows, rounding
from simbias.flows._relu.pins import pinned_normals, project
from simbias.flows._relu.position import Position, choices_at_apex
from simbias.flows._relu.releases import Held, release
from simbias.flows._relu.rows import on_wanted_rows, rows_at_once, rows_of
from simbias.flows._relu.smooth_step import Stiffness
from simbias.numerics.conditionals import when
from simbias.numerics.precision import matmul

# Powers of the step in the errors of one event, and of what it does to the others.
_EVENT_ORDER, _COUPLING_ORDER = 3, 2
# A step whose events do not stand is tried again at about half its length.
_HALVE = 1.8


class Attempt(NamedTuple):
    """Where the step ends, its error in units of the tolerance, and its events."""

    position: Position
    error: Float[Array, ""]
    order: Float[Array, ""]
    evaluations: Int[Array, ""]
    stiffness: Stiffness | None
    crossings: Int[Array, ""]
    pinned: Int[Array, ""]
    released: Int[Array, ""]
    choices: Int[Array, ""]
    is_full: Bool[Array, ""]
    events: Events | None
    strays: Bool[Array, ""] | None


def attempt_step(
    position: Position,
    sample: Sample,
    length: Float[Array, ""],
    method: Method,
    stiffness: Stiffness | None,
    is_alone: Bool[Array, ""] | None = None,
) -> Attempt:
    """Integrate with the pattern frozen, then put right what met a hyperplane.

    1. A Runge–Kutta step of the frozen field gives r(t) and a course for every neuron.
    2. Neurons that meet hyperplanes follow their events under that r(t).
    3. The field anew: what the events changed in r moves all neurons a little (δr
       grows about linearly from each event to the end, hence the factor κ/2).
    4. Pins that no longer hold are released.

    Where it `is_alone` each neuron is followed by itself instead, under residuals that
    stand still, and what f moves in them is the error.
    """
    slope, led = method.slope, position.led
    leg = first_leg(position, sample, length, method, stiffness, is_alone)
    course, clear, end, error, late, order, evaluations, stiffness = leg
    size = sizes(position.w, position.a, led)
    share = lambda *parts: norm_of_rows(*parts) / jnp.where(size > 0, size, 1)

    w, a, pins = course.end.w, course.end.a, course.pins
    has_met = jnp.any(course.meetings > 0)
    known = _classes_if(has_met, course.is_above, pins, position.classes)
    rates = field_at(w, a, course.is_above, pins, known, sample, slope, led)
    weight = norm_of_rows(a)
    total = jnp.sum(weight * course.shift)
    has_events = total > 0
    kappa = jnp.sum(weight * course.lag) / jnp.where(has_events, total, 1)
    half = jnp.where(has_events, kappa / 2 * length, 0)
    if stiffness is not None:
        # What decays fast follows at once, and comes to rest at δθ' / ρ.
        decay = jnp.where(stiffness.is_stiff, stiffness.radius, 0)
        half = half / (1 + decay * half)
    dw, da = half * (rates.w - course.end.dw), half * (rates.a - course.end.da)
    w, a = w + dw, a + da

    drive = length * jnp.sum(a[:, :, None] * rates.moment, axis=1)
    limit = rounding(w) * largest_of_rows(w, position.w, drive)
    is_endless = course.meetings >= MAX_EVENTS
    if is_alone is not None:
        is_endless &= ~is_alone
    is_above, is_undone = _standing(course, position, sample, w, limit, is_endless)

    none = jnp.zeros(w.shape[:1], jnp.int32)
    no = jnp.zeros_like(is_undone)
    held = Held(w, a, rates.moment, is_above, pins, none, none, no)
    pull, tolerance = sample.pulls(rates.residual), method.rtol * size
    are_own = None if led is None else led.are_own()
    held = release(held, sample, pull, length, slope, tolerance, method.rows, are_own)
    let_go = share(held.w - w)
    if not sample.is_output_frozen:
        w, a = _rebalanced(held.w, held.a, position)
        held = held._replace(w=w, a=a)
    moved = share(end.w - position.w, end.a - position.a)
    change = moved + _change(position.rates.moment, late.moment)
    kink = share(course.shift[:, None]) * change ** (_EVENT_ORDER - 1)
    kink = kink + let_go * change + jnp.where(is_endless, moved, 0)
    relative = lambda v: _root_mean_square(v, moved, led) / method.rtol
    scaled = jnp.maximum(
        relative(share(error.w, error.a)),
        jnp.maximum(
            relative(kink) ** (order / _EVENT_ORDER),
            relative(share(dw, da)) ** (order / _COUPLING_ORDER),
        ),
    )
    if is_alone is not None:
        felt = lag_of_growth(position, length) * share(
            rates.w - course.end.dw, rates.a - course.end.da
        )
        felt = jnp.where(jnp.all(course.begin == 1), relative(felt), jnp.inf)
        scaled = jnp.where(is_alone, felt, scaled)
    is_undone |= held.is_over
    scaled = jnp.where(jnp.any(is_undone), jnp.maximum(scaled, _HALVE**order), scaled)
    choices = choices_at_apex(position, held.w, held.a, pull, sample, slope)
    behind = jnp.int32(1) if led is None else led.count.astype(jnp.int32)
    count = lambda v: jnp.sum(v * behind).astype(jnp.int32)
    events = course.events
    if events is not None:
        plane = course.pins.plane
        leaves = (plane >= 0) & (held.pins.plane != plane)
        plane = jnp.maximum(plane, 0)
        is_up = jnp.take_along_axis(held.is_above, plane, axis=1)
        now = jnp.ones_like(course.begin)
        events = events.noted(now, plane, kinds_of_leaving(is_up, leaves))
    has_changed = jnp.any(held.released > 0) | jnp.any(is_endless)
    known = _classes_if(has_changed, held.is_above, held.pins, known)
    if clear is not None:
        clear = turned_by(clear, course.end.w, held.w)
        clear = jnp.where(held.released > 0, 0, clear)
    strays = None
    if led is not None:
        points = control_points(whole_step(position, end, late), length)
        strays = led.may_meet(*points, held.w) | ~led.hold(held.pins)
    return Attempt(
        position=_arrived(held, rates.residual, sample, known, clear, led),
        error=scaled,
        order=order,
        evaluations=evaluations,
        stiffness=stiffness,
        crossings=count(course.crossings),
        pinned=count(course.pinned),
        released=count(course.released) + count(held.released),
        choices=count(held.choices + choices),
        is_full=jnp.any(course.is_full),
        events=events,
        strays=strays,
    )


def _classes_if(
    has_changed: Bool[Array, ""],
    is_above: Bool[Array, "m n"],
    pins: Pins,
    known: Classes | None,
) -> Classes | None:
    """The classes, found anew if sides or pins have changed."""
    if known is None:
        return None
    anew = lambda here, _: classes(*here)
    return when(anew)(has_changed, (is_above, pins), known)


def _standing(
    course: Course,
    position: Position,
    sample: Sample,
    w: Float[Array, "m e"],
    limit: Float[Array, " m"],
    is_endless: Bool[Array, " m"],
) -> tuple[Bool[Array, "m n"], Bool[Array, " m"]]:
    """Sides at the end of a step, and neurons whose events did not bring them there.

    Those whose events did not end are on the sides on which they are seen.  `w` is off
    a plane if it is further from it than `limit`.
    """
    m, n = course.is_above.shape
    first = sample.planes.first

    def look(context, some):
        w, limit, is_endless, before, normal, first = context
        place, is_above, _, _ = some
        take = lambda v: v.at[place].get(mode="clip")
        h, limit = matmul(take(w), normal.T), take(limit)[:, None]
        is_off = jnp.where(is_above, h < -limit, h > limit)
        is_endless = take(is_endless)
        is_reset = (is_off & is_endless[:, None])[:, first]
        flipped = is_above != take(before)
        is_undone = jnp.any(is_off & flipped, axis=1) & ~is_endless
        is_above = jnp.where(is_reset, (h > 0)[:, first], is_above)
        return place, is_above, is_undone, place < 0

    place, no = jnp.arange(m, dtype=jnp.int32), jnp.zeros(m, bool)
    tree = place, course.is_above, no, course.meetings > 0
    context = w, limit, is_endless, position.is_above, sample.normal, first
    wanted, every = lambda v: v[3], rows_of(tree)
    every = on_wanted_rows(look, wanted, context, every, rows_at_once(m, n))
    _, is_above, is_undone, _ = every.tree
    return is_above, is_undone


def _root_mean_square(
    value: Float[Array, " m"], moved: Float[Array, " m"], led: Led | None
) -> Float[Array, ""]:
    """Over neurons, each counted by how far it moves: resting ones loosen nothing.

    Those of a narrow network count for all that are behind them, and the errors of the
    rows of a class add up.
    """
    count = jnp.ones_like(value)
    if led is not None:
        value, is_largest = value * jnp.sqrt(led.count), led.is_largest()
        count, moved = (jnp.where(is_largest, v, 0) for v in (led.count, moved))
    most = jnp.max(moved)
    part = jnp.where(most > 0, moved / jnp.where(most > 0, most, 1), 1)
    return jnp.sqrt(jnp.sum(value**2) / jnp.sum(count * part))


def _change(
    early: Float[Array, "m k e"], late: Float[Array, "m k e"]
) -> Float[Array, " m"]:
    """By what share of itself the moment of each neuron changes in the step.

    Events take the moments to be linear in time.  For a neuron that hardly moves it is
    the others that bend them.
    """
    early, late = (v.reshape(v.shape[0], -1) for v in (early, late))
    size = norm_of_rows(early, late)
    return norm_of_rows(late - early) / jnp.where(size > 0, size, 1)


def _rebalanced(
    w: Float[Array, "m e"], a: Float[Array, "m k"], before: Position
) -> tuple[Float[Array, "m e"], Float[Array, "m k"]]:
    """Put |a|² − |w|² of every neuron back to what it was, which the flow keeps.

    (1 + δ)w and (1 − δ)a, to first order the nearest point with that value.  No sign of
    w·x changes, and a·w only by δ²: nothing that was computed at (w, a) is touched.

    Reference: Hairer, Lubich & Wanner (2006), Geometric numerical integration, IV.4.
    """
    size = norm_of_rows(w, a)[:, None]
    unit = jnp.where(size > 0, size, 1)
    square = lambda v: jnp.sum((v / unit) ** 2, axis=1, keepdims=True)
    change = square(a) - square(w) - (square(before.a) - square(before.w))
    delta = change / 2
    return (1 + delta) * w, (1 - delta) * a


def _arrived(
    held: Held,
    residual: Float[Array, "n k"],
    sample: Sample,
    known: Classes | None,
    clear: Float[Array, " m"] | None,
    led: Led | None,
) -> Position:
    normals = pinned_normals(sample.normal, held.pins.plane)
    drive = jnp.sum(held.a[:, :, None] * held.moment, axis=1)
    rates = Rates(
        w=project(drive, normals, held.pins.dual),
        a=output_rates(
            held.moment * held.w[:, None, :], sample.is_output_frozen, axis=2
        ),
        moment=held.moment,
        residual=residual,
    )
    return Position(held.w, held.a, held.is_above, held.pins, rates, known, clear, led)
