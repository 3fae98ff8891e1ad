"""How much of each frequency of a target on the circle is learned, and is left."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs


class CircleShares(AbstractMeasure):
    """Share of each frequency that is learned, and that is not, on the circle.

    They are the amplitudes of frequency k in f, and in y − f, over that in y.

    |Σᵢ f(xᵢ) e^{ikθᵢ}| / |Σᵢ yᵢ e^{ikθᵢ}|, and the same of y − f, for inputs
    xᵢ = (cos θᵢ, sin θᵢ) at equal distances and a network of one output.

    Args:
        frequencies: k, in periods around the circle.

    Reference: Basri et al. (2019), arXiv:1906.00425.
    """

    frequencies: tuple[int, ...] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("part", "frequency")

    def coords(self) -> dict[str, np.ndarray]:
        """Learned and left."""
        parts = np.array(["learned", "left"])
        return {"part": parts, "frequency": np.asarray(self.frequencies)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "part frequency"]:
        """Without units; their sum is 1 where the phases agree."""
        f = outputs(network, data.x)
        values = jnp.concatenate([f, data.y - f, data.y], axis=1)
        values = jnp.where((data.weight > 0)[:, None], values, 0)
        angle = jnp.arctan2(data.x[:, 1], data.x[:, 0])
        turn = jnp.asarray(self.frequencies, f.dtype)[:, None] * angle[None]
        parts = (wave(turn) @ values for wave in (jnp.cos, jnp.sin))
        learned, left, whole = jnp.hypot(*parts).T
        return jnp.stack([learned / whole, left / whole])
