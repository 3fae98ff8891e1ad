"""Networks that `DeepReluFlow` does not follow."""

from typing import Any

import jax

from simbias.errors import BadInput
from simbias.flows._deep.gated_sample import GatedSample
from simbias.introspection.array_network import original_network
from simbias.introspection.kinks import kink_of_gated
from simbias.network import Pattern, hook


def refuse(network: Any) -> None:
    """Raise ValueError without `gated`, or with a gradient of its own."""
    name = type(original_network(network)).__name__
    for own in ("in_training", "on_sample", "value_and_gradient"):
        if hook(network, own) is not None:
            raise BadInput(
                f"`flow`: deep_relu_flow (DeepReluFlow) follows −∇L, got a {name} with "
                f"a method `{own}` of its own. Use descent (Descent), or for two "
                "layers relu_flow (ReluFlow)."
            )
    if hook(network, "gated") is None:
        raise BadInput(
            "`flow`: deep_relu_flow (DeepReluFlow) needs a network with relu or "
            f"leaky_relu and the method `gated`, got a {name} without it. "
            "`simbias.core.AbstractNetwork.gated` says what it returns. Without kinks "
            "use gradient_flow (GradientFlow), for two layers relu_flow (ReluFlow)."
        )


def refuse_kinks_left(network: Any, sample: GatedSample) -> None:
    """Raise ValueError for a `gated` that is not smooth under a fixed pattern."""
    gates: Any = tuple(jax.ShapeDtypeStruct(v, sample.x.dtype) for v in sample.shapes)
    found = kink_of_gated(network, sample.x[0], Pattern(gates, gates))
    if found is not None:
        raise BadInput(
            "`flow`: deep_relu_flow (DeepReluFlow) needs a method `gated` that is "
            "smooth under a fixed pattern, got "
            f"{type(original_network(network)).__name__}.gated: {found}. Write a "
            "maximum, as of max pooling, as max(a, b) = b + relu(a − b), and return "
            "a − b among the pre-activations."
        )
