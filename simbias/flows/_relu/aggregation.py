"""A wide network of few classes, moved as a narrow one.

Neurons that are parallel stay so: what a neuron does under given residuals does not
depend on its size, kinks included.  All those of such a *ray* are y = c Y with one Y of
the size at which Σ c² = 1, which drives the others as they do and meets planes, slides
and leaves as they do.  The neurons of a class are taken for parallel if each w/|y|, and
each a/|y|, differs from that of the first of them by less than a tenth of the tolerance
of its own length: Y = Σ c y, so that Σ y yᵀ changes to second order in that difference,
and a neuron to first order.
Those of a class that are not parallel, a *bundle*, are moved by representatives for as
long as none of them can meet a plane or leave one.  So no step looks at all neurons.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.activation_classes import MAX_CLASSES, ActivationClasses
from simbias.flows._relu.class_basis import ClassBasis, class_basis
from simbias.flows._relu.frozen_field import (
    FlowVector,
    Sample,
    neurons_first,
    neurons_last,
)
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.norms import direction_change, norm_of_rows, positive_or_one
from simbias.flows._relu.represented_neurons import RepresentedNeurons
from simbias.flows._relu.sliding import is_attracting
from simbias.flows._relu.step_trajectory import Sliding
from simbias.numerics.conditionals import when

# Neurons are parallel that are apart by this share of the tolerance.
_PARALLEL = 0.1


class Aggregation(eqx.Module):
    """Of every class the rows that stand for its neurons, and how these are made.

    `is_usable` says that there is room for all classes, that no neuron of a bundle is
    about to leave a plane it slides on, and that none is about to meet a plane.
    """

    basis: ClassBasis
    is_ray: Bool[Array, " r"]
    represented: RepresentedNeurons
    clearance: Float[Array, " m"]
    is_usable: Bool[Array, ""]

    def narrow(self, neurons: NeuronState, sample: Sample) -> NeuronState:
        """The aggregated network."""
        basis, represented, first = self.basis, self.represented, self.basis.first
        e, q = neurons.w.shape[1], self.represented.group
        w, a = basis.weights(e)
        rates = neurons_last(neurons.rates)
        rates = neurons_first(basis.rates(rates, neurons.sliding, sample))
        each = lambda v: jnp.repeat(v[first], q, axis=0)
        is_own = jnp.repeat(self.is_ray, q) & represented.is_largest()
        slides = is_own | jnp.repeat(represented.is_bundle, q)
        share = basis.part[first, -1]
        scale = jnp.repeat(1 / positive_or_one(share), q)
        of_ray = lambda v: jnp.where(is_own[:, None], each(v) * scale[:, None], 0)
        sliding = neurons.sliding
        sliding = Sliding(
            plane=jnp.where(slides[:, None], each(sliding.plane), -1),
            dual=jnp.where(slides[:, None, None], each(sliding.dual), 0),
            speed_below=of_ray(sliding.speed_below),
            speed_above=of_ray(sliding.speed_above),
            excursion=of_ray(sliding.excursion),
        )
        # How far a ray may turn is found out at its first step: this is another of it.
        clearance = jnp.where(is_own, 0, jnp.inf).astype(w.dtype)
        return NeuronState(
            w.T,
            a.T,
            each(neurons.is_above),
            sliding,
            rates,
            None,
            clearance,
            represented,
        )

    def widened(
        self, narrow: NeuronState, before: NeuronState, is_output_frozen: bool
    ) -> NeuronState:
        """The network of all neurons, once the aggregated network has moved."""
        basis, represented, class_of = self.basis, self.represented, self.basis.class_of
        e = before.w.shape[1]
        w, a = basis.weights(e)
        last = lambda v: represented.of_class(v)[class_of]
        is_ray, share = self.is_ray[class_of][:, None], basis.part[:, -1:]
        of_rows = lambda v: v.reshape(-1, represented.group, v.shape[1])[class_of]
        made = lambda v: jnp.sum(basis.part[:, :, None] * of_rows(v), axis=1)
        dw, da = basis.up(narrow.w.T - w, narrow.a.T - a)
        pick = lambda rows, moved, old: jnp.where(
            is_ray, share * last(rows), old + moved.T
        )
        rate_w, rate_a = basis.up(narrow.rates.w.T, narrow.rates.a.T)
        rates = FlowVector(
            rate_w.T, rate_a.T, last(narrow.rates.moment), narrow.rates.residual
        )
        sliding = Sliding(
            plane=last(narrow.sliding.plane),
            dual=last(narrow.sliding.dual),
            speed_below=made(narrow.sliding.speed_below),
            speed_above=made(narrow.sliding.speed_above),
            excursion=made(narrow.sliding.excursion),
        )
        left = jnp.maximum(self.clearance - represented.turned(narrow.w)[class_of], 0)
        clearance = jnp.where(self.is_ray[class_of], last(narrow.clearance), left)
        sides = represented.of_class(narrow.is_above)
        spread = when(lambda here, _: here[0][here[1]])
        is_above = spread(
            jnp.any(sides != before.is_above[basis.first]),
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
            clearance,
        )


def aggregation(
    neurons: NeuronState,
    known: ActivationClasses,
    clearance: Float[Array, " m"],
    sample: Sample,
    rtol: Float[Array, ""],
    length: Float[Array, ""],
) -> Aggregation:
    """Those of a network whose neurons are of these classes.

    Args:
        neurons: of all neurons.
        known: their classes.
        clearance: how far each may turn.
        sample: the data.
        rtol: the tolerance.
        length: of the next step.
    """
    w, a, class_of, first = neurons.w, neurons.a, known.class_of, known.first
    size, long = norm_of_rows(w, a), norm_of_rows(w)
    apart = jnp.maximum(_apart(w, size, known), _apart(a, size, known))
    most = lambda v: jnp.maximum(jax.ops.segment_max(v, class_of, MAX_CLASSES), 0)
    count = jax.ops.segment_sum(jnp.ones_like(size), class_of, MAX_CLASSES)
    is_ray = (most(apart) <= _PARALLEL * rtol) & (count > 0) & (size[first] > 0)
    basis = _with_rays(
        _upright(class_basis(w, a, known, neurons.sliding, sample)), is_ray, w, a
    )

    q = basis.root.shape[1]
    rows = lambda v: most(
        jnp.where(basis.part != 0, jnp.abs(basis.part) / v, 0)
    ).ravel()
    reach = rows(positive_or_one(size)[:, None])
    is_bundle = (count > 0) & ~is_ray
    of_class = -jax.ops.segment_max(-clearance, class_of, MAX_CLASSES)
    represented = RepresentedNeurons(
        size=jnp.where(reach > 0, 1 / positive_or_one(reach), 0),
        count=jnp.repeat(count, q),
        w=basis.weights(w.shape[1])[0].T,
        reach=rows(long[:, None]),
        least=-jax.ops.segment_max(
            -basis.part[:, -1] / positive_or_one(size), class_of, MAX_CLASSES
        ),
        clearance=jnp.where(is_bundle, of_class, jnp.inf),
        is_bundle=is_bundle,
        group=q,
    )
    heading = w + length.astype(w.dtype) * neurons.rates.w
    turns = direction_change(w, heading)
    is_off = most(jnp.where(turns > 0, turns - clearance / 2, 0)) == 0
    sliding = neurons.sliding
    holds = is_attracting(sliding.speed_below, sliding.speed_above)
    holds &= sliding.excursion == 0
    is_loose = jnp.any((sliding.plane >= 0) & ~holds, axis=1)
    holds_sliding = most(is_loose.astype(w.dtype)) == 0
    is_usable = known.fits & jnp.all(~is_bundle | is_off & holds_sliding)
    return Aggregation(basis, is_ray, represented, clearance, is_usable)


def _apart(
    v: Float[Array, "m _"], size: Float[Array, " m"], known: ActivationClasses
) -> Float[Array, " m"]:
    """How far v/|y| is from that of the first neuron of its class, as a share of it.

    Of w and of a by itself: where one of them is tiny its direction still decides.
    """
    unit = v / positive_or_one(size)[:, None]
    first = unit[known.first][known.class_of]
    apart, length = norm_of_rows(unit - first), norm_of_rows(first)
    of_none = jnp.where(apart > 0, jnp.inf, 0)
    return jnp.where(length > 0, apart / positive_or_one(length), of_none)


def _upright(basis: ClassBasis) -> ClassBasis:
    """The largest row of each class such that its first neuron has a positive part."""
    sign = jnp.where(basis.part[basis.first, -1] < 0, -1, 1).astype(basis.part.dtype)
    last = (
        basis.part[:, -1] * sign[basis.class_of],
        basis.root[:, :, -1] * sign[:, None],
    )
    return replace(
        basis,
        part=basis.part.at[:, -1].set(last[0]),
        root=basis.root.at[:, :, -1].set(last[1]),
    )


def _with_rays(
    basis: ClassBasis,
    is_ray: Bool[Array, " r"],
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
) -> ClassBasis:
    """Of each ray one row, the last, which has Σ |w|² and Σ |a|² of all."""
    class_of, size = basis.class_of, norm_of_rows(w, a)
    unit = positive_or_one(jax.ops.segment_max(size, class_of, MAX_CLASSES))
    scaled = size / unit[class_of]
    total = jax.ops.segment_sum(scaled**2, class_of, MAX_CLASSES)
    row = jnp.concatenate([_sum(v, scaled, class_of) for v in (w, a)], axis=1)
    is_last = jnp.arange(basis.root.shape[1]) == basis.root.shape[1] - 1
    ray = jnp.where(is_last, row[:, :, None], 0)
    share = jnp.where(
        is_last, (scaled / positive_or_one(jnp.sqrt(total))[class_of])[:, None], 0
    )
    return replace(
        basis,
        root=jnp.where(is_ray[:, None, None], ray, basis.root),
        part=jnp.where(is_ray[class_of][:, None], share, basis.part),
    )


def _sum(
    v: Float[Array, "m e"], weight: Float[Array, " m"], class_of: Int[Array, " m"]
) -> Float[Array, "r e"]:
    """Along the weighted sums of each class, with Σ |v|² of it."""
    unit = positive_or_one(jax.ops.segment_max(norm_of_rows(v), class_of, MAX_CLASSES))
    scaled = v / unit[class_of][:, None]
    total = jax.ops.segment_sum(weight[:, None] * scaled, class_of, MAX_CLASSES)
    square = jax.ops.segment_sum(jnp.sum(scaled**2, axis=1), class_of, MAX_CLASSES)
    factor = unit * jnp.sqrt(square) / positive_or_one(norm_of_rows(total))
    return factor[:, None] * total
