"""How much of a network takes part, by the sign of its output weights."""

from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import is_active, mass_shares, single_output


class LiveMass(AbstractMeasure):
    """Share of the mass Σⱼ |aⱼ|‖wⱼ‖ in live neurons with aⱼ > 0, and with aⱼ < 0.

    Live: wⱼ·xᵢ + bⱼ > 0 on at least one training sample.  What is missing to 1 is held
    by dead neurons.  A hidden bias is one more coordinate of wⱼ.  NaN for a network of
    zeros.  One output only.
    """

    dims: ClassVar[tuple[str, ...]] = ("sign",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2"]:
        """Shares in [0, 1]: positive, negative.

        Raises:
            ValueError: if the network has several outputs.
        """
        a = single_output(network)
        is_live = jnp.any(is_active(network, data), axis=0)
        shares = mass_shares(network)
        # A neuron with aⱼ = 0 has no mass; NaN shares must stay NaN.
        kept = jnp.where(is_live | jnp.isnan(shares), shares, 0)
        is_other = jnp.stack([a < 0, a > 0])
        return jnp.sum(jnp.where(is_other, 0, kept[None, :]), axis=1)

    def coords(self) -> dict[str, np.ndarray]:
        """Sign of aⱼ."""
        return {"sign": np.array([1, -1])}
