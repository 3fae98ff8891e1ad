"""Rest once it is proven where a two-layer ReLU network ends."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from simbias.checks.values import positive
from simbias.core import AbstractStop, Dataset, Loss, Status
from simbias.errors import BadInput
from simbias.losses import half_mse, mse, whole
from simbias.numerics.conditionals import when
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
    with neurons of next to no size, goes on.

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
        """CONVERGED, STATIONARY, or RUNNING where the limit is not known.

        Raises:
            ValueError: for a loss that is no mean of squares, several outputs, or a
                network that is not a two-layer ReLU or leaky ReLU network.
        """
        slope = getattr(network, "negative_slope", None)
        frozen = getattr(network, "frozen", ())
        if slope is None or slope >= 1 or frozen not in ((), ("a",)):
            raise BadInput(
                "`stop`: Stationary is for two-layer networks with relu or leaky_relu "
                "activation, all of which or all but the output weights move, not for "
                f"this {type(network).__name__}. Leave it out, or use TrainRiskBelow."
            )
        if whole(loss) not in (half_mse, mse) or data.y.shape[1] != 1:
            raise BadInput(
                "`stop`: Stationary needs a mean of squares, half_mse or mse, and one "
                f"output, got {getattr(whole(loss), '__name__', loss)} and "
                f"{data.y.shape[1]}. Use MarginAbove or TrainRiskBelow."
            )
        wide = lambda v: v.astype(jnp.float64)
        w, x, y = network.w, data.x, wide(data.y)
        if network.b is not None:
            w = jnp.concatenate([w, network.b[:, None]], axis=1)
            x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
        x = jnp.where(data.weight[:, None] > 0, x, 0)
        weight, eps = wide(data.weight), float(jnp.finfo(w.dtype).eps)
        start = loss(jnp.zeros_like(y), y, weight)
        now = loss(wide(jax.vmap(network)(data.x)), y, weight)
        is_dead = ~jnp.any((w @ x.T > 0) | (slope > 0))

        def looked_at(here, _):
            w, a, x, y, weight = here
            neurons = Neurons(w, a, slope, bool(frozen), eps)
            return basin(neurons, x, y, weight, loss)

        nothing = Basin(jnp.array(False), jnp.full_like(now, jnp.inf), now)
        here = wide(w), wide(network.a[:, 0]), wide(x), y, weight
        # Before anything is learned nothing is known of anyone who can move.
        is_worth_it = (now < _LEARNED * start) | is_dead
        known = when(looked_at)(is_worth_it, here, nothing)
        limit = self.interpolated * start
        ends = known.is_known & (known.distance <= self.tolerance)
        is_none = (ends & (known.least <= limit)) | (now <= limit)
        return jnp.where(
            is_none,
            jnp.int32(Status.CONVERGED),
            jnp.where(ends, jnp.int32(Status.STATIONARY), jnp.int32(Status.RUNNING)),
        )
