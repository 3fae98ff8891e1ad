"""A trajectory followed again together with its tangents, from event to event."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import EventKind
from simbias.variational.events import Event, Sides, most_pins
from simbias.variational.fixed_pattern import (
    Pattern,
    Problem,
    Sample,
    Weights,
    advanced,
    sizes,
    velocity,
)

# Speed towards a boundary over the largest possible, below which a neuron grazes it.
_GRAZES = 1e-6
# Growth of a perturbation beyond which its digits are those of rounding.
_LOST = 1e9
# A pre-activation on the wrong side by more than this share shows a missed event.
_WRONG = 1e-5
# The field may jump by this share of the drive where nothing but a release happens.
_CONTINUOUS = 1e-6
_NEWTON = 8
# A release is looked for within this share of its time.
_NEAR = 0.05
# Two events are at one time within this share of it.
_SAME_TIME = 1e-8

Finding = Literal["finished", "grazing", "saddle", "missed event", "not reached"]


class Place(NamedTuple):
    """Weights and tangents at a time."""

    weights: Weights
    tangent: Weights
    time: float


class End(NamedTuple):
    """Where the trajectory ends, and how much perturbations of the start have grown."""

    place: Place
    finding: Finding
    growth: float


class Path:
    """A trajectory with its tangents.

    Between events V' = ∂F/∂θ V + ∂F/∂ε.  Where a neuron meets a boundary h = 0, whether
    it crosses it or begins to slide, and whatever lets it go from others,

        V⁺ = V⁻ + (F⁺ − F⁻) dh/(∇h·F⁻),   dh = ∇h·V⁻ + ∂h/∂ε.

    At a release F is continuous, and V too.  Times of events are found by Newton's
    method; recorded ones are where it begins.  Events that turn out to be in another
    order than recorded are followed in their true order.
    """

    def __init__(
        self,
        problem: Problem,
        sample: Sample,
        along: Sample,
        sides: Sides,
        events: list[Event],
        tolerances: tuple[float, float],
    ):
        self._problem, self._sample, self._along = problem, sample, along
        self._sides, self._events = sides, list(events)
        self._room = most_pins(events, len(sides.gate))
        self._tolerances = jnp.asarray(tolerances)

    def followed(self, weights: Weights, tangent: Weights, time: float) -> End:
        """To a time."""
        relative = lambda place: sizes(place.tangent) / sizes(place.weights)
        place = Place(weights, tangent, 0.0)
        first = relative(place)
        place, finding = self._through_all(place)
        if finding == "finished":
            place = self._to(place, time)
            finding = self._checked(place)
        grown = jnp.where(first > 0, relative(place) / first, 1.0)
        growth = float(jnp.max(grown))
        if finding == "finished" and not growth < _LOST:
            finding = "saddle"
        return End(place, finding, growth)

    def _through_all(self, place: Place) -> tuple[Place, Finding]:
        """Across all events, in the order in which they happen."""
        events, before = self._events, []
        swaps = 10 * len(events)
        k = 0
        while k < len(events):
            before = [*before[:k], (place, self._sides.copy())]
            after, finding = self._through(place, events[k])
            if finding != "finished":
                return after, finding
            if after.time < place.time * (1 - _SAME_TIME):
                can_swap = k > 0 and events[k].may_precede(events[k - 1])
                if not can_swap or swaps == 0:
                    return after, "missed event"
                events[k - 1], events[k] = events[k], events[k - 1]
                k, swaps = k - 1, swaps - 1
                place, self._sides = before[k]
                continue
            place, k = after, k + 1
        return place, "finished"

    def _velocity(self, weights: Weights, pattern: Pattern) -> Weights:
        return velocity(self._problem, weights, self._sample, pattern)

    def _pattern(self) -> Pattern:
        sides = self._sides
        pins = np.full((len(sides.pins), self._room), -1)
        gate = sides.gate.copy()
        for j, row in enumerate(sides.pins):
            pins[j, : len(row)] = row
            gate[j, row] = 0.0
        return Pattern(jnp.asarray(gate), jnp.asarray(pins))

    def _to(self, place: Place, end: float) -> Place:
        if place.time == end:
            return place
        ends = jnp.asarray([place.time, end])
        both = self._sample, self._along
        state = place.weights, place.tangent
        state = advanced(
            self._problem, state, both, self._pattern(), ends, self._tolerances
        )
        return Place(*state, end)

    def _through(self, place: Place, event: Event) -> tuple[Place, Finding]:
        """Across one event."""
        place = self._to(place, max(event.time, place.time))
        step = self._release if event.is_release else self._meeting
        return step(place, event)

    def _meeting(self, place: Place, event: Event) -> tuple[Place, Finding]:
        """A neuron meets a boundary: the saltation matrix."""
        j, before = event.neuron, self._pattern()
        x, along = self._sample.x[event.cause.sample], self._along.x
        speed = 0.0
        for _ in range(_NEWTON):
            moves = self._velocity(place.weights, before).w[j]
            speed = float(moves @ x)
            if not abs(speed) > _GRAZES * _length(moves) * _length(x):
                return place, "grazing"
            off = -float(place.weights.w[j] @ x) / speed
            place = self._to(place, place.time + off)
            if abs(off) <= 1e-14 * abs(place.time):
                break
        old = self._velocity(place.weights, before)
        self._sides.change(event)
        new = self._velocity(place.weights, self._pattern())
        weights, tangent, now = place
        shift = tangent.w[:, j] @ x + along[:, event.cause.sample] @ weights.w[j]
        jumped = jax.tree.map(
            lambda v, one, two: v + (two - one)[None] * (shift / speed)[:, None, None],
            tangent,
            old,
            new,
        )
        place = Place(weights, jumped, now)
        return place, self._checked(place)

    def _release(self, place: Place, event: Event) -> tuple[Place, Finding]:
        """At the time at which the field of the free side no longer pushes back."""
        j, i = event.neuron, event.cause.sample
        held, slides = self._sides.pins[j], self._pattern()
        free = [k for k in held if k != i]
        up = event.cause.kind == EventKind.LEAVES_UP
        gate = slides.gate.at[j, i].set(1.0 if up else self._sides.slope)
        row = jnp.asarray(free + [-1] * (self._room - len(free)))
        let_go = Pattern(gate, slides.pins.at[j].set(row))
        x = self._sample.x[i]
        push = lambda weights: self._velocity(weights, let_go).w[j] @ x
        recorded = place.time
        for _ in range(_NEWTON):
            along = self._velocity(place.weights, slides)
            value, change = jax.jvp(push, (place.weights,), (along,))
            off = -float(value / change) if float(change) else 0.0
            if not abs(place.time + off - recorded) < _NEAR * recorded:
                break
            place = self._to(place, place.time + off)
            if abs(off) <= 1e-13 * place.time:
                break
        jump = abs(float(push(place.weights)))
        largest = _length(self._velocity(place.weights, let_go).w[j]) * _length(x)
        if jump > _CONTINUOUS * largest:
            return place, "missed event"
        self._sides.change(event)
        return place, "finished"

    def _checked(self, place: Place) -> Finding:
        """Whether every neuron is where the events say."""
        w, x = place.weights.w, self._sample.x
        h = np.asarray(w @ x.T)
        size = np.outer(jnp.linalg.norm(w, axis=1), jnp.linalg.norm(x, axis=1))
        side = np.where(self._sides.gate == 1.0, 1.0, -1.0)
        wrong = (side * h < -_WRONG * size) & (np.asarray(self._sample.weight) > 0)
        for j, row in enumerate(self._sides.pins):
            wrong[j, row] = np.abs(h[j, row]) > _WRONG * size[j, row]
        return "missed event" if bool(np.any(wrong)) else "finished"


def _length(v: jax.Array) -> float:
    return float(jnp.linalg.norm(v))
