"""Losses whose flows have the path of logistic losses, and ranks that fall like 1/t."""

import jax
import jax.numpy as jnp

from simbias.losses import (
    Prediction,
    Value,
    Weight,
    log_cross_entropy,
    log_logistic,
    smooth,
)


@smooth
def slow_logistic(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """−ln ln(1 + 1/L), L the logistic loss: the same path as L in another time.

    Under ln L a product of N > 2 layers becomes infinite at a finite time.  Here ‖θ‖²
    grows like 2Nt, because θ·∇ ln L = −N ln(1/L) for large margins.
    """
    return _slow(log_logistic(prediction, target, weight))


@smooth
def slow_cross_entropy(
    prediction: Prediction, target: Prediction, weight: Weight
) -> Value:
    """The same for the cross-entropy."""
    return _slow(log_cross_entropy(prediction, target, weight))


def _slow(log_loss: Value) -> Value:
    return -jnp.log(jax.nn.softplus(-log_loss))
