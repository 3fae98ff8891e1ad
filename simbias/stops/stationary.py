"""Rest once it is proven where a two-layer ReLU network ends."""

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import AbstractFlow, AbstractStop, Dataset, Loss, Real, Status
from simbias.errors import BadInput
from simbias.limits.basin import basin
from simbias.limits.decay_basin import DecayBasin, decay_basin
from simbias.limits.neurons import lacks, read
from simbias.numerics.conditionals import when
from simbias.numerics.precision import matmul
from simbias.validation.values import positive

# Share of the loss of f = 0 above which nothing has been learned.
_LEARNED = 0.999


class Stationary(AbstractStop):
    """Stops a network once it is proven where the gradient flow takes it.

    Where every neuron that is not dead is clear of all hyperplanes by more than it can
    still move, the gradient flow goes straight to the least loss that networks of these
    activation patterns have.  `limits.basin` has the bound and its hypotheses, and says
    which neurons may slide or leave a hyperplane.  The member ends when each neuron is
    within `tolerance` of its size of where it goes: as CONVERGED if that loss is 0, as
    STATIONARY if it is not.  Nothing depends on how long one waits: what is read then
    is the limit t → ∞, and `limits.landing_point` has it without the tolerance.

    A member also ends as CONVERGED, without such a proof, when L ≤ interpolated ·
    L(f = 0).  One at a saddle, with neurons of next to no size that can grow, goes on;
    `EscapeTime` says for how long it will seem to rest.  So does one of another kind:
    proofs are for two layers of ReLU or leaky ReLU, one output and a mean of squares,
    under the gradient flow, of which descent is an approximation.

    Of a flow with a weight decay μ > 0 the limits are those of L + (μ/2)‖θ‖².  There a
    member ends as STATIONARY once all its neurons together are within `tolerance` of
    ‖θ‖ of their limit (`limits.decay_basin`), and never as CONVERGED, because no loss
    stays 0.  Neurons that go to 0 have to be that small.  If all do, the limit is
    θ = 0, and ‖θ‖ has to be below `tolerance`·√(2L(0)/μ).  The limit may be a saddle,
    with neurons that are 0 and could grow in another direction.  Nothing is proven for
    descent with a weight decay: such a run raises an error.

    Args:
        tolerance: how near the limit is near enough, relative to the size of a neuron,
            with a weight decay to that of the network.
        interpolated: share of the loss of f = 0 below which a loss is none.
    """

    tolerance: float = eqx.field(static=True, default=1e-3)
    interpolated: float = eqx.field(static=True, default=1e-8)
    weight_decay: Real | None = eqx.field(default=None, kw_only=True)
    """μ of the flow, set by `of_flow`."""

    def __check_init__(self):
        for name in ("tolerance", "interpolated"):
            positive(name, getattr(self, name))
            if getattr(self, name) >= 1:
                raise BadInput(
                    f"`{name}` must be below 1, got {getattr(self, name)}. "
                    f"Example: {name}=1e-3."
                )

    def check_flow(self, flow: AbstractFlow) -> None:
        """Raise ValueError for descent with a weight decay above 0."""
        decay = getattr(flow, "weight_decay", None)
        is_descent = getattr(flow, "optimiser", None) is not None
        if is_descent and decay is not None and float(decay) > 0:
            raise BadInput(
                "`stop`: Stationary proves limits of gradient flows with weight decay, "
                f"got {type(flow).__name__} with weight_decay={float(decay):g}. Leave "
                "out `stop`, or use ReluFlow(weight_decay=…)."
            )

    def of_flow(self, flow: AbstractFlow) -> "Stationary":
        """The rule under the weight decay of a flow."""
        decay = getattr(flow, "weight_decay", None)
        if decay is None or getattr(flow, "optimiser", None) is not None:
            return self
        if isinstance(decay, int | float) and decay == 0:
            return self
        return dataclasses.replace(self, weight_decay=decay)

    def status(self, network: Any, data: Dataset, loss: Loss) -> Int[Array, ""]:
        """CONVERGED, STATIONARY, or RUNNING where the limit is not known."""
        without = self._without_decay(network, data, loss)
        if self.weight_decay is None:
            return without
        decay = jnp.asarray(self.weight_decay, jnp.float64)
        if lacks(network, data, loss):
            ends = jnp.array(False)
        else:
            found = _looked_at_with(decay, network, data, loss)
            ends = found.is_known & (found.distance <= self.tolerance)
        of_decay = jnp.where(
            ends, jnp.int32(Status.STATIONARY), jnp.int32(Status.RUNNING)
        )
        return jnp.where(decay > 0, of_decay, without)

    def _without_decay(self, network: Any, data: Dataset, loss: Loss) -> Int[Array, ""]:
        wide = lambda v: v.astype(jnp.float64)
        y, weight = wide(data.y), wide(data.weight)
        f = wide(jax.vmap(network)(data.x))
        now, start = loss(f, y, weight), loss(jnp.zeros_like(y), y, weight)
        known = _Limit(jnp.array(False), jnp.full_like(now, jnp.inf), now)
        has_learned = now < _LEARNED * start
        if self.weight_decay is not None:
            # Nothing is looked at under a decay; `when` then costs nothing.
            has_learned &= jnp.asarray(self.weight_decay) == 0
        if not lacks(network, data, loss):
            known = _looked_at(network, data, loss, known, has_learned)
        limit = self.interpolated * start
        ends = known.is_known & (known.distance <= self.tolerance)
        is_none = (ends & (known.least <= limit)) | (now <= limit)
        return jnp.where(
            is_none,
            jnp.int32(Status.CONVERGED),
            jnp.where(ends, jnp.int32(Status.STATIONARY), jnp.int32(Status.RUNNING)),
        )


class _Limit(NamedTuple):
    """Of `Basin`, what is asked for."""

    is_known: Bool[Array, ""]
    distance: Float[Array, ""]
    least: Float[Array, ""]


def _looked_at(
    network: Any,
    data: Dataset,
    loss: Loss,
    nothing: _Limit,
    has_learned: Bool[Array, ""],
) -> _Limit:
    """What is known, once something is learned or nobody can move."""
    neurons, sample = read(network, data, loss)

    def look(here, _):
        w, a, x, y, weight = here
        found = basin(
            neurons._replace(w=w, a=a), sample._replace(x=x, y=y, weight=weight)
        )
        return _Limit(found.is_known, found.distance, found.least)

    here = (neurons.w, neurons.a, sample.x, sample.y, sample.weight)
    is_alive = (matmul(neurons.w, sample.x.T) > 0) | (neurons.slope > 0)
    return when(look)(has_learned | ~jnp.any(is_alive), here, nothing)


def _looked_at_with(
    decay: Float[Array, ""], network: Any, data: Dataset, loss: Loss
) -> DecayBasin:
    """What is known under a weight decay; nothing if it is 0."""
    neurons, sample = read(network, data, loss)

    def look(here, _):
        w, a, x, y, weight, decay = here
        return decay_basin(
            neurons._replace(w=w, a=a),
            sample._replace(x=x, y=y, weight=weight),
            decay,
        )

    here = (neurons.w, neurons.a, sample.x, sample.y, sample.weight, decay)
    nothing = DecayBasin(jnp.array(False), jnp.float64(jnp.inf), jnp.float64(jnp.inf))
    return when(look)(decay > 0, here, nothing)
