"""How often the class changes when the embeddings of the tokens are noised."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import classes, outputs
from simbias.validation.values import positive, positive_integer


class EmbeddingSensitivity(AbstractMeasure):
    """Sensitivity to noise in the embeddings: how often it changes the class.

    S = E_x Pr[class of h(x) ≠ class of h(x) + s ξ], ξ standard Gaussian.

    h(x) are the embedded tokens of a network with `embedded` and `read`, before
    positions are added; the noise is on all of them.  It is independent for every row
    of the sample and the same for all networks and times.

    Args:
        noise: s, a standard deviation in units of the entries of h.
        is_relative: s in units of the root mean square of all entries of h over the
            sample: then S does not see the scale of the embedding.
        draws: of the noise for each row.
        seed: of the noise.

    Reference: Vasudeva, Fu, Zhou, Kau, Huang & Sharan (2024), arXiv:2403.06925, on
    grokking.
    """

    noise: float = eqx.field(static=True, default=0.1)
    is_relative: bool = eqx.field(static=True, default=False)
    draws: int = eqx.field(static=True, default=1)
    seed: int = eqx.field(static=True, default=0)

    def __check_init__(self):
        positive("noise", self.noise)
        positive_integer("draws", self.draws)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Sensitivity, from 0 to 1.

        Raises:
            ValueError: for a network without `embedded` and `read`.
        """
        missing = [v for v in ("embedded", "read") if not callable(_of(network, v))]
        if missing:
            raise BadInput(
                f"EmbeddingSensitivity needs a network with `{missing[0]}`, got a "
                f"{type(network).__name__}. Example: patch_transformer."
            )
        h = jax.vmap(network.embedded)(data.x)
        found = classes(outputs(network.read, h))
        weight = data.weight
        s = jnp.asarray(self.noise, h.dtype)
        if self.is_relative:
            square = jnp.mean(h**2, axis=(1, 2))
            s = s * jnp.sqrt(jnp.sum(weight * square) / jnp.sum(weight))

        def changed(key):
            drawn = jax.random.normal(key, h.shape, jnp.float64).astype(h.dtype)
            return classes(outputs(network.read, h + s * drawn)) != found

        keys = jax.random.split(jax.random.key(self.seed), self.draws)
        share = jnp.mean(jax.lax.map(changed, keys).astype(h.dtype), axis=0)
        return jnp.sum(weight * share) / jnp.sum(weight)


def _of(network: Any, name: str) -> Any:
    return getattr(network, name, None)
