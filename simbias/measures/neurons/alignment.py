"""How much of a network points along one line."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.measures._cosine import cosines
from simbias.measures._neurons import mass_shares


class Alignment(AbstractMeasure):
    """Share of the mass Σⱼ |aⱼ|‖wⱼ‖ in neurons with |cos(wⱼ, u)| > `threshold`.

    u as in `NeuronCosine`: the sample's least-squares direction, or a feature.  With
    `is_mass_weighted` False, the share of the neurons instead.  0.99 is 8.1 degrees,
    either way along the line.  NaN for a network of zeros.

    For a random direction in ℝᵈ the share is P(|u₁| > threshold): 0.09 for d = 2 and
    1.5e-4 for d = 5.

    Reference: Boursier & Flammarion (2024), arXiv:2410.02348, two spikes at ±1 at
    the end of training.
    """

    threshold: float = eqx.field(static=True, default=0.99)
    feature: int | None = eqx.field(static=True, default=None)
    output: int = eqx.field(static=True, default=0)
    is_mass_weighted: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        if not 0 <= self.threshold < 1:
            raise BadInput(
                f"`threshold` is a cosine and must lie in [0, 1), got "
                f"{self.threshold}. Example: threshold=0.99."
            )

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Share that is aligned."""
        c = cosines(network, data, self.feature, self.output)
        shares = mass_shares(network)
        if not self.is_mass_weighted:
            shares = jnp.where(jnp.isnan(shares), jnp.nan, 1 / shares.shape[0])
        is_aligned = jnp.abs(c) > self.threshold
        return jnp.sum(jnp.where(is_aligned | jnp.isnan(shares), shares, 0))
