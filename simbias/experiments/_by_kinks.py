"""One flow for networks with kinks, another for smooth ones."""

from typing import Any

from simbias.core import AbstractFlow, AbstractFlowWrapper
from simbias.flows import DeepReluFlow, GradientFlow
from simbias.network import hook


class ByKinks(AbstractFlowWrapper):
    """θ' ∈ −∂L(θ) by `kinked` for a network that `has_kinks`, else by `smooth`.

    Args:
        kinked: the flow of networks with kinks.
        smooth: the flow of all others.
    """

    kinked: AbstractFlow = DeepReluFlow()
    smooth: AbstractFlow = GradientFlow()

    @property
    def inner(self) -> AbstractFlow:
        """The flow of networks with kinks."""
        return self.kinked

    def inner_of(self, network: Any) -> AbstractFlow:
        """The flow for this network."""
        return self.kinked if hook(network, "has_kinks") else self.smooth
