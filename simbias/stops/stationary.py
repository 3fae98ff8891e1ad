"""Rest once it is proven where a two-layer ReLU network ends."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from simbias.checks.values import positive
from simbias.core import AbstractStop, Dataset, Loss, Status
from simbias.errors import BadInput
from simbias.losses import half_mse, mse, whole
from simbias.numerics.conditionals import when
from simbias.numerics.precision import matmul
from simbias.stops._basin import Basin, Neurons, basin

# Share of the loss of f = 0 above which nothing has been learned.
_LEARNED = 0.999


class Stationary(AbstractStop):
    """Ends a member that no neuron of which ever meets a hyperplane again.

    Where every neuron that is not dead is clear of all hyperplanes by more than it can
    still move, the gradient flow goes straight to the least loss that networks of these
    activation patterns have (`_basin` has the bound).  The member ends when each neuron
    is within `tolerance` of its size of where it goes: as CONVERGED if that loss is 0,
    as STATIONARY if it is not.  Nothing depends on how long one waits: what is read
    then is the limit t → ∞.

    A member also ends as CONVERGED, without such a proof, when L ≤ interpolated ·
    L(f = 0).  One of which nothing is known, such as one that has come near a saddle
    with neurons of next to no size, goes on.  So does one of another kind: proofs are
    for two layers of ReLU or leaky ReLU, one output and a mean of squares, under the
    gradient flow, of which descent is an approximation.

    Args:
        tolerance: how near the limit is near enough, relative to the size of a neuron.
        interpolated: share of the loss of f = 0 below which a loss is none.
    """

    tolerance: float = eqx.field(static=True, default=1e-3)
    interpolated: float = eqx.field(static=True, default=1e-8)

    def __check_init__(self):
        for name in ("tolerance", "interpolated"):
            positive(name, getattr(self, name))
            if getattr(self, name) >= 1:
                raise BadInput(
                    f"`{name}` must be below 1, got {getattr(self, name)}. "
                    f"Example: {name}=1e-3."
                )

    def status(self, network: Any, data: Dataset, loss: Loss) -> Int[Array, ""]:
        """CONVERGED, STATIONARY, or RUNNING where the limit is not known."""
        y, weight = data.y.astype(jnp.float64), data.weight.astype(jnp.float64)
        f = jax.vmap(network)(data.x).astype(jnp.float64)
        now, start = loss(f, y, weight), loss(jnp.zeros_like(y), y, weight)
        known = Basin(jnp.array(False), jnp.full_like(now, jnp.inf), now)
        if _has_proof(network, data, loss):
            known = _looked_at(network, data, loss, known, now < _LEARNED * start)
        limit = self.interpolated * start
        ends = known.is_known & (known.distance <= self.tolerance)
        is_none = (ends & (known.least <= limit)) | (now <= limit)
        return jnp.where(
            is_none,
            jnp.int32(Status.CONVERGED),
            jnp.where(ends, jnp.int32(Status.STATIONARY), jnp.int32(Status.RUNNING)),
        )


def _has_proof(network: Any, data: Dataset, loss: Loss) -> bool:
    """Two layers of ReLU or leaky ReLU, one output, a mean of squares."""
    slope = getattr(network, "negative_slope", None)
    return (
        slope is not None
        and slope < 1
        and getattr(network, "frozen", ()) in ((), ("a",))
        and whole(loss) in (half_mse, mse)
        and data.y.shape[1] == 1
    )


def _looked_at(
    network: Any,
    data: Dataset,
    loss: Loss,
    nothing: Basin,
    has_learned: Bool[Array, ""],
) -> Basin:
    """What is known, once something is learned or nobody can move."""
    wide = lambda v: v.astype(jnp.float64)
    w, x, slope = network.w, data.x, network.negative_slope
    if network.b is not None:
        w = jnp.concatenate([w, network.b[:, None]], axis=1)
        x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
    x = jnp.where(data.weight[:, None] > 0, x, 0)
    eps, is_frozen = float(jnp.finfo(w.dtype).eps), bool(network.frozen)

    def look(here, _):
        w, a, x, y, weight = here
        neurons = Neurons(w, a, slope, is_frozen, eps)
        return basin(neurons, x, y, weight, loss)

    here = tuple(map(wide, (w, network.a[:, 0], x, data.y, data.weight)))
    is_dead = ~jnp.any((matmul(w, x.T) > 0) | (slope > 0))
    return when(look)(has_learned | is_dead, here, nothing)
