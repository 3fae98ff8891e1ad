"""How often the class of an image changes when one patch of it is noise."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import classes, outputs
from simbias.validation.values import positive, positive_integers


class PatchSensitivity(AbstractMeasure):
    """Sensitivity to noise in one patch: how often it changes the class.

    S = E_x E_i Pr[class of x ≠ class of x with patch i replaced by noise].

    The patches are rows of `data.features`, which are not 0 on their coordinates.
    Noise is N(0, s²) in every coordinate, independent for every image and the same for
    all of its patches, all networks and all times.  The class is that of the largest
    output, or the sign of one.

    Args:
        noise: s, a standard deviation in units of the inputs.
        rows: images, the first of the training sample; padding does not count.
        draws: of the noise for each.
        is_whole: replaces every patch at once, in place of one at a time.
        seed: of the noise.

    Reference: Vasudeva, Fu, Zhou, Kau, Huang & Sharan (2024), arXiv:2403.06925,
    section 5.  Their published code replaces random pixels, the same of all images of a
    batch, in place of a patch, and calls `var` what is a standard deviation.
    """

    noise: float = eqx.field(static=True, default=1.0)
    rows: int = eqx.field(static=True, default=100)
    draws: int = eqx.field(static=True, default=1)
    is_whole: bool = eqx.field(static=True, default=False)
    seed: int = eqx.field(static=True, default=0)

    def __check_init__(self):
        positive("noise", self.noise)
        positive_integers(rows=self.rows, draws=self.draws)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Sensitivity, from 0 to 1; any network.

        Raises:
            ValueError: if the sample says nothing of patches.
        """
        if data.features.shape[0] == 0:
            raise BadInput(
                "`data.features` must hold a row for every patch, not 0 on its "
                "coordinates, got none."
            )
        x, weight = data.x[: self.rows], data.weight[: self.rows]
        found = classes(outputs(network, x))
        is_patch = data.features != 0
        if self.is_whole:
            is_patch = jnp.any(is_patch, axis=0, keepdims=True)
        shape = (self.draws, *x.shape)
        drawn = jax.random.normal(jax.random.key(self.seed), shape, jnp.float64)
        drawn = (jnp.asarray(self.noise, jnp.float64) * drawn).astype(x.dtype)

        def changed(mask):
            mixed = jnp.where(mask[None, None, :], drawn, x[None])
            other = classes(outputs(network, mixed.reshape(-1, x.shape[1])))
            return jnp.mean(other.reshape(self.draws, -1) != found[None], axis=0)

        share = jnp.mean(jax.lax.map(changed, is_patch), axis=0).astype(x.dtype)
        return jnp.sum(weight * share) / jnp.sum(weight)
