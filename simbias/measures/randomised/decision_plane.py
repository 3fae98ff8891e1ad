"""Where the decision boundary runs in a plane of two features."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import second_sample
from simbias.measures._randomised import dependence, logit, orthonormal
from simbias.validation.values import positive, positive_integers


class DecisionPlane(AbstractMeasure):
    """Share of positive outputs on a plane of two features.

    It is P(f > 0) with features 0 and j at (z₀, zⱼ), on a grid of [−limit, limit]².

    zⱼ is the part of x along feature j, in units of its length; the features should be
    orthogonal.  All other coordinates are those of the first `rows` test samples.
    Feature j is the complex one that f depends on most: the largest share of the
    variance in `FeatureDependence` among all but the first.

    Args:
        points: along each side of the grid.
        limit: largest |z|.
        rows: test samples averaged over.
    """

    points: int = eqx.field(static=True, default=41)
    limit: float = eqx.field(static=True, default=1.0)
    rows: int = eqx.field(static=True, default=20)
    dims: ClassVar[tuple[str, ...]] = ("simple_value", "complex_value")

    def __check_init__(self):
        positive_integers(points=self.points, rows=self.rows)
        positive("limit", self.limit)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "q q"]:
        """Shares of the samples classified as positive."""
        test = second_sample(data)
        if data.features.shape[0] < 2:
            raise BadInput(
                "`data.features` must be two or more, a simple and a complex one, got "
                f"an array of shape {data.features.shape}."
            )
        share = jnp.nan_to_num(dependence(network, data)[:, 1])
        is_complex = jnp.arange(share.shape[0], dtype=jnp.int32) > 0
        other = jnp.argmax(jnp.where(is_complex, share, -1))
        first = orthonormal(data.features[:1])[0]
        second = orthonormal(data.features[other][None, :])[0]
        x, weight = test.x[: self.rows], test.weight[: self.rows]
        along = lambda v: (x @ v)[:, None] * v[None, :]
        rest = x - along(first) - along(second)
        z = jnp.asarray(self._grid(), x.dtype)

        def of(here: Float[Array, "2"]) -> Float[Array, ""]:
            found = logit(network, rest + (here[0] * first + here[1] * second)[None, :])
            return jnp.sum(jnp.where(found > 0, weight, 0)) / jnp.sum(weight)

        points = jnp.stack(jnp.meshgrid(z, z, indexing="ij"), axis=-1)
        shares = jax.lax.map(of, points.reshape(-1, 2), batch_size=self.points)
        return shares.reshape(self.points, self.points)

    def coords(self) -> dict[str, np.ndarray]:
        """Values of z along both axes."""
        return {"simple_value": self._grid(), "complex_value": self._grid()}

    def _grid(self) -> np.ndarray:
        return np.linspace(-self.limit, self.limit, self.points)
