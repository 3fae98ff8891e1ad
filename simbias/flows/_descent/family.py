"""One optimiser that is each of those with a name, by numbers: one program for all."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

from simbias.core import Real
from simbias.flows._descent.optimisers import CONSTANTS, Family


class Coefficients(eqx.Module):
    """What a name stands for; the truth values are 0.0 or 1.0.

    `adapts` divides by the root of the second moment, `looks_ahead` is Nesterov's, and
    `is_apart` takes the weight decay out of the gradient, as AdamW does.
    """

    decay: Real
    beta2: Real
    epsilon: Real
    weight_decay: Real
    adapts: Real
    looks_ahead: Real
    is_apart: Real


def coefficients_of(name: str, given: dict[str, Any]) -> Coefficients:
    """Those of an optimiser with a name; a constant that is None has its default."""
    own = CONSTANTS[name]
    neutral = {"decay": 0.0, "beta2": 0.0, "epsilon": 1.0, "weight_decay": 0.0}
    constants = {
        key: own.get(key, default) if given[key] is None else given[key]
        for key, default in neutral.items()
    }
    return Coefficients(
        **constants,
        adapts=float(name in ("adam", "adamw")),
        looks_ahead=float(name == "nesterov"),
        is_apart=float(name == "adamw"),
    )


class _Moments(NamedTuple):
    count: Int[Array, ""]
    first: PyTree
    second: PyTree


def family(
    rate: Float[Array, ""], coefficients: Coefficients
) -> optax.GradientTransformation:
    """The optimiser of the coefficients, equal to that of optax up to rounding.

    With g the gradient, to which λθ is added unless it `is_apart`:

        m ← β₁ m + (1 − β₁ or 1) g,   v ← β₂ v + (1 − β₂) g²
        u = m̂/(√v̂ + ε) if it `adapts`, else m, or g + β₁ m if it `looks_ahead`
        θ ← θ − rate (u + λθ if it `is_apart`)
    """

    def init(params: PyTree) -> _Moments:
        zeros = lambda: jax.tree.map(jnp.zeros_like, params)
        return _Moments(jnp.int32(0), zeros(), zeros())

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = state.count + 1
        cast = lambda v: jnp.asarray(v, rate.dtype)
        c = jax.tree.map(cast, coefficients)
        adapts, ahead, is_apart = (
            v > 0.5 for v in (c.adapts, c.looks_ahead, c.is_apart)
        )
        steps = count.astype(rate.dtype)
        inside = jnp.where(is_apart, 0, c.weight_decay)
        apart = jnp.where(is_apart, c.weight_decay, 0)
        share = jnp.where(adapts, 1 - c.decay, 1)

        g = jax.tree.map(lambda g, p: g + inside * p, updates, params)
        first = jax.tree.map(lambda m, g: c.decay * m + share * g, state.first, g)
        # 0 where it is not used: a square may overflow where nothing else does.
        square = lambda g: jnp.where(adapts, (1 - c.beta2) * g**2, 0)
        second = jax.tree.map(lambda v, g: c.beta2 * v + square(g), state.second, g)

        def move(m, v, g, p):
            plain = jnp.where(ahead, g + c.decay * m, m)
            root = jnp.sqrt(v / (1 - c.beta2**steps))
            scaled = m / (1 - c.decay**steps) / (root + c.epsilon)
            return -rate * (jnp.where(adapts, scaled, plain) + apart * p)

        moves = jax.tree.map(move, first, second, g, params)
        return moves, _Moments(count, first, second)

    return optax.GradientTransformation(init, update)


def is_named(optimiser: Any) -> bool:
    """True for an optimiser of ours: one with a name, or the family of them."""
    return isinstance(optimiser, str | Family)
