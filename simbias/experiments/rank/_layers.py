"""A loss whose flow has a time in which ranks fall like 1/t; conserved differences."""

import jax
import jax.numpy as jnp
import xarray as xr

from simbias.losses import (
    Prediction,
    Value,
    Weight,
    log_cross_entropy,
    log_logistic,
    smooth,
)

JI = "Ji & Telgarsky (2019), arXiv:1810.02032"
LE = "Le & Jegelka (2022), arXiv:2201.11968"
CLOCK = "time, of θ' = ∇ ln ln(1 + 1/L)"


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


def drift(norms: xr.DataArray) -> xr.DataArray:
    """Largest change of a difference ‖W_{l+1}‖²_F − ‖W_l‖²_F, over times and layers."""
    apart = norms.diff("layer")
    return abs(apart - apart.isel(time=0)).max(["layer", "time"], skipna=False)
