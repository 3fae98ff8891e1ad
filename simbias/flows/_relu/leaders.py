"""A wide network of few classes, moved as a narrow one.

Neurons that are parallel stay so: what a neuron does under given residuals does not
depend on its size, kinks included.  All those of such a *ray* are y = c Y with one Y of
the size at which Σ c² = 1, which drives the others as they do and meets planes, slides
and leaves as they do.  Neurons of one class are taken for one whose w and a, in units
of |y|, are apart by less than a tenth of the tolerance, as a share of what they are:
Y = Σ c y, so that Σ y yᵀ changes by the square of that, and each of them by that once.
Those of a class that are not parallel, a *bundle*, are moved by representatives for as
long as none of them can meet a plane or leave one.  So no step looks at all neurons.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.classes import ROOM, Classes
from simbias.flows._relu.course import Pins
from simbias.flows._relu.frozen import Rates, Sample, neurons_first, neurons_last
from simbias.flows._relu.led import Led
from simbias.flows._relu.norms import norm_of_rows, unit_rows
from simbias.flows._relu.position import Position
from simbias.flows._relu.representatives import Representatives, representatives
from simbias.numerics.conditionals import when

# Neurons are parallel that are apart by this share of the tolerance.
_PARALLEL = 0.1


class Leaders(eqx.Module):
    """Of every class the rows that stand for its neurons, and how these are made.

    `can_lead` says that there is room for all classes, that no neuron of a bundle is
    about to leave a plane it slides on, and that all are off those they might meet.
    """

    few: Representatives
    is_ray: Bool[Array, " r"]
    led: Led
    clear: Float[Array, " m"]
    can_lead: Bool[Array, ""]

    def narrow(self, position: Position, sample: Sample) -> Position:
        """The network of the leaders."""
        few, led, first = self.few, self.led, self.few.first
        e, q = position.w.shape[1], self.led.group
        w, a = few.weights(e)
        rates = neurons_last(position.rates)
        rates = neurons_first(few.rates(rates, position.pins, sample))
        each = lambda v: jnp.repeat(v[first], q, axis=0)
        is_own = jnp.repeat(self.is_ray, q) & led.is_largest()
        slides = is_own | jnp.repeat(led.is_bundle, q)
        share = few.part[first, -1]
        scale = jnp.repeat(1 / _positive(share), q)
        of_ray = lambda v: jnp.where(is_own[:, None], each(v) * scale[:, None], 0)
        pins = position.pins
        pins = Pins(
            plane=jnp.where(slides[:, None], each(pins.plane), -1),
            dual=jnp.where(slides[:, None, None], each(pins.dual), 0),
            below=of_ray(pins.below),
            above=of_ray(pins.above),
            excursion=of_ray(pins.excursion),
        )
        # How far a ray may turn is found out at its first step: this is another of it.
        clear = jnp.where(is_own, 0, jnp.inf).astype(w.dtype)
        return Position(
            w.T, a.T, each(position.is_above), pins, rates, None, clear, led
        )

    def widened(
        self, narrow: Position, before: Position, is_output_frozen: bool
    ) -> Position:
        """The network of all neurons, once their leaders have come somewhere else."""
        few, led, kind = self.few, self.led, self.few.kind
        e = before.w.shape[1]
        w, a = few.weights(e)
        last = lambda v: led.of_class(v)[kind]
        is_ray, share = self.is_ray[kind][:, None], few.part[:, -1:]
        of_rows = lambda v: v.reshape(-1, led.group, v.shape[1])[kind]
        made = lambda v: jnp.sum(few.part[:, :, None] * of_rows(v), axis=1)
        dw, da = few.up(narrow.w.T - w, narrow.a.T - a)
        pick = lambda rows, moved, old: jnp.where(
            is_ray, share * last(rows), old + moved.T
        )
        rate_w, rate_a = few.up(narrow.rates.w.T, narrow.rates.a.T)
        rates = Rates(
            rate_w.T, rate_a.T, last(narrow.rates.moment), narrow.rates.residual
        )
        pins = Pins(
            plane=last(narrow.pins.plane),
            dual=last(narrow.pins.dual),
            below=made(narrow.pins.below),
            above=made(narrow.pins.above),
            excursion=made(narrow.pins.excursion),
        )
        left = jnp.maximum(self.clear - led.turned(narrow.w)[kind], 0)
        clear = jnp.where(self.is_ray[kind], last(narrow.clear), left)
        sides = led.of_class(narrow.is_above)
        spread = when(lambda here, _: here[0][here[1]])
        is_above = spread(
            jnp.any(sides != before.is_above[few.first]), (sides, kind), before.is_above
        )
        return Position(
            pick(narrow.w, dw, before.w),
            before.a if is_output_frozen else pick(narrow.a, da, before.a),
            is_above,
            pins,
            rates,
            before.classes,
            clear,
        )


def leaders(
    position: Position,
    known: Classes,
    clear: Float[Array, " m"],
    sample: Sample,
    rtol: Float[Array, ""],
    length: Float[Array, ""],
) -> Leaders:
    """Those of a network whose neurons are of these classes.

    Args:
        position: of all neurons.
        known: their classes.
        clear: how far each may turn.
        sample: the data.
        rtol: the tolerance.
        length: of the next step.
    """
    w, a, kind, first = position.w, position.a, known.kind, known.first
    size, long = norm_of_rows(w, a), norm_of_rows(w)
    apart = jnp.maximum(_apart(w, size, known), _apart(a, size, known))
    most = lambda v: jnp.maximum(jax.ops.segment_max(v, kind, ROOM), 0)
    count = jax.ops.segment_sum(jnp.ones_like(size), kind, ROOM)
    is_ray = (most(apart) <= _PARALLEL * rtol) & (count > 0) & (size[first] > 0)
    few = _with_rays(
        _upright(representatives(w, a, known, position.pins, sample)), is_ray, w, a
    )

    q = few.root.shape[1]
    rows = lambda v: most(jnp.where(few.part != 0, jnp.abs(few.part) / v, 0)).ravel()
    reach = rows(_positive(size)[:, None])
    is_bundle = (count > 0) & ~is_ray
    of_class = -jax.ops.segment_max(-clear, kind, ROOM)
    led = Led(
        size=jnp.where(reach > 0, 1 / _positive(reach), 0),
        count=jnp.repeat(count, q),
        w=few.weights(w.shape[1])[0].T,
        reach=rows(long[:, None]),
        least=-jax.ops.segment_max(-few.part[:, -1] / _positive(size), kind, ROOM),
        clear=jnp.where(is_bundle, of_class, jnp.inf),
        is_bundle=is_bundle,
        group=q,
    )
    heading = w + length.astype(w.dtype) * position.rates.w
    turns = norm_of_rows(unit_rows(heading) - unit_rows(w))
    is_off = most(jnp.where(turns > 0, turns - clear / 2, 0)) == 0
    pins = position.pins
    holds = (pins.below > 0) & (pins.above < 0) & (pins.excursion == 0)
    is_loose = jnp.any((pins.plane >= 0) & ~holds, axis=1)
    is_held = most(is_loose.astype(w.dtype)) == 0
    can_lead = known.is_enough & jnp.all(~is_bundle | is_off & is_held)
    return Leaders(few, is_ray, led, clear, can_lead)


def _apart(
    v: Float[Array, "m _"], size: Float[Array, " m"], known: Classes
) -> Float[Array, " m"]:
    """How far v/|y| is from that of the first neuron of its class, as a share of it.

    Of w and of a by itself: where one of them is tiny its direction still decides.
    """
    unit = v / _positive(size)[:, None]
    first = unit[known.first][known.kind]
    apart, length = norm_of_rows(unit - first), norm_of_rows(first)
    of_none = jnp.where(apart > 0, jnp.inf, 0)
    return jnp.where(length > 0, apart / _positive(length), of_none)


def _upright(few: Representatives) -> Representatives:
    """The largest row of each class such that its first neuron has a positive part."""
    sign = jnp.where(few.part[few.first, -1] < 0, -1, 1).astype(few.part.dtype)
    last = few.part[:, -1] * sign[few.kind], few.root[:, :, -1] * sign[:, None]
    return eqx.tree_at(
        lambda f: (f.part, f.root),
        few,
        (few.part.at[:, -1].set(last[0]), few.root.at[:, :, -1].set(last[1])),
    )


def _with_rays(
    few: Representatives,
    is_ray: Bool[Array, " r"],
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
) -> Representatives:
    """Of each ray one row, the last, which has Σ |w|² and Σ |a|² of all."""
    kind, size = few.kind, norm_of_rows(w, a)
    unit = _positive(jax.ops.segment_max(size, kind, ROOM))
    scaled = size / unit[kind]
    total = jax.ops.segment_sum(scaled**2, kind, ROOM)
    row = jnp.concatenate([_sum(v, scaled, kind) for v in (w, a)], axis=1)
    is_last = jnp.arange(few.root.shape[1]) == few.root.shape[1] - 1
    ray = jnp.where(is_last, row[:, :, None], 0)
    share = jnp.where(is_last, (scaled / _positive(jnp.sqrt(total))[kind])[:, None], 0)
    return eqx.tree_at(
        lambda f: (f.root, f.part),
        few,
        (
            jnp.where(is_ray[:, None, None], ray, few.root),
            jnp.where(is_ray[kind][:, None], share, few.part),
        ),
    )


def _sum(
    v: Float[Array, "m e"], weight: Float[Array, " m"], kind: Int[Array, " m"]
) -> Float[Array, "r e"]:
    """Along the weighted sums of each class, with Σ |v|² of it."""
    unit = _positive(jax.ops.segment_max(norm_of_rows(v), kind, ROOM))
    scaled = v / unit[kind][:, None]
    total = jax.ops.segment_sum(weight[:, None] * scaled, kind, ROOM)
    square = jax.ops.segment_sum(jnp.sum(scaled**2, axis=1), kind, ROOM)
    factor = unit * jnp.sqrt(square) / _positive(norm_of_rows(total))
    return factor[:, None] * total


def _positive(v: Float[Array, "*s"]) -> Float[Array, "*s"]:
    return jnp.where(v > 0, v, 1)
