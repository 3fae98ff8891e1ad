"""A network of any class, as the engine moves it: arrays, and apart what is none."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree

from simbias.core import AbstractNetwork
from simbias.introspection.identity import identity


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


class Wrapped(AbstractNetwork):
    """An Equinox module of any class; what it may have, it has.

    Of `arrays` the inexact ones are trained, as in every network.
    """

    arrays: PyTree
    rest: Rest = eqx.field(static=True)

    @property
    def inner(self) -> Any:
        """The network as it was given."""
        return eqx.combine(self.arrays, self.rest.tree)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.inner(x)

    @property
    def has_kinks(self) -> bool | None:
        """As the network says, None if it does not."""
        return getattr(self.inner, "has_kinks", None)

    @property
    def value_and_gradient(self) -> Any:
        """That of the network, None if it has none."""
        by_hand = getattr(self.inner, "value_and_gradient", None)

        def of_arrays(*arguments: Any) -> tuple[Float[Array, ""], "Wrapped"]:
            assert by_hand is not None
            value, gradient = by_hand(*arguments)
            return value, Wrapped(eqx.filter(gradient, eqx.is_array), self.rest)

        return None if by_hand is None else of_arrays

    @property
    def on_sample(self) -> Any:
        """That of the network, None if it has none."""
        together = getattr(self.inner, "on_sample", None)

        def of_arrays(*arguments: Any) -> tuple[Float[Array, "n k"], "Wrapped"]:
            assert together is not None
            outputs, moved = together(*arguments)
            return outputs, Wrapped(eqx.filter(moved, eqx.is_array), self.rest)

        return None if together is None else of_arrays

    @property
    def in_training(self) -> Any:
        """That of the network, None if it has none."""
        return getattr(self.inner, "in_training", None)


def wrapped(network: Any) -> AbstractNetwork:
    """The network itself if it is one of ours and all arrays, else wrapped."""
    arrays, rest = eqx.partition(network, eqx.is_array)
    if isinstance(network, AbstractNetwork) and not jax.tree.leaves(rest):
        return network
    return Wrapped(arrays, Rest(rest))


def unwrapped(network: Any) -> Any:
    """The network as it was given."""
    return network.inner if isinstance(network, Wrapped) else network
