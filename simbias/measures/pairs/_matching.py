"""Neurons of one network put in the order of another's, which changes no output.

Networks are fully connected: `weights`, `biases` and `activations` as of `Mlp`.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from simbias.numerics.linear_assignment import linear_assignment
from simbias.numerics.precision import matmul

# Of every hidden layer, all of one width: what neuron of the other network stands at
# each place.
Orders = Int[Array, "layer m"]
# As the reference's program.
_SWEEPS, _GAIN = 100, 1e-12


def in_place(network: Any) -> Orders:
    """The order that changes nothing."""
    hidden, m = len(network.weights) - 1, network.weights[0].shape[0]
    return jnp.tile(jnp.arange(m, dtype=jnp.int32), (hidden, 1))


def permuted(network: Any, orders: Orders) -> Any:
    """The same function, the neurons of every hidden layer in another order."""
    weights, biases = list(network.weights), list(network.biases)
    for i in range(len(weights) - 1):
        weights[i] = weights[i][orders[i]]
        if (bias := biases[i]) is not None:
            biases[i] = bias[orders[i]]
        weights[i + 1] = weights[i + 1][:, orders[i]]
    return dataclasses.replace(network, weights=tuple(weights), biases=tuple(biases))


def matched_by_activations(
    one: Any, other: Any, x: Float[Array, "n d"], weight: Float[Array, " n"]
) -> Orders:
    """Orders of least Σ ‖h_i(x) − h'_π(i)(x)‖², for each layer by itself.

    One assignment a layer, by the second moments of activations, neither centred nor
    normalised, as in the reference.

    Reference: Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836, section 3.1.
    """
    layers = zip(*(jax.vmap(f.activations)(x) for f in (one, other)), strict=True)
    moments = [matmul(h.T * weight[None, :], g) for h, g in layers]
    return jax.vmap(linear_assignment)(-jnp.stack(moments))


def matched_by_weights(one: Any, other: Any) -> Orders:
    """Orders that bring the weights close, a layer at a time until none gains.

    Maximises ⟨θ, π(θ')⟩, the same as least ‖θ − π(θ')‖: with the others held, the order
    of a layer is one assignment.  From the order as it is, layers from the first to the
    last, until a sweep gains no more than 1e-12 of ‖θ‖‖θ'‖, 100 sweeps at most: a local
    maximum, whose value never falls.

    Reference: Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836, algorithm 1,
    which takes the layers in random order.
    """
    hidden = len(one.weights) - 1
    least = _GAIN * jnp.sqrt(inner_product(one, one) * inner_product(other, other))

    def alike(layer: int, orders: Orders) -> Float[Array, "m m"]:
        """⟨weights in and out of i, those of j⟩, for neurons i and j of the two."""
        below, above = other.weights[layer], other.weights[layer + 1]
        if layer:
            below = below[:, orders[layer - 1]]
        if layer + 1 < hidden:
            above = above[orders[layer + 1]]
        inner = matmul(one.weights[layer], below.T)
        outer = matmul(one.weights[layer + 1].T, above)
        mine, theirs = one.biases[layer], other.biases[layer]
        if mine is None or theirs is None:
            return inner + outer
        return inner + outer + jnp.outer(mine, theirs)

    tables = [lambda orders, k=k: alike(k, orders) for k in range(hidden)]

    def improve(layer: Int[Array, ""], orders: Orders) -> Orders:
        found = linear_assignment(-jax.lax.switch(layer, tables, orders))
        return orders.at[layer].set(found)

    def sweep(state: tuple) -> tuple:
        orders, value, _, count = state
        # A loop, so that the assignment is compiled once.
        orders = jax.lax.fori_loop(0, hidden, improve, orders)
        new = inner_product(one, permuted(other, orders))
        return orders, new, new - value, count + 1

    def is_gaining(state: tuple) -> Array:
        return (state[2] > least) & (state[3] < _SWEEPS)

    value = inner_product(one, other)
    state = (in_place(other), value, jnp.full_like(value, jnp.inf), jnp.int32(0))
    return jax.lax.while_loop(is_gaining, sweep, state)[0]


def inner_product(one: Any, other: Any) -> Float[Array, ""]:
    """⟨θ, θ'⟩ over all weights and biases."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return jnp.sum(jnp.stack([jnp.sum(a * b) for a, b in pairs]))
