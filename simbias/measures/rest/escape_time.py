"""When the next neurons of next to no size will have grown."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset, Loss
from simbias.errors import BadInput
from simbias.limits.classes import classes
from simbias.limits.neurons import residual
from simbias.limits.sides import held, sides_of
from simbias.losses import half_mse
from simbias.measures.rest._read import forces
from simbias.numerics.precision import matmul

_PLANES = 16
# Of Σ |rᵢ||xᵢ|: a force below this many roundings of it is none.
_ROUNDINGS = 100


class EscapeTime(AbstractMeasure):
    """Time from now until small neurons have grown, if the residual stays.

    T = ln(c*/A) / 2ρ,  ρ = |P q|,  A = Σⱼ ((|aⱼ| + |wⱼ·e|)/2)²,  c* = ρ / (e·H e)

    of the neurons of one pattern and sign, and the least of all: q = −Σᵢ ∂L/∂fᵢ xᵢ over
    the active samples, P the projection off the hyperplanes that they slide on, e the
    direction of ±P q, H = Σᵢ ∂²L/∂fᵢ² xᵢxᵢᵀ.  A e^{2ρt} is how Σ |aⱼ||wⱼ| grows, and
    c* what would spend their force; of one pattern that grows alone the half of it is
    reached after (1/2ρ) ln(c*/A − 1).

    Counted are those that grow where they are until then: e lies in their own pattern,
    their hyperplanes hold them, A < c*, and |P q'| T ≤ |P q|, so that what pulls them
    lasts.  Others are on their way to another pattern first, have grown, or feel only
    what the rest of the network is about to fit.  Infinite if there are none: at an end
    that is `Stationary`, while all neurons turn, while the network moves, or if all are
    dead.  Near a saddle, and at the start, when neurons have turned, it is the time to
    the next fall of the loss, up to some 1/ρ.

    Two layers of ReLU or leaky ReLU, one output, all weights trained.

    Args:
        loss: what the flow descends, a mean over the sample.

    Reference: the linear system of `theory.early_phase`, and v' = 2v(ρ − v e·He) of a
    balanced neuron; for a start near 0, Boursier & Flammarion (2024), arXiv:2401.10791.
    """

    loss: Loss = eqx.field(static=True, default=half_mse)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Time, at least 0."""
        neurons, sample, pull = forces("EscapeTime", network, data, self.loss)
        if neurons.is_output_frozen:
            raise BadInput(
                "`EscapeTime` is of neurons that grow exponentially, and asks for "
                'output weights that are trained, got frozen=("a",).'
            )
        w, a, x = neurons.w, neurons.a, sample.x
        norms = jnp.linalg.norm(x, axis=1)
        of = classes(neurons, sample, len(w), _PLANES, is_by_sign=True)
        sign = jnp.where(a > 0, 1.0, -1.0).astype(a.dtype)[of.first]
        q = of.sliding.project(matmul(of.factor * pull[None, :], x))
        rate = jnp.linalg.norm(q, axis=1)
        e = sign[:, None] * q / jnp.where(rate > 0, rate, 1)[:, None]

        h = matmul(e, x.T)
        is_off = (of.active != (h > 0)) & ~of.on & (sample.weight > 0)[None, :]
        sides = sides_of(of, neurons.slope, x)
        nothing = jnp.zeros_like(sides[:, :, :, 0])
        neither = jnp.zeros(nothing.shape, bool)
        is_here = held(of, sides, sign, -pull, nothing, neither)
        is_here &= ~jnp.any(is_off, axis=1) & of.is_class & of.is_sound & (rate > 0)

        grown = (jnp.abs(a) + jnp.sum(w * e[of.kind], axis=1)) / 2
        grown = jnp.where(of.is_moved, grown**2, 0)
        size = jax.ops.segment_sum(grown, of.kind, len(w))
        _, curvature = residual(sample, jnp.zeros_like(pull))
        bend = matmul((of.factor * h) ** 2, curvature[:, None])[:, 0]
        full = rate / jnp.where(bend > 0, bend, 1)
        is_small = is_here & (bend > 0) & (size > 0) & (size < full)
        ratio = jnp.where(is_small, full / jnp.where(is_small, size, 1), 1)
        time = jnp.log(ratio) / (2 * jnp.where(is_small, rate, 1))

        # What r changes by: v' of every class, seen by the samples.
        pull_of = jnp.where(of.is_moved[:, None], q[of.kind], 0)
        along = jnp.sum(w * pull_of, axis=1, keepdims=True)
        moved = a[:, None] ** 2 * pull_of + along * w
        moved = jax.ops.segment_sum(moved, of.kind, len(w))
        turned = curvature * jnp.sum(of.factor * matmul(moved, x.T), axis=0)
        change = of.sliding.project(matmul(of.factor * turned[None, :], x))
        is_lasting = jnp.linalg.norm(change, axis=1) * time <= rate
        noise = _ROUNDINGS * neurons.eps * jnp.sum(jnp.abs(pull) * norms)
        is_meant = is_small & is_lasting & (rate > noise)
        return jnp.min(jnp.where(is_meant, time, jnp.inf))
