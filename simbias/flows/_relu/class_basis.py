"""Neurons of one class, moved by a few that stand for all of them.

While the pattern is frozen, the neurons of a class (same sides, sliding on the same
planes) obey one linear system, y' = A y with y = (w, a), and drive the others through Z
= Σ y yᵀ alone. So do q = e + k representatives, the columns of a root of it, Z = L Lᵀ:
every neuron is y = L c, and stays so.  A Runge–Kutta method takes y and L to the same
places, up to rounding, and Σ |y|² = |L|²: norms over all neurons are those over
representatives.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.activation_classes import MAX_CLASSES, ActivationClasses
from simbias.flows._relu.frozen_field import (
    FlowVector,
    FrozenField,
    Sample,
    frozen_field,
    rates_under,
)
from simbias.flows._relu.norms import norm_of_rows
from simbias.flows._relu.sliding import project, sliding_normals
from simbias.flows._relu.step_trajectory import Sliding

# Share of the largest eigenvalue of Z, in roundings, below which others are not known.
_UNKNOWN = 16


class ClassBasis(eqx.Module):
    """The classes of all neurons, and how neurons are made of representatives.

    `first` is a neuron of each class, `class_of` the class of each neuron, `part` its
    c, `root` the L of each class (rows: w, then a).  Where there are more classes than
    room `fits` is false, and the rest means nothing.
    """

    first: Int[Array, " r"]
    class_of: Int[Array, " m"]
    part: Float[Array, "m q"]
    root: Float[Array, "r q q"]
    fits: Bool[Array, ""]

    def field(
        self,
        is_above: Bool[Array, "m n"],
        sliding: Sliding,
        sample: Sample,
        slope: float,
    ) -> FrozenField:
        """The frozen field of the representatives."""
        of_each = lambda v: jnp.repeat(v[self.first], self.root.shape[1], axis=0)
        plane, dual = of_each(sliding.plane), of_each(sliding.dual)
        return frozen_field(is_above[self.first], slope, plane, dual, sample)

    def weights(self, e: int) -> tuple[Float[Array, "e s"], Float[Array, "k s"]]:
        """Their own, in the layout of the field."""
        q = self.root.shape[1]
        flat = self.root.transpose(1, 0, 2).reshape(q, -1)
        return flat[:e], flat[e:]

    def rates(self, rates: FlowVector, sliding: Sliding, sample: Sample) -> FlowVector:
        """Their velocities, under the moments of their classes; neurons last.

        They are not the sum Σ c y' over the neurons.  Eigenvalues that are too small
        are left out, so that Σ c c = 1 does not hold, and the first stage of the method
        would differ from the others.
        """
        of_each = lambda v: jnp.repeat(v[self.first], self.root.shape[1], axis=0)
        last = lambda v: jnp.moveaxis(v, 0, -1)
        normals = sliding_normals(sample.normal, of_each(sliding.plane))
        moment = jnp.repeat(rates.moment[:, :, self.first], self.root.shape[1], axis=2)
        return rates_under(
            moment,
            rates.residual,
            *self.weights(sample.x.shape[1]),
            *(last(normals), last(of_each(sliding.dual)), sample),
        )

    def down(
        self, w: Float[Array, "e m"], a: Float[Array, "k m"]
    ) -> tuple[Float[Array, "e s"], Float[Array, "k s"]]:
        """What representatives do where neurons do (w, a), linear in their y."""
        r, q, _ = self.root.shape
        y = jnp.concatenate([w, a])
        each = (y[:, None, :] * self.part.T[None, :, :]).reshape(q * q, -1)
        total = jax.ops.segment_sum(each.T, self.class_of, r).reshape(r, q, q)
        flat = total.transpose(1, 0, 2).reshape(q, r * q)
        return flat[: w.shape[0]], flat[w.shape[0] :]

    def up(
        self, w: Float[Array, "e s"], a: Float[Array, "k s"]
    ) -> tuple[Float[Array, "e m"], Float[Array, "k m"]]:
        """What neurons do where representatives do (w, a)."""
        r, q, _ = self.root.shape
        each = jnp.concatenate([w, a]).reshape(q, r, q)[:, self.class_of, :]
        y = jnp.sum(each * self.part[None, :, :], axis=2)
        return y[: w.shape[0]], y[w.shape[0] :]

    def up_rates(self, rates: FlowVector) -> FlowVector:
        """The same, with moments; neurons last."""
        w, a = self.up(rates.w, rates.a)
        moment = rates.moment[:, :, :: self.root.shape[1]][:, :, self.class_of]
        return FlowVector(w, a, moment, rates.residual)


def class_basis(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    classes: ActivationClasses,
    sliding: Sliding,
    sample: Sample,
) -> ClassBasis:
    """Those of a network whose neurons are of these classes."""
    first, class_of = classes.first, classes.class_of
    # In units of the largest of each class: squares of small weights may underflow.
    size = jnp.zeros(MAX_CLASSES, w.dtype).at[class_of].max(norm_of_rows(w, a))
    unit = jnp.where(size > 0, size, 1)
    y = jnp.concatenate([w, a], axis=1) / unit[class_of][:, None]
    q = y.shape[1]
    square = (y[:, :, None] * y[:, None, :]).reshape(-1, q * q)
    total = jax.ops.segment_sum(square, class_of, MAX_CLASSES).reshape(
        MAX_CLASSES, q, q
    )
    value, vector = jnp.linalg.eigh(total)
    least = _UNKNOWN * jnp.finfo(w.dtype).eps * value[:, -1:]
    least = jnp.where(least > 0, least, 1)
    length = jnp.sqrt(jnp.maximum(value, least))
    part = jnp.sum(vector[class_of] * y[:, :, None], axis=1) / length[class_of]
    root = unit[:, None, None] * vector * length[:, None, :]
    # An empty class, or one of neurons that are 0, moves nothing.
    root = jnp.where(value[:, -1:, None] > 0, root, 0)
    root = _on_their_planes(root, first, sliding, sample)
    return ClassBasis(first, class_of, part, root, classes.fits)


def _on_their_planes(
    root: Float[Array, "r q q"],
    first: Int[Array, " r"],
    sliding: Sliding,
    sample: Sample,
) -> Float[Array, "r q q"]:
    """The roots of classes that slide on planes, put on these planes.

    All neurons of such a class are on its planes, so this changes the neurons by
    roundings only.  But axes of a small eigenvalue are off the planes by a share of
    their length.  Operations that are only nearly linear, such as restoring
    |a|² − |w|², would then move the neurons off the planes.
    """
    e = sample.normal.shape[1]
    normals, dual = (
        sliding_normals(sample.normal, sliding.plane[first]),
        sliding.dual[first],
    )
    of_axis = lambda w: project(w, normals, dual)
    return root.at[:, :e].set(jax.vmap(of_axis, 2, 2)(root[:, :e]))
