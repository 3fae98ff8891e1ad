"""Initial laws of the two-layer network, each with a scale λ.

For `balanced`, `dominated` and `unbalanced` the convention of the theory holds:

    (wⱼ, aⱼ) = (λ/√m) (w̃ⱼ, ãⱼ),   (w̃ⱼ, ãⱼ) i.i.d., of order one whatever m is.

A hidden bias, when asked for, is one more coordinate of wⱼ (an input that is always 1),
so that ‖wⱼ‖ below means ‖(wⱼ, bⱼ)‖.
"""

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Real
from simbias.networks.activations import ACTIVATIONS
from simbias.networks.two_layer import TwoLayer
from simbias.validation.sample import one_of
from simbias.validation.values import positive, positive_integers

InitialLaw = Literal["balanced", "dominated", "unbalanced", "standard", "gaussian"]
Initial = Callable[..., TwoLayer]


def balanced(
    key: PRNGKeyArray,
    *,
    m: int,
    d: int,
    k: int = 1,
    scale: Real = 1e-3,
    activation: str = "relu",
    has_bias: bool = False,
) -> TwoLayer:
    """w̃ⱼ ~ N(0, I), ãⱼ = ‖w̃ⱼ‖ uⱼ with uⱼ uniform on the unit sphere of ℝᵏ (±1 if k=1).

    |aⱼ|² − ‖wⱼ‖² = 0 for every neuron, and stays 0 under the exact flow of a
    homogeneous network.
    """
    _check(m, d, k, scale)
    key_w, key_a = jax.random.split(key)
    v = _normal(key_w, (m, d + has_bias))
    a = jnp.linalg.norm(v, axis=1, keepdims=True) * _directions(key_a, m, k)
    return _scaled(v, a, scale / jnp.sqrt(m), d, activation)


def dominated(
    key: PRNGKeyArray,
    *,
    m: int,
    d: int,
    k: int = 1,
    scale: Real = 1e-3,
    activation: str = "relu",
    has_bias: bool = False,
) -> TwoLayer:
    """w̃ⱼ uniform in the unit ball, ãⱼ uniform on the unit sphere of ℝᵏ (±1 if k = 1).

    |ãⱼ| ≥ ‖w̃ⱼ‖, so the sign of aⱼ never changes.

    Reference: Boursier & Flammarion (2024), arXiv:2410.02348, assumption on the
    initialisation and its example.
    """
    _check(m, d, k, scale)
    key_w, key_radius, key_a = jax.random.split(key, 3)
    size = d + has_bias
    radius = jax.random.uniform(key_radius, (m, 1), jnp.float64) ** (1 / size)
    v = radius * _directions(key_w, m, size)
    return _scaled(v, _directions(key_a, m, k), scale / jnp.sqrt(m), d, activation)


def unbalanced(
    key: PRNGKeyArray,
    *,
    m: int,
    d: int,
    k: int = 1,
    scale: Real = 1e-3,
    activation: str = "relu",
    has_bias: bool = False,
) -> TwoLayer:
    """w̃ⱼ ~ N(0, I) and ãⱼ ~ N(0, I), independent of each other."""
    _check(m, d, k, scale)
    key_w, key_a = jax.random.split(key)
    v, a = _normal(key_w, (m, d + has_bias)), _normal(key_a, (m, k))
    return _scaled(v, a, scale / jnp.sqrt(m), d, activation)


def standard(
    key: PRNGKeyArray,
    *,
    m: int,
    d: int,
    k: int = 1,
    scale: Real = 1.0,
    activation: str = "relu",
    has_bias: bool = False,
) -> TwoLayer:
    """torch.nn.Linear's default times λ: wⱼ, bⱼ ~ U(±1/√d), aⱼ ~ U(±1/√m).

    The law of LeCun up to a factor 3 in variance.  It has its own powers of m, so no
    further 1/√m is applied.
    """
    _check(m, d, k, scale)
    key_w, key_a = jax.random.split(key)
    v = _uniform(key_w, (m, d + has_bias)) / jnp.sqrt(d)
    a = _uniform(key_a, (m, k)) / jnp.sqrt(m)
    return _scaled(v, a, scale, d, activation)


def gaussian(
    key: PRNGKeyArray,
    *,
    m: int,
    d: int,
    k: int = 1,
    scale: Real = 1.0,
    activation: str = "relu",
    has_bias: bool = False,
) -> TwoLayer:
    """Every weight N(0, λ² 10⁻⁵/√m): smaller than `standard`, and not small.

    It is `unbalanced` with a λ that grows as m^¼.
    """
    _check(m, d, k, scale)
    size = scale * 1e-5**0.5 * m**0.25
    sizes = {"m": m, "d": d, "k": k}
    return unbalanced(
        key, **sizes, scale=size, activation=activation, has_bias=has_bias
    )


INITIAL_LAWS: dict[str, Initial] = {
    "balanced": balanced,
    "dominated": dominated,
    "unbalanced": unbalanced,
    "standard": standard,
    "gaussian": gaussian,
}


def _check(m: int, d: int, k: int, scale: Real) -> None:
    positive_integers(m=m, d=d, k=k)
    positive("scale", scale)


def _normal(key: PRNGKeyArray, shape: tuple[int, ...]) -> Array:
    return jax.random.normal(key, shape, jnp.float64)


def _uniform(key: PRNGKeyArray, shape: tuple[int, ...]) -> Array:
    return jax.random.uniform(key, shape, jnp.float64, minval=-1, maxval=1)


def _directions(key: PRNGKeyArray, m: int, k: int) -> Float[Array, "m k"]:
    v = _normal(key, (m, k))
    return v / jnp.linalg.norm(v, axis=1, keepdims=True)


def _scaled(
    v: Float[Array, "m e"],
    a: Float[Array, "m k"],
    factor: Real,
    d: int,
    activation: str,
) -> TwoLayer:
    one_of("activation", activation, tuple(ACTIVATIONS))
    w, b = factor * v[:, :d], factor * v[:, d] if v.shape[1] > d else None
    return TwoLayer(w=w, a=factor * a, b=b, activation=ACTIVATIONS[activation])
