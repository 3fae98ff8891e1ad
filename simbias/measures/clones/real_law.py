"""What networks that were trained on clones of a sample do on the real law."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.validation.values import positive_integer


class RealAccuracy(AbstractMeasure):
    """Share of rows of the real law that each of several networks classifies.

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
        """Accuracy of the largest output; no row is padding."""
        real, count = data.others["real"], len(self.trained_on)
        found = of_each(network, real.x, count)
        true = real.y.reshape(len(real.y), count, -1)
        return jnp.mean(jnp.argmax(found, -1) == jnp.argmax(true, -1), axis=0)


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


class RealOutputs(AbstractMeasure):
    """Outputs of each of several networks on a few rows of the real law.

    The rows are `data.others["real"]`, inputs of all networks side by side.

    Args:
        trained_on: what each network was trained on.
        rows: how many, evenly spaced.
    """

    trained_on: tuple[str, ...] = eqx.field(static=True)
    rows: int = eqx.field(static=True, default=8)
    dims: ClassVar[tuple[str, ...]] = ("row", "trained_on", "output")

    def __check_init__(self):
        positive_integer("rows", self.rows)

    def coords(self) -> dict[str, np.ndarray]:
        """What the network was trained on."""
        return {"trained_on": np.array(self.trained_on)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "row g k"]:
        """By row, network and output."""
        x = data.others["real"].x
        few = x[:: max(len(x) // self.rows, 1)][: self.rows]
        return of_each(network, few, len(self.trained_on))


def of_each(network: Any, x: Float[Array, "n d"], count: int) -> Float[Array, "n g k"]:
    """Outputs of `count` networks, which the member has side by side."""
    return jax.vmap(network)(x).reshape(len(x), count, -1)
