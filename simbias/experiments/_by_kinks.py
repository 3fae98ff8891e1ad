"""One flow for networks with kinks, another for smooth ones."""

from typing import Any

from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractFlow, Dataset, FlowState, Loss
from simbias.flows import DeepReluFlow, GradientFlow
from simbias.network import hook


class ByKinks(AbstractFlow):
    """θ' ∈ −∂L(θ) by `kinked` for a network that `has_kinks`, else by `smooth`.

    Args:
        kinked: the flow of networks with kinks.
        smooth: the flow of all others.
    """

    kinked: AbstractFlow = DeepReluFlow()
    smooth: AbstractFlow = GradientFlow()

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at time 0 of the flow for this network."""
        return self._of(network).init(network, data, loss, key)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempted step of the flow for this network."""
        return self._of(state.network).step(state, data, loss, until)

    def history(self, state: FlowState) -> dict[str, Float[Array, " event"]]:
        """What the flow for this network has written down."""
        return self._of(state.network).history(state)

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:
        """That of the flow for this network."""
        return self._of(network).attempt_size(network, n, width, tile)

    def step_equations(self, state: FlowState) -> int | None:
        """Those of the flow for this network."""
        return self._of(state.network).step_equations(state)

    def _of(self, network: Any) -> AbstractFlow:
        return self.kinked if hook(network, "has_kinks") else self.smooth
