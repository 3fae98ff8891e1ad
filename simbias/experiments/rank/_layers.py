"""Norms and ranks of every layer, and the clock on which ranks can be seen to fall."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import xarray as xr
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.losses import (
    Prediction,
    Value,
    Weight,
    log_cross_entropy,
    log_logistic,
    smooth,
)
from simbias.numerics import matrix_rank

JI = "Ji & Telgarsky (2019), arXiv:1810.02032"
LE = "Le & Jegelka (2022), arXiv:2201.11968"


@smooth
def slow_logistic(prediction: Prediction, target: Prediction, weight: Weight) -> Value:
    """−ln ln(1 + 1/L), L the logistic loss: the path of the flow, on a third clock.

    Under ln L a product of N > 2 layers is infinite at a finite time.  Here ‖θ‖² grows
    like 2Nt, as θ·∇ ln L = −N ln(1/L) for margins that are large.
    """
    return _slow(log_logistic(prediction, target, weight))


@smooth
def slow_cross_entropy(
    prediction: Prediction, target: Prediction, weight: Weight
) -> Value:
    """The same of the cross-entropy."""
    return _slow(log_cross_entropy(prediction, target, weight))


def _slow(log_loss: Value) -> Value:
    return -jnp.log(jax.nn.softplus(-log_loss))


class StableRanks(AbstractMeasure):
    """‖W‖²_F/‖W‖²_op of every matrix of `weights`."""

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """From the first layer to the last."""
        del data
        return jnp.stack([matrix_rank.stable_rank(w) for w in network.weights])


class SingularShares(AbstractMeasure):
    """σ_q/σ_1 of every matrix of `weights`, of the first `most`; 0 beyond the last."""

    most: int = 6
    dims: ClassVar[tuple[str, ...]] = ("layer", "value")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "layer value"]:
        """From the first layer to the last; 1 is the first value of each."""
        del data
        rows = []
        for w in network.weights:
            values = matrix_rank.singular_values(w)[: self.most]
            values = jnp.pad(values, (0, self.most - len(values)))
            rows.append(values / values[0])
        return jnp.stack(rows)


class SquaredNorms(AbstractMeasure):
    """‖W‖²_F of every matrix of `weights`."""

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """From the first layer to the last."""
        del data
        return squared_norms(network.weights)


class Product(AbstractMeasure):
    """The vector that a linear network of one output is."""

    dims: ClassVar[tuple[str, ...]] = ("input",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " input"]:
        """W_N ⋯ W_1."""
        del data
        return network.product[0]


def squared_norms(weights: tuple[Float[Array, "_ _"], ...]) -> Float[Array, " layer"]:
    """‖W‖²_F of every matrix."""
    return jnp.stack([jnp.sum(w**2) for w in weights])


def drift(norms: xr.DataArray) -> xr.DataArray:
    """Largest change of a difference ‖W_{l+1}‖²_F − ‖W_l‖²_F, over times and layers."""
    apart = norms.diff("layer")
    return abs(apart - apart.isel(time=0)).max(["layer", "time"], skipna=False)
