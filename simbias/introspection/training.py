"""How a network is trained: which of its methods a step uses."""

import inspect
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key, PRNGKeyArray, PyTree

from simbias.core import Loss
from simbias.errors import BadInput
from simbias.introspection.trained_arrays import split_trained
from simbias.network import hook
from simbias.wrapper import AbstractWrapper

Keys = Key[Array, " n"] | None


def output_in_training(
    network: Any, x: Float[Array, " d"], key: PRNGKeyArray
) -> Float[Array, " k"]:
    """Output for one input: of `in_training` if the network has it, else f(x)."""
    drawn = hook(network, "in_training")
    return network(x) if drawn is None else drawn(x, key)


def outputs_in_training(
    network: Any, x: Float[Array, "n d"], weight: Float[Array, " n"], keys: Keys = None
) -> tuple[Float[Array, "n k"], Any]:
    """Outputs on a sample, and the network with its buffers updated.

    These are the outputs of `on_sample` if the network has it, else of `in_training`,
    else f(xᵢ).

    Args:
        network: of any class.
        x: a sample or a mini-batch.
        weight: 0 for padding.
        keys: one for each row; not used by a network that draws nothing.
    """
    together = hook(network, "on_sample")
    if together is not None:
        return together(x, weight, *_given(network, keys))
    if _given(network, keys):
        return jax.vmap(network.in_training)(x, keys), network
    return jax.vmap(network)(x), network


def trained_on(
    network: Any,
    loss: Loss,
    x: Float[Array, "n d"],
    y: Float[Array, "n k"],
    weight: Float[Array, " n"],
    keys: Keys = None,
) -> tuple[Float[Array, ""], PyTree, Any]:
    """L(θ) in training, ∇L(θ) as a network, and the network with its buffers updated.

    The gradient is `value_and_gradient` if the network has it, else by automatic
    differentiation of `outputs_in_training`.
    """
    by_hand = hook(network, "value_and_gradient")
    if by_hand is not None:
        return *by_hand(loss, x, y, weight, *_given(network, keys)), network
    params, rest = split_trained(network)

    def objective(params: PyTree) -> tuple[Float[Array, ""], PyTree]:
        whole = eqx.combine(params, rest)
        outputs, moved = outputs_in_training(whole, x, weight, keys)
        # Without `on_sample` nothing moves, and `rest` may hold what is no array.
        is_same = moved is whole
        return loss(outputs, y, weight), None if is_same else split_trained(moved)[1]

    (value, moved), gradient = jax.value_and_grad(objective, has_aux=True)(params)
    moved = network if moved is None else eqx.combine(params, moved)
    return value, eqx.combine(gradient, rest), moved


def check_hooks(network: Any) -> None:
    """Refuse a network with hooks that a step cannot use together.

    Raises:
        ValueError: for `on_sample` beside `value_and_gradient`, and for one of them
            beside `in_training` if it does not take `keys`.
    """
    found = {v: hook(network, v) for v in ("on_sample", "value_and_gradient")}
    found = {name: method for name, method in found.items() if method is not None}
    if len(found) == 2:
        raise BadInput(
            "the network has both `on_sample` and `value_and_gradient`, and a gradient "
            "of its own does not update buffers. Leave one of them out."
        )
    if isinstance(network, AbstractWrapper):
        check_hooks(network.inner)
    if hook(network, "in_training") is None:
        return
    for name, method in found.items():
        if "keys" not in inspect.signature(method).parameters:
            raise BadInput(
                f"the network has both `{name}` and `in_training`, so `{name}` must "
                "take a key for each row as its last argument, `keys`. "
                "Example: def on_sample(self, x, weight, keys)."
            )


def _given(network: Any, keys: Keys) -> tuple[Any, ...]:
    is_drawn = keys is not None and hook(network, "in_training") is not None
    return (keys,) if is_drawn else ()
