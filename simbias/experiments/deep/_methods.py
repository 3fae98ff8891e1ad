"""The exact flow, and methods that ignore kinks, as values of an axis."""

import equinox as eqx

from simbias.core import AbstractFlow, AbstractFlowWrapper
from simbias.flows import DeepReluFlow, Descent, GradientFlow

METHODS: dict[str, AbstractFlow] = {
    "exact, 1e-5": DeepReluFlow(rtol=1e-5),
    "exact, 1e-4": DeepReluFlow(rtol=1e-4),
    "Tsit5, 1e-5": GradientFlow(rtol=1e-5, allow_kinks=True),
    "Tsit5, 1e-4": GradientFlow(rtol=1e-4, allow_kinks=True),
    "descent, 0.04": Descent(rate=0.04),
    "descent, 0.01": Descent(rate=0.01),
}
LARGE_RATE = "descent, 0.16"
_ALL: dict[str, AbstractFlow] = {**METHODS, LARGE_RATE: Descent(rate=0.16)}


class Method(AbstractFlowWrapper):
    """One of `METHODS`, or `LARGE_RATE`, by its name, in the time of the gradient flow.

    Args:
        method: its name, with the relative tolerance or the rate.
        flow: filled in by `prepared`.
        allow_kinks: methods for smooth networks step over kinks here on purpose.
    """

    method: str = eqx.field(static=True, default="exact, 1e-5")
    flow: AbstractFlow | None = None
    allow_kinks: bool = eqx.field(static=True, default=True)

    def prepared(self) -> "Method":
        """The flow itself: two tolerances of one method share a program."""
        return Method("", _ALL[self.method].prepared())

    @property
    def inner(self) -> AbstractFlow:
        """The flow that is named, or the one that `prepared` filled in."""
        return _ALL[self.method] if self.flow is None else self.flow
