"""Methods of descent on the same loss, as values of one axis of a grid."""

from typing import Any, Literal

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractFlow, Dataset, FlowState, Loss
from simbias.flows import Descent, GradientFlow

Way = Literal[
    "flow", "gd", "gd_1.9", "gd_2.1", "momentum", "sgd", "adam", "sign"
]  # fmt: skip
# Largest eigenvalue λ₁ of XᵀX/n, in the units of the experiment.
LARGEST = 100.0
# Learning rates of full gradient descent.
RATES: dict[Way, float] = {
    "gd": 1 / LARGEST,
    "gd_1.9": 1.9 / LARGEST,
    "gd_2.1": 2.1 / LARGEST,
}

_FLOWS: dict[Way, AbstractFlow] = {
    "flow": GradientFlow(rtol=1e-11),
    **{way: Descent(rate=rate) for way, rate in RATES.items()},
    "momentum": Descent(rate=1 / LARGEST, optimiser="momentum"),
    "sgd": Descent(rate=0.1 / LARGEST, batch=1, sampling="replacement"),
    "adam": Descent(rate=0.01, optimiser="adam"),
    # Adam without its averages: u = g/√g² where the gradient is not 0.
    "sign": Descent(rate=0.01, optimiser="adam", decay=0.0, beta2=0.0, epsilon=1e-30),
}


class Ways(AbstractFlow):
    """One of several flows, by its name, in units in which λ₁ = 100.

    "flow" is the gradient flow.  "gd", "gd_1.9" and "gd_2.1" are gradient descent with
    η = 1/λ₁, 1.9/λ₁ and 2.1/λ₁.  "momentum" has momentum 0.9 and η = 1/λ₁.  "sgd" takes
    one row a step, with replacement, and η = 0.1/λ₁.  "adam" and "sign" change every
    weight by about 0.01 a step.

    Args:
        way: name of the method.
    """

    way: Way = eqx.field(static=True, default="gd")

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at time 0."""
        return _FLOWS[self.way].init(network, data, loss, key)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempted step."""
        return _FLOWS[self.way].step(state, data, loss, until)
