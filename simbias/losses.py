"""Losses: means over the samples, weighted by `weight` (0 = padding).

The convention sets the clock of a flow: under `mse` everything happens twice as fast
as under `half_mse`, and without the 1/n it would happen n times as fast.
"""

from collections.abc import Callable
from typing import Literal, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.errors import BadInput

Prediction = Float[Array, "n k"]
Weight = Float[Array, " n"]
Value = Float[Array, ""]
_Loss = TypeVar("_Loss")


def takes(targets: Literal["signs", "shares"]) -> Callable[[_Loss], _Loss]:
    """Mark a loss by its targets: others are refused, with the conversion.

    Args:
        targets: "signs" are −1 and +1; "shares" are rows of probabilities, two columns
            at least, such as one-hot.
    """

    def marked(loss: _Loss) -> _Loss:
        vars(loss)["targets"] = targets
        return loss

    return marked


def smooth(loss: _Loss) -> _Loss:
    """The loss, marked as one whose gradient does not jump though the loss branches.

    `GradientFlow` refuses a loss that branches and is not marked.
    """
    vars(loss)["has_kinks"] = False
    return loss


def half_mse(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """Half the mean squared error, (1/2n) Σᵢ |f(xᵢ) − yᵢ|²; outputs are summed.

    The convention of Boursier & Flammarion and of gradient-flow theory: r = f − y.
    """
    return mse(prediction, target, weight) / 2


def mse(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """Mean squared error, (1/n) Σᵢ |f(xᵢ) − yᵢ|²; outputs are summed.

    No ½: times are half those of `half_mse`.
    """
    return _mean(jnp.sum((_kept(prediction, weight) - target) ** 2, axis=1), weight)


@takes("signs")
def logistic(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """(1/n) Σᵢ ln(1 + exp(−yᵢ f(xᵢ))), labels y ∈ {−1, +1}; outputs are summed.

    −ℓ'(0) = ½, so early growth is half as fast as under `exponential`.
    """
    margin = target * _kept(prediction, weight)
    return _mean(jnp.sum(jax.nn.softplus(-margin), axis=1), weight)


@smooth
def logistic_or_half_mse(
    prediction: Prediction, target: Prediction, weight: Weight
) -> Value:
    """`logistic` of a target y = ±1, `half_mse` of any other, sample by sample.

    Tasks of classes and of numbers then share a program: labels are ±1 exactly, and a
    value drawn from a continuous law is so with probability 0.
    """
    prediction = _kept(prediction, weight)
    is_label = jnp.abs(target) == 1
    square = (prediction - target) ** 2 / 2
    each = jnp.where(is_label, jax.nn.softplus(-target * prediction), square)
    return _mean(jnp.sum(each, axis=1), weight)


@smooth
@takes("signs")
def log_logistic(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """Logarithm of `logistic`: the same path of the flow, on a clock that keeps going.

    θ' = −∇ ln L = −∇L/L.  Margins then grow exponentially instead of like ln t, and no
    gradient underflows.  One output.

    Raises:
        ValueError: for several outputs.
    """
    if prediction.shape[1] > 1:
        raise BadInput(
            f"`log_logistic` takes one output, got {prediction.shape[1]}. For several "
            "classes use `log_cross_entropy`."
        )
    margin = (target * _kept(prediction, weight))[:, 0]
    logs = _log_softplus(-margin)
    total = jnp.sum(weight)
    return jax.scipy.special.logsumexp(logs, b=weight) - jnp.log(total)


@takes("signs")
def exponential(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """(1/n) Σᵢ exp(−yᵢ f(xᵢ)), labels y ∈ {−1, +1}; outputs are summed."""
    margin = target * _kept(prediction, weight)
    return _mean(jnp.sum(jnp.exp(-margin), axis=1), weight)


@takes("signs")
def hinge(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """(1/n) Σᵢ max(0, 1 − yᵢ f(xᵢ)), labels y ∈ {−1, +1}; outputs are summed."""
    margin = target * _kept(prediction, weight)
    return _mean(jnp.sum(jax.nn.relu(1 - margin), axis=1), weight)


@takes("shares")
def cross_entropy(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """−(1/n) Σᵢ Σ_k y_ik ln softmax(f(xᵢ))_k; targets are one-hot or probabilities.

    Raises:
        ValueError: for a single output, whose cross-entropy is 0.
    """
    _check_several("cross_entropy", "logistic", prediction)
    log_share = jax.nn.log_softmax(_kept(prediction, weight))
    return _mean(-jnp.sum(target * log_share, axis=1), weight)


@smooth
@takes("shares")
def log_cross_entropy(
    prediction: Prediction, target: Prediction, weight: Weight
) -> Value:
    """Logarithm of `cross_entropy`: the same path of the flow, on a clock that goes on.

    θ' = −∇ ln L = −∇L/L, as `log_logistic` for several outputs.  Of a one-hot target
    with margin m = f_y − max_{k≠y} f_k the loss is e⁻ᵐ + O(e⁻²ᵐ), exact here where it
    is below all floating point numbers.  For targets that are probabilities, or a
    sample with L > 0 for good, it is the logarithm all the same.

    Raises:
        ValueError: for a single output, whose cross-entropy is 0.
    """
    _check_several("log_cross_entropy", "log_logistic", prediction)
    f = _kept(prediction, weight)
    # −ln softmax(f)_k = ln(1 + eʰ), h = lse_{j≠k} f_j − f_k.  Of the largest output the
    # others are summed; elsewhere lse_{j≠k} f_j = lse f + ln(1 − softmax(f)_k), which
    # loses no digits below ½.
    is_top = jnp.arange(f.shape[1])[None, :] == jnp.argmax(f, axis=1)[:, None]
    lse = lambda f: jax.scipy.special.logsumexp(f, axis=1, keepdims=True)
    rest, every = lse(jnp.where(is_top, -jnp.inf, f)), lse(f)
    share = jnp.where(is_top, 0, jnp.exp(f - every))
    deficit = jnp.where(is_top, rest, every + jnp.log1p(-share)) - f
    logs = jnp.log(jnp.where(target > 0, target, 1)) + _log_softplus(deficit)
    logs = jnp.where(target > 0, logs, -jnp.inf)
    shares = jnp.broadcast_to(weight[:, None], logs.shape)
    return jax.scipy.special.logsumexp(logs, b=shares) - jnp.log(jnp.sum(weight))


def _check_several(name: str, of_one: str, prediction: Prediction) -> None:
    if prediction.shape[1] < 2:
        raise BadInput(
            f"`{name}` needs two outputs or more and targets in as many columns, got "
            f"one. Example: y = np.eye(k)[labels]. For labels −1 and +1 in one column "
            f"use `{of_one}`."
        )


def _kept(prediction: Prediction, weight: Weight) -> Prediction:
    # A padded row that overflows must not reach the gradient as 0·inf = nan.
    return jnp.where((weight > 0)[:, None], prediction, 0)


def _log_softplus(deficit: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Logarithm of ln(1 + eʰ)."""
    # ln ln(1 + eʰ) = h + O(eʰ), where softplus has lost its digits.
    is_small = deficit < -40
    safe = jnp.where(is_small, 0, deficit)
    return jnp.where(is_small, deficit, jnp.log(jax.nn.softplus(safe)))


def _mean(per_sample: Float[Array, " n"], weight: Weight) -> Value:
    return jnp.sum(per_sample * weight) / jnp.sum(weight)
