"""Error on the real law, of networks that were trained on clones of a sample."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.clones._side import of_each


class RealError(AbstractMeasure):
    """Mean squared error, ½|f − y|², of each of several networks on the real law.

    The rows are `data.others["real"]`, inputs and targets of all networks side by side.

    Args:
        trained_on: what each network was trained on.
    """

    trained_on: tuple[str, ...] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("trained_on",)

    def coords(self) -> dict[str, np.ndarray]:
        """What the network was trained on."""
        return {"trained_on": np.array(self.trained_on)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " g"]:
        """With the ½ of `half_mse`; no row is padding."""
        real, count = data.others["real"], len(self.trained_on)
        found = of_each(network, real.x, count)
        gap = found - real.y.reshape(len(real.y), count, -1)
        return jnp.mean(jnp.sum(gap**2, axis=-1), axis=0) / 2
