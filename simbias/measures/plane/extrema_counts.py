"""How many directions of the plane are extrema of G, the pull on small neurons."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.theory.plane_extrema import PlaneExtrema, plane_extrema


class ExtremaCounts(AbstractMeasure):
    """Extrema of G(w) = (1/n) Σᵢ yᵢ φ(w·xᵢ) in the plane, by case, kind and sign of aⱼ.

    The kinds are the fields of `PlaneExtrema`; the last is no number but an angle.

    Args:
        cases: of each its name, the slope of φ for negative inputs, and the column of
            the targets.

    Reference: Boursier & Flammarion (2024), arXiv:2410.02348, extremal vectors.
    """

    cases: tuple[tuple[str, float, int], ...] = eqx.field(
        static=True, default=(("relu", 0.0, 0),)
    )
    dims: ClassVar[tuple[str, ...]] = ("case", "kind", "sign")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "case 4 2"]:
        """Of the sample, which has two inputs; the network is not looked at."""
        column = [case[2] for case in self.cases]
        pull = (data.weight[None] * data.y.T / jnp.sum(data.weight))[jnp.array(column)]
        slope = jnp.array([case[1] for case in self.cases], pull.dtype)
        found = jax.vmap(plane_extrema, in_axes=(None, 0, 0))(data.x, pull, slope)
        return jnp.stack([v.astype(pull.dtype) for v in found], axis=1)

    def coords(self) -> dict[str, np.ndarray]:
        """Names of cases and kinds, signs."""
        names = {"case": np.array([case[0] for case in self.cases])}
        kinds = {"kind": np.array(PlaneExtrema._fields)}
        return names | kinds | {"sign": np.array([1, -1])}
