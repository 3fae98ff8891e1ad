"""Two-layer ReLU networks on the unit circle that train only their first layer."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.networks import TwoLayer
from simbias.validation.values import positive_integer

BASRI = "Basri et al. (2019), arXiv:1906.00425"


def kernel_network(key: PRNGKeyArray, *, m: int, has_bias: bool) -> TwoLayer:
    """wⱼ ~ N(0, 1) in ℝ², aⱼ = ±1/√m, not trained; with bias bⱼ = 0, aⱼ = ±1/√(2m).

    Neurons come in pairs of one wⱼ and opposite aⱼ, so that f = 0 at the start.

    Raises:
        ValueError: for a width that is no even, positive number.
    """
    positive_integer("m", m)
    if m % 2:
        raise BadInput(f"`m` must be even, got {m}: neurons come in pairs.")
    w = jax.random.normal(key, (m // 2, 2), jnp.float64)
    signs = np.repeat([1.0, -1.0], m // 2)
    return TwoLayer(
        w=jnp.concatenate([w, w]),
        a=jnp.asarray(signs[:, None] / (2 * m if has_bias else m) ** 0.5),
        b=jnp.zeros(m, jnp.float64) if has_bias else None,
        frozen=("a",),
    )


def on_circle(angle: Float[Array, " n"], y: Float[Array, " n"]) -> Dataset:
    """The sample (cos θ, sin θ) ↦ y."""
    x = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    return Dataset(x, y[:, None], jnp.ones(len(y)), y[:, None], jnp.eye(2))
