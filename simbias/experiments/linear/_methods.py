"""Several flows of a linear model by name, and errors of its weights."""

from typing import Literal

import equinox as eqx
import numpy as np
import xarray as xr

from simbias.core import AbstractFlow, AbstractFlowWrapper
from simbias.flows import Descent, GradientFlow

Method = Literal[
    "flow", "gd", "gd_1.9", "gd_2.1", "momentum", "sgd", "adam", "sign"
]  # fmt: skip
# Largest eigenvalue λ₁ of XᵀX/n, in the units of the experiment.
LARGEST = 100.0
# Learning rates of full gradient descent.
RATES: dict[Method, float] = {
    "gd": 1 / LARGEST,
    "gd_1.9": 1.9 / LARGEST,
    "gd_2.1": 2.1 / LARGEST,
}

_FLOWS: dict[Method, AbstractFlow] = {
    "flow": GradientFlow(rtol=1e-11),
    **{method: Descent(rate=rate) for method, rate in RATES.items()},
    "momentum": Descent(rate=1 / LARGEST, optimiser="momentum"),
    "sgd": Descent(rate=0.1 / LARGEST, batch=1, sampling="replacement"),
    "adam": Descent(rate=0.01, optimiser="adam"),
    # Adam without its averages: u = g/√g² where the gradient is not 0.
    "sign": Descent(rate=0.01, optimiser="adam", decay=0.0, beta2=0.0, epsilon=1e-30),
}


class Methods(AbstractFlowWrapper):
    """One of several flows, by its name, in units in which λ₁ = 100.

    "flow" is the gradient flow.  "gd", "gd_1.9" and "gd_2.1" are gradient descent with
    η = 1/λ₁, 1.9/λ₁ and 2.1/λ₁.  "momentum" has momentum 0.9 and η = 1/λ₁.  "sgd" takes
    one row a step, with replacement, and η = 0.1/λ₁.  "adam" and "sign" change every
    weight by about 0.01 a step.

    Args:
        method: name of the method.
    """

    method: Method = eqx.field(static=True, default="gd")

    @property
    def inner(self) -> AbstractFlow:
        """The flow that is named."""
        return _FLOWS[self.method]


# Records, from the first, that are at most one step of descent apart.
STEPS = 21
# In the factors of a step, errors below this share of the first are rounding.
_SEEN = 1e-6


def distance(ds: xr.Dataset) -> xr.DataArray:
    """‖w − (X⁺y + P⊥w₀)‖/‖X⁺y‖ at every record."""
    inside = (ds["row_error"] ** 2).sum("mode", skipna=False)
    outside = (_moved(ds) ** 2).sum("input", skipna=False)
    return (inside + outside) ** 0.5 / ds["least_norm"]


def leak(ds: xr.Dataset) -> xr.DataArray:
    """‖P⊥(w − w₀)‖/‖X⁺y‖ at every record."""
    square = (_moved(ds) ** 2).sum("input", skipna=False)
    return square**0.5 / ds["least_norm"]


def in_a_step(ds: xr.Dataset) -> xr.DataArray:
    """Factors of the errors from an early record to the next, one descent step later.

    NaN for methods without an entry in `RATES`, and where the previous error is below a
    millionth of the largest initial one.
    """
    part, rate = ds.isel(time=slice(STEPS)), rates(ds)
    # A record is of the first step that reaches its time.
    reached = xr.ufuncs.ceil(part["time"] / rate * (1 - 1e-12))
    error = part["row_error"]
    is_seen = abs(error) > _SEEN * abs(error.isel(time=0)).max("mode")
    before = error.where(is_seen).shift(time=1)
    return (error / before).where(reached.diff("time") == 1)


def rates(ds: xr.Dataset) -> xr.DataArray:
    """Learning rate η of full gradient descent; NaN for the other methods."""
    methods = ds["flow.method"]
    return methods.copy(
        data=[RATES.get(method, np.nan) for method in methods.values.tolist()]
    )


def decay(ds: xr.Dataset) -> float:
    """t·λₙ at the end, the least of all networks that finished; NaN if none did.

    λₙ is the smallest eigenvalue in the span: under gradient flow, and descent with a
    small learning rate, the slowest error has fallen by e^{−λₙt}.
    """
    slowest = ds["eigenvalues"].isel(mode=int(ds["n"]) - 1)
    return float(slowest.min() * ds["time"].max())


def _moved(ds: xr.Dataset) -> xr.DataArray:
    """P⊥(w − w₀), whose first record is at time 0."""
    return ds["outside"] - ds["outside"].isel(time=0)
