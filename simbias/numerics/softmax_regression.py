"""Multinomial logistic regression by Newton's method."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

# Step lengths that are tried together.
_HALVINGS = 12
# Squared length of the step in the metric of the Hessian at which one more is the last.
_CLOSE = 1e-12


class _State(NamedTuple):
    theta: Float[Array, "k q"]
    logits: Float[Array, "n k"]
    decrement: Float[Array, ""]
    steps: Int[Array, ""]


def softmax_regression(
    x: Float[Array, "n p"],
    label: Int[Array, " n"],
    weight: Float[Array, " n"],
    classes: int,
    penalty: float | Float[Array, ""],
    max_steps: int = 60,
) -> tuple[Float[Array, "k p"], Float[Array, " k"]]:
    """Minimiser of ½‖W‖² + C Σᵢ weightᵢ ℓᵢ, ℓ the cross entropy of softmax(Wx + b).

    scikit-learn's `LogisticRegression(C)`, intercepts free.  Newton steps of the best
    of 12 lengths, until a step is below rounding or `max_steps` are done.  For two
    classes this is the softmax of two outputs, W₁ = −W₀.

    Args:
        x: inputs, of order 1.
        label: classes from 0.
        weight: 0 for rows that do not count.
        classes: k.
        penalty: C.
        max_steps: at most so many.

    Returns:
        W and b, with Σ b = 0.
    """
    dtype = x.dtype
    total = jnp.sum(weight)
    share = weight / total
    ridge = 1 / (penalty * total)
    inputs = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
    target = jax.nn.one_hot(label, classes, dtype=dtype)
    q = inputs.shape[1]
    is_free = jnp.arange(q) == q - 1
    shrink = jnp.where(is_free, 0, ridge).astype(dtype)
    # A common shift of all intercepts changes nothing: this makes its curvature 1.
    gauge = jnp.diag(is_free.astype(dtype))

    def value(theta, logits):
        entropy = -jnp.sum(target * jax.nn.log_softmax(logits), axis=-1)
        return jnp.sum(share * entropy) + jnp.sum(shrink[None, :] * theta**2) / 2

    def newton(theta, logits):
        odds = jax.nn.softmax(logits)
        residual = share[:, None] * (odds - target)
        gradient = residual.T @ inputs + shrink[None, :] * theta
        rows = (odds[:, :, None] * inputs[:, None, :]).reshape(-1, classes * q)
        hessian = -rows.T @ (share[:, None] * rows)
        hessian = hessian.reshape(classes, q, classes, q)
        own = jnp.einsum("nk,na,nb->kab", share[:, None] * odds, inputs, inputs)
        k = jnp.arange(classes)
        hessian = hessian.at[k, :, k, :].add(own + jnp.diag(shrink)[None])
        hessian = hessian + gauge[None, :, None, :] / classes
        factor = jax.scipy.linalg.cho_factor(hessian.reshape(classes * q, -1))
        step = -jax.scipy.linalg.cho_solve(factor, gradient.reshape(-1))
        return step.reshape(classes, q), -jnp.sum(step * gradient.reshape(-1))

    lengths = 0.5 ** jnp.arange(_HALVINGS).astype(dtype)

    def advance(state: _State) -> _State:
        step, decrement = newton(state.theta, state.logits)
        change = inputs @ step.T
        values = jax.vmap(
            lambda t: value(state.theta + t * step, state.logits + t * change)
        )(lengths)
        length = lengths[jnp.argmin(values)]
        # A last step from close by: its gain is below the rounding of the value.
        length = jnp.where(decrement <= _CLOSE, jnp.ones_like(length), length)
        return _State(
            state.theta + length * step,
            state.logits + length * change,
            decrement,
            state.steps + 1,
        )

    def goes_on(state: _State):
        return (state.decrement > _CLOSE) & (state.steps < max_steps)

    start = _State(
        jnp.zeros((classes, q), dtype),
        jnp.zeros((x.shape[0], classes), dtype),
        jnp.asarray(jnp.inf, dtype),
        jnp.int32(0),
    )
    theta = jax.lax.while_loop(goes_on, advance, start).theta
    return theta[:, :-1], theta[:, -1]
