"""What is counted of a sample in the plane, at time 0."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.theory.plane_extrema import plane_extrema

# Slope of the activation for negative inputs, by name; `signs` has the second target.
SLOPES = {"relu": 0.0, "leaky": 0.5, "signs": 0.0}
KINDS = ("inside", "on_kinks", "between", "spread")


class PlaneCounts(AbstractMeasure):
    """Extrema of G in the plane, by case, kind and sign of aⱼ.

    The kinds are the fields of `PlaneExtrema`; the last is no number but an angle.
    """

    dims: ClassVar[tuple[str, ...]] = ("case", "kind", "sign")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3 4 2"]:
        """Of the sample; the network is not looked at."""
        del network
        column = [int(name == "signs") for name in SLOPES]
        pull = (data.weight[None] * data.y.T / jnp.sum(data.weight))[jnp.array(column)]
        slope = jnp.array([*SLOPES.values()], pull.dtype)
        found = jax.vmap(plane_extrema, in_axes=(None, 0, 0))(data.x, pull, slope)
        return jnp.stack([v.astype(pull.dtype) for v in found], axis=1)

    def coords(self) -> dict[str, np.ndarray]:
        """Names of cases and kinds, signs."""
        names = {"case": np.array([*SLOPES]), "kind": np.array(KINDS)}
        return names | {"sign": np.array([1, -1])}
