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

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.activation_classes import ROOM, ActivationClasses
from simbias.flows._relu.aggregated import Aggregated
from simbias.flows._relu.class_basis import ClassBasis, class_basis
from simbias.flows._relu.frozen import Rates, Sample, neurons_first, neurons_last
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.norms import norm_of_rows, unit_rows
from simbias.flows._relu.step_trajectory import Sliding
from simbias.numerics.conditionals import when

# Neurons are parallel that are apart by this share of the tolerance.
_PARALLEL = 0.1


class Aggregation(eqx.Module):
    """Of every class the rows that stand for its neurons, and how these are made.

    `can_lead` says that there is room for all classes, that no neuron of a bundle is
    about to leave a plane it slides on, and that all are off those they might meet.
    """

    few: ClassBasis
    is_ray: Bool[Array, " r"]
    aggregated: Aggregated
    clear: Float[Array, " m"]
    is_usable: Bool[Array, ""]

    def narrow(self, neurons: NeuronState, sample: Sample) -> NeuronState:
        """The aggregated network."""
        few, aggregated, first = self.few, self.aggregated, self.few.first
        e, q = neurons.w.shape[1], self.aggregated.group
        w, a = few.weights(e)
        rates = neurons_last(neurons.rates)
        rates = neurons_first(few.rates(rates, neurons.sliding, sample))
        each = lambda v: jnp.repeat(v[first], q, axis=0)
        is_own = jnp.repeat(self.is_ray, q) & aggregated.is_largest()
        slides = is_own | jnp.repeat(aggregated.is_bundle, q)
        share = few.part[first, -1]
        scale = jnp.repeat(1 / _positive(share), q)
        of_ray = lambda v: jnp.where(is_own[:, None], each(v) * scale[:, None], 0)
        sliding = neurons.sliding
        sliding = Sliding(
            plane=jnp.where(slides[:, None], each(sliding.plane), -1),
            dual=jnp.where(slides[:, None, None], each(sliding.dual), 0),
            below=of_ray(sliding.below),
            above=of_ray(sliding.above),
            excursion=of_ray(sliding.excursion),
        )
        # How far a ray may turn is found out at its first step: this is another of it.
        clear = jnp.where(is_own, 0, jnp.inf).astype(w.dtype)
        return NeuronState(
            w.T, a.T, each(neurons.is_above), sliding, rates, None, clear, aggregated
        )

    def widened(
        self, narrow: NeuronState, before: NeuronState, is_output_frozen: bool
    ) -> NeuronState:
        """The network of all neurons, once the aggregated network has moved."""
        few, aggregated, class_of = self.few, self.aggregated, self.few.class_of
        e = before.w.shape[1]
        w, a = few.weights(e)
        last = lambda v: aggregated.of_class(v)[class_of]
        is_ray, share = self.is_ray[class_of][:, None], few.part[:, -1:]
        of_rows = lambda v: v.reshape(-1, aggregated.group, v.shape[1])[class_of]
        made = lambda v: jnp.sum(few.part[:, :, None] * of_rows(v), axis=1)
        dw, da = few.up(narrow.w.T - w, narrow.a.T - a)
        pick = lambda rows, moved, old: jnp.where(
            is_ray, share * last(rows), old + moved.T
        )
        rate_w, rate_a = few.up(narrow.rates.w.T, narrow.rates.a.T)
        rates = Rates(
            rate_w.T, rate_a.T, last(narrow.rates.moment), narrow.rates.residual
        )
        sliding = Sliding(
            plane=last(narrow.sliding.plane),
            dual=last(narrow.sliding.dual),
            below=made(narrow.sliding.below),
            above=made(narrow.sliding.above),
            excursion=made(narrow.sliding.excursion),
        )
        left = jnp.maximum(self.clear - aggregated.turned(narrow.w)[class_of], 0)
        clear = jnp.where(self.is_ray[class_of], last(narrow.clear), left)
        sides = aggregated.of_class(narrow.is_above)
        spread = when(lambda here, _: here[0][here[1]])
        is_above = spread(
            jnp.any(sides != before.is_above[few.first]),
            (sides, class_of),
            before.is_above,
        )
        return NeuronState(
            pick(narrow.w, dw, before.w),
            before.a if is_output_frozen else pick(narrow.a, da, before.a),
            is_above,
            sliding,
            rates,
            before.classes,
            clear,
        )


