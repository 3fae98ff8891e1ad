"""How much of each part of a target a network has learned."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure


class LearnedParts(AbstractMeasure):
    """How much of each part of the target is learned: 1 if it is, 0 if nothing is.

    For a part v_j it is Σ f v_j / Σ v_j² over the probe.

    With the waves of a target on an even grid their amplitudes in phase with it; with
    principal components what `PrincipalColumns` is, over that of the target.  Of a
    sample that has `probe` and `probe_parts`, such as `datasets.circle_waves`.
    """

    dims: ClassVar[tuple[str, ...]] = ("part",)

    def __call__(self, network: Any, data: Any) -> Float[Array, " p"]:
        """NaN for a part that the task does not have."""
        f = jax.vmap(network)(data.probe)[:, 0]
        size = jnp.sum(data.probe_parts**2, axis=0)
        seen = f @ data.probe_parts / jnp.where(size > 0, size, 1)
        return jnp.where(size > 0, seen, jnp.nan)
