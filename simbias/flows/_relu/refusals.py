"""Networks that the exact flow of two layers does not take."""

from typing import Any

from simbias.errors import BadInput
from simbias.introspection.array_network import original_network
from simbias.network import hook


def negative_slope(network: Any) -> float:
    """The slope of a two-layer network with kinks for z < 0; other networks raise."""
    slope = getattr(network, "negative_slope", None)
    if slope is None or slope >= 1:
        name = type(original_network(network)).__name__
        raise BadInput(
            "`flow`: relu_flow (ReluFlow) is for two-layer networks with relu or "
            f"leaky_relu activation, not for this {name}. Use deep_relu_flow "
            "(DeepReluFlow) for more layers or, without kinks, gradient_flow "
            "(GradientFlow); on the command line, --flow.name gradient_flow."
        )
    return slope


def refuse_own_gradient(network: Any) -> None:
    """Raise ValueError if training follows anything else than −∇L."""
    own = [name for name in ("in_training", "on_sample") if hook(network, name)]
    by_hand = "value_and_gradient"
    if hook(network, by_hand) and _owner(network, by_hand) is not _owner(
        network, "negative_slope"
    ):
        own.append(by_hand)
    if own:
        raise BadInput(
            "`flow`: relu_flow (ReluFlow) follows −∇L, got a "
            f"{type(original_network(network)).__name__} with a method `{own[0]}` of "
            "its own. Use descent (Descent)."
        )


def _owner(network: Any, name: str) -> type | None:
    """The class that defines an attribute."""
    return next((kind for kind in type(network).__mro__ if name in vars(kind)), None)
