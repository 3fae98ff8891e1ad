"""Accuracy for the class that rows were edited to be of."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class TargetAccuracy(AbstractMeasure):
    """Share of edited rows that the network of the real law puts in the target class.

    The edited rows are in `data.others` under the name of the edit; NaN without them.
    The network of the real law is the first of `network.stack`, whose arrays have one
    axis more, of `network.count` networks.

    Args:
        edits: names of the edits.
    """

    edits: tuple[str, ...] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("edit",)

    def coords(self) -> dict[str, np.ndarray]:
        """What was done to the rows."""
        return {"edit": np.array(self.edits)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " e"]:
        """Accuracy for the target class, not for the source; no row is padding."""
        if not {*self.edits} <= {*data.others}:
            return jnp.full(len(self.edits), jnp.nan)
        first = jax.tree.map(lambda v: v[0], network.stack)

        def share(edited: Dataset) -> Array:
            x, y = (v[:, : v.shape[1] // network.count] for v in (edited.x, edited.y))
            found = jax.vmap(first)(x)
            return jnp.mean(jnp.argmax(found, -1) == jnp.argmax(y, -1))

        return jnp.stack([share(data.others[name]) for name in self.edits])
