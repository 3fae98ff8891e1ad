"""A network of any class as the engine sees it: arrays, and a static rest."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree

from simbias.core import AbstractNetwork, AbstractWrapper
from simbias.introspection.identity import identity
from simbias.wrapper import if_inner_has


class Rest:
    """What of a network is no array, compared by what it does.

    A lambda inside `make` is another object each time it is called, and the same
    network all the same.
    """

    def __init__(self, tree: PyTree):
        leaves, structure = jax.tree.flatten(tree)
        self.tree = tree
        self._key = (structure, tuple(identity(leaf) for leaf in leaves))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rest) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class ArrayNetwork(AbstractWrapper):
    """An Equinox module of any class, with the hooks that it has.

    Of `arrays` the inexact ones are trained, as in every network.
    """

    arrays: PyTree
    rest: Rest = eqx.field(static=True)

    @property
    def inner(self) -> Any:
        """The network as it was given."""
        return eqx.combine(self.arrays, self.rest.tree)

    @if_inner_has("in_training")
    def in_training(self, x: Any, key: Any) -> Float[Array, " k"]:
        """That of the network."""
        return self.inner.in_training(x, key)

    @if_inner_has("on_sample")
    def on_sample(
        self, x: Any, weight: Any, *keys: Any
    ) -> tuple[Array, "ArrayNetwork"]:
        """That of the network."""
        outputs, moved = self.inner.on_sample(x, weight, *keys)
        return outputs, self._with(moved)

    @if_inner_has("value_and_gradient")
    def value_and_gradient(
        self, loss: Any, x: Any, y: Any, weight: Any, *keys: Any
    ) -> tuple[Array, "ArrayNetwork"]:
        """That of the network."""
        value, gradient = self.inner.value_and_gradient(loss, x, y, weight, *keys)
        return value, self._with(gradient)

    def _with(self, network: Any) -> "ArrayNetwork":
        return dataclasses.replace(self, arrays=eqx.filter(network, eqx.is_array))


def as_array_network(network: Any) -> AbstractNetwork:
    """The network itself if it is one of ours and all arrays, else an adapter."""
    arrays, rest = eqx.partition(network, eqx.is_array)
    if isinstance(network, AbstractNetwork) and not jax.tree.leaves(rest):
        return network
    return ArrayNetwork(arrays, Rest(rest))  # pyright: ignore


def original_network(network: Any) -> Any:
    """The network as it was given."""
    return network.inner if isinstance(network, ArrayNetwork) else network
