"""How much of each frequency of a target is left on the arcs of the circle."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs
from simbias.validation.values import positive_integer


class ArcShares(AbstractMeasure):
    """Share of each frequency that is not learned yet, on each arc of the circle.

    It is the amplitude of frequency k in y − f over that in y.

    |Σᵢ (yᵢ − f(xᵢ)) e^{ikθᵢ}| / |Σᵢ yᵢ e^{ikθᵢ}| over the inputs
    xᵢ = (cos θᵢ, sin θᵢ) of an arc, for a network of one output.  The frequencies are
    told apart if the inputs of an arc are at equal distances and k is a multiple of
    the number of arcs.

    Args:
        frequencies: k, in periods around the whole circle.
        arcs: of equal length; the first starts at θ = 0.

    Reference: Basri et al. (2020), arXiv:2003.04560.
    """

    frequencies: tuple[int, ...] = eqx.field(static=True)
    arcs: int = eqx.field(static=True, default=3)
    dims: ClassVar[tuple[str, ...]] = ("arc", "frequency")

    def __check_init__(self):
        positive_integer("arcs", self.arcs)

    def coords(self) -> dict[str, np.ndarray]:
        """Arcs in the order of the angle; frequencies."""
        return {"arc": np.arange(self.arcs), "frequency": np.asarray(self.frequencies)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "arc frequency"]:
        """Without units; 1 for f = 0."""
        angle = jnp.arctan2(data.x[:, 1], data.x[:, 0]) % (2 * jnp.pi)
        arc = jnp.floor(angle * self.arcs / (2 * jnp.pi))
        is_in = arc[None] == jnp.arange(self.arcs, dtype=arc.dtype)[:, None]
        turn = jnp.asarray(self.frequencies, angle.dtype)[:, None] * angle[None]
        # Padding lies at the origin, on no arc.
        is_in = is_in & (data.weight > 0)[None]
        left = (data.y - outputs(network, data.x))[:, 0]
        waves = [wave(turn).T for wave in (jnp.cos, jnp.sin)]
        parts = lambda v: jnp.where(is_in, v[None], 0)
        amplitude = lambda v: jnp.hypot(*(parts(v) @ wave for wave in waves))
        return amplitude(left) / amplitude(data.y[:, 0])