def aggregation(
    neurons: NeuronState,
    known: ActivationClasses,
    clear: Float[Array, " m"],
    sample: Sample,
    rtol: Float[Array, ""],
    length: Float[Array, ""],
) -> Aggregation:
    """Those of a network whose neurons are of these classes.

    Args:
        neurons: of all neurons.
        known: their classes.
        clear: how far each may turn.
        sample: the data.
        rtol: the tolerance.
        length: of the next step.
    """
    w, a, class_of, first = neurons.w, neurons.a, known.class_of, known.first
    size, long = norm_of_rows(w, a), norm_of_rows(w)
    apart = jnp.maximum(_apart(w, size, known), _apart(a, size, known))
    most = lambda v: jnp.maximum(jax.ops.segment_max(v, class_of, ROOM), 0)
    count = jax.ops.segment_sum(jnp.ones_like(size), class_of, ROOM)
    is_ray = (most(apart) <= _PARALLEL * rtol) & (count > 0) & (size[first] > 0)
    few = _with_rays(
        _upright(class_basis(w, a, known, neurons.sliding, sample)), is_ray, w, a
    )

    q = few.root.shape[1]
    rows = lambda v: most(jnp.where(few.part != 0, jnp.abs(few.part) / v, 0)).ravel()
    reach = rows(_positive(size)[:, None])
    is_bundle = (count > 0) & ~is_ray
    of_class = -jax.ops.segment_max(-clear, class_of, ROOM)
    aggregated = Aggregated(
        size=jnp.where(reach > 0, 1 / _positive(reach), 0),
        count=jnp.repeat(count, q),
        w=few.weights(w.shape[1])[0].T,
        reach=rows(long[:, None]),
        least=-jax.ops.segment_max(-few.part[:, -1] / _positive(size), class_of, ROOM),
        clear=jnp.where(is_bundle, of_class, jnp.inf),
        is_bundle=is_bundle,
        group=q,
    )
    heading = w + length.astype(w.dtype) * neurons.rates.w
    turns = norm_of_rows(unit_rows(heading) - unit_rows(w))
    is_off = most(jnp.where(turns > 0, turns - clear / 2, 0)) == 0
    sliding = neurons.sliding
    holds = (sliding.below > 0) & (sliding.above < 0) & (sliding.excursion == 0)
    is_loose = jnp.any((sliding.plane >= 0) & ~holds, axis=1)
    is_held = most(is_loose.astype(w.dtype)) == 0
    is_usable = known.is_enough & jnp.all(~is_bundle | is_off & is_held)
    return Aggregation(few, is_ray, aggregated, clear, is_usable)


def _apart(
    v: Float[Array, "m _"], size: Float[Array, " m"], known: ActivationClasses
) -> Float[Array, " m"]:
    """How far v/|y| is from that of the first neuron of its class, as a share of it.

    Of w and of a by itself: where one of them is tiny its direction still decides.
    """
    unit = v / _positive(size)[:, None]
    first = unit[known.first][known.class_of]
    apart, length = norm_of_rows(unit - first), norm_of_rows(first)
    of_none = jnp.where(apart > 0, jnp.inf, 0)
    return jnp.where(length > 0, apart / _positive(length), of_none)


def _upright(few: ClassBasis) -> ClassBasis:
    """The largest row of each class such that its first neuron has a positive part."""
    sign = jnp.where(few.part[few.first, -1] < 0, -1, 1).astype(few.part.dtype)
    last = few.part[:, -1] * sign[few.class_of], few.root[:, :, -1] * sign[:, None]
    return replace(
        few,
        part=few.part.at[:, -1].set(last[0]),
        root=few.root.at[:, :, -1].set(last[1]),
    )


def _with_rays(
    few: ClassBasis,
    is_ray: Bool[Array, " r"],
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
) -> ClassBasis:
    """Of each ray one row, the last, which has Σ |w|² and Σ |a|² of all."""
    class_of, size = few.class_of, norm_of_rows(w, a)
    unit = _positive(jax.ops.segment_max(size, class_of, ROOM))
    scaled = size / unit[class_of]
    total = jax.ops.segment_sum(scaled**2, class_of, ROOM)
    row = jnp.concatenate([_sum(v, scaled, class_of) for v in (w, a)], axis=1)
    is_last = jnp.arange(few.root.shape[1]) == few.root.shape[1] - 1
    ray = jnp.where(is_last, row[:, :, None], 0)
    share = jnp.where(
        is_last, (scaled / _positive(jnp.sqrt(total))[class_of])[:, None], 0
    )
    return replace(
        few,
        root=jnp.where(is_ray[:, None, None], ray, few.root),
        part=jnp.where(is_ray[class_of][:, None], share, few.part),
    )


def _sum(
    v: Float[Array, "m e"], weight: Float[Array, " m"], class_of: Int[Array, " m"]
) -> Float[Array, "r e"]:
    """Along the weighted sums of each class, with Σ |v|² of it."""
    unit = _positive(jax.ops.segment_max(norm_of_rows(v), class_of, ROOM))
    scaled = v / unit[class_of][:, None]
    total = jax.ops.segment_sum(weight[:, None] * scaled, class_of, ROOM)
    square = jax.ops.segment_sum(jnp.sum(scaled**2, axis=1), class_of, ROOM)
    factor = unit * jnp.sqrt(square) / _positive(norm_of_rows(total))
    return factor[:, None] * total


def _positive(v: Float[Array, "*s"]) -> Float[Array, "*s"]:
    return jnp.where(v > 0, v, 1)
