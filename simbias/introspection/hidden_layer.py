"""Where the neurons of a network with one hidden layer are, among its arrays."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from simbias.errors import BadInput

Neurons = tuple[
    Float[np.ndarray, "... m d"],
    Float[np.ndarray, "... m"] | None,
    Float[np.ndarray, "... m k"],
]


class HiddenLayer(NamedTuple):
    """Names of the arrays of f(x) = Σⱼ aⱼ φ(wⱼ·x + bⱼ).

    `has_bias` is False where there is no `b`; `is_turned` says that the array of `a`
    is (outputs, neurons), as a layer of matrices has it.
    """

    w: str
    b: str
    a: str
    is_turned: bool
    has_bias: bool = False

    def neurons(self, arrays: Mapping[str, np.ndarray]) -> Neurons:
        """w, b or None, and a; axes in front, such as time, stay where they are."""
        w, a = np.asarray(arrays[self.w]), np.asarray(arrays[self.a])
        b = np.asarray(arrays[self.b]) if self.has_bias else None
        return w, b, np.moveaxis(a, -1, -2) if self.is_turned else a


_KNOWN = (
    HiddenLayer("w", "b", "a", is_turned=False),
    HiddenLayer("weights.0", "biases.0", "weights.1", is_turned=True),
    HiddenLayer("layers.0.weight", "layers.0.bias", "layers.1.weight", is_turned=True),
)


def has_hidden_layer(names: Iterable[str]) -> bool:
    """True for the arrays of a network with a single hidden layer."""
    return _found(frozenset(names)) is not None


def hidden_layer(names: Iterable[str]) -> HiddenLayer:
    """That of a two-layer network, an `mlp` or an `eqx.nn.MLP`, by its arrays.

    Args:
        names: of all arrays of the network, as `ensemble.leaves` has them.

    Raises:
        ValueError: for a network of another kind, or a deeper one.
    """
    names = frozenset(names)
    layer = _found(names)
    if layer is None:
        raise BadInput(
            "neurons are those of a network with one hidden layer, got one with the "
            f"arrays {', '.join(sorted(names))}."
        )
    return layer


def _found(names: frozenset[str]) -> HiddenLayer | None:
    for layer in _KNOWN:
        is_deeper = layer.is_turned and layer.a.replace("1", "2") in names
        if {layer.w, layer.a} <= names and not is_deeper:
            return layer._replace(has_bias=layer.b in names)
    return None
