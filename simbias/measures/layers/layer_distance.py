"""How far each layer has moved from its start."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class LayerDistance(AbstractMeasure):
    """How far each layer has moved, weights and biases together, in two norms.

    It is ‖θ_l(t) − θ_l(0)‖.

    The member has `network`, fully connected, and the method `then`: that network at
    some epochs, stacked, of which the first is the start.

    Args:
        layers: how many the network has.

    Reference: Zhang, Bengio & Singer (2022), arXiv:1902.01996.
    """

    layers: int = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("norm", "layer")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer"]:
        """Euclidean norm, and largest entry."""
        start = jax.tree.map(lambda v: v[0], network.then())
        moved = jax.tree.map(jnp.subtract, network.network, start)
        layers = zip(moved.weights, moved.biases, strict=True)
        flat = [jnp.concatenate([w.ravel(), b]) for w, b in layers]
        length = jnp.stack([jnp.linalg.norm(v) for v in flat])
        return jnp.stack([length, jnp.stack([jnp.max(jnp.abs(v)) for v in flat])])

    def coords(self) -> dict[str, np.ndarray]:
        """Norms 2 and ∞; layers from 1."""
        layer = np.arange(1, self.layers + 1)
        return {"norm": np.array(["2", "∞"]), "layer": layer}
