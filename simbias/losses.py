"""Losses: means over the samples, weighted by `weight` (0 = padding).

The convention sets the clock of a flow: under `mse` everything happens twice as fast
as under `half_mse`, and without the 1/n it would happen n times as fast.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Prediction = Float[Array, "n k"]
Weight = Float[Array, " n"]
Value = Float[Array, ""]


def half_mse(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """Half the mean squared error, (1/2n) Σᵢ |f(xᵢ) − yᵢ|²; outputs are summed.

    The convention of Boursier & Flammarion and of gradient-flow theory: r = f − y.
    """
    return mse(prediction, target, weight) / 2


def mse(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """Mean squared error, (1/n) Σᵢ |f(xᵢ) − yᵢ|²; outputs are summed.

    No ½: times are half those of `half_mse`.
    """
    return _mean(jnp.sum((prediction - target) ** 2, axis=1), weight)


def logistic(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """(1/n) Σᵢ ln(1 + exp(−yᵢ f(xᵢ))), labels y ∈ {−1, +1}; outputs are summed.

    −ℓ'(0) = ½, so early growth is half as fast as under `exponential`.
    """
    return _mean(jnp.sum(jax.nn.softplus(-target * prediction), axis=1), weight)


def exponential(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """(1/n) Σᵢ exp(−yᵢ f(xᵢ)), labels y ∈ {−1, +1}; outputs are summed."""
    return _mean(jnp.sum(jnp.exp(-target * prediction), axis=1), weight)


def hinge(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """(1/n) Σᵢ max(0, 1 − yᵢ f(xᵢ)), labels y ∈ {−1, +1}; outputs are summed."""
    return _mean(jnp.sum(jax.nn.relu(1 - target * prediction), axis=1), weight)


def cross_entropy(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """−(1/n) Σᵢ Σ_k y_ik ln softmax(f(xᵢ))_k; targets are one-hot or probabilities."""
    return _mean(-jnp.sum(target * jax.nn.log_softmax(prediction), axis=1), weight)


def _mean(per_sample: Float[Array, " n"], weight: Weight) -> Value:
    # where, not a product: a padded row that overflows must not turn into 0·inf = nan.
    kept = jnp.where(weight > 0, per_sample * weight, 0)
    return jnp.sum(kept) / jnp.sum(weight)
