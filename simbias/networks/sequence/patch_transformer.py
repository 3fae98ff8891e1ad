"""The transformer of images: an encoder of their patches, read at an end token."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Real
from simbias.errors import BadInput
from simbias.networks.sequence._laws import Entry, drawn
from simbias.networks.sequence.transformer import (
    Affine,
    EncoderLayer,
    Norm,
    States,
    encoder_layers,
    layer_norm,
)
from simbias.numerics.patches import patch_numbers
from simbias.validation.values import positive_integer


class PatchTransformer(AbstractNetwork):
    """f(x) = a · norm(h_end), h the states of patches and an end after L layers.

    h⁰ᵢ = W pᵢ + b + positionᵢ, pᵢ the q entries of patch i, and h⁰_end = end +
    position_end.  Every position sees every other.  An input is an image "c y x",
    flattened.  Rows of which one entry is not 0, as patches of one row each, are tokens
    of an alphabet: W then holds a column for each.

    `embedded` gives W pᵢ + b, and `read` the outputs that follow from it.  `frozen`
    names what is not trained.

    Reference: Dosovitskiy et al. (2021), arXiv:2010.11929, with the layers of
    `Transformer`.
    """

    embedding: Affine
    end: Float[Array, "1 m"]
    positions: Float[Array, "_ m"]
    layers: tuple[EncoderLayer, ...]
    norm: Norm
    a: Float[Array, "k m"]
    image: tuple[int, int, int] = eqx.field(static=True)
    patch: tuple[int, int] = eqx.field(static=True)
    frozen: tuple[str, ...] = eqx.field(static=True, default=())

    has_kinks: ClassVar[bool] = True  # ReLU

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.read(self.embedded(x))

    def embedded(self, x: Float[Array, " d"]) -> States:
        """Patch by patch, before positions are added."""
        order = np.argsort(patch_numbers(self.image, self.patch), kind="stable")
        return self.embedding(x[order].reshape(self.positions.shape[0] - 1, -1))

    def read(self, h: States) -> Float[Array, " k"]:
        """Output for embedded patches."""
        return self.a @ self._after(h)

    def features(self, x: Float[Array, " d"]) -> Float[Array, " m"]:
        """norm(h_end), what the output is linear in."""
        return self._after(self.embedded(x))

    def _after(self, h: States) -> Float[Array, " m"]:
        h = jnp.concatenate([h, self.end]) + self.positions
        for layer in self.layers:
            h = layer(h, None, None)
        return self.norm(h[-1])


def patch_transformer(
    key: PRNGKeyArray,
    *,
    image: tuple[int, int, int],
    patch: tuple[int, int] = (2, 2),
    k: int = 1,
    width: int = 32,
    depth: int = 2,
    heads: int = 1,
    feed_forward: int | None = None,
    law: str = "default",
    scale: Real | None = None,
    has_norm: bool = True,
    has_skips: bool = True,
) -> PatchTransformer:
    """A transformer of patches with the initial law of a name; gains of norms are 1.

    Args:
        key: random key.
        image: channels, height and width of an input.
        patch: height and width of a patch, which divide those of the image.
        k: outputs.
        width: m, of a state.
        depth: layers.
        heads: of the attention; they divide the width.
        feed_forward: neurons of the two ReLU layers; None is twice the width.
        law: "uniform", "normal", "xavier" or "default", as of `transformer`; W is a
            matrix, the end token a token.
        scale: as of `transformer`.
        has_norm: False leaves out every layer normalisation.
        has_skips: False leaves out what a layer adds its parts to.

    Raises:
        ValueError: for a size, name or number out of range.
    """
    if not isinstance(image, tuple) or len(image) != 3:
        raise BadInput(
            f"`image` must be channels, height and width, got {image!r}. "
            "Example: image=(1, 8, 8)."
        )
    for value in image:
        positive_integer("image", value)
    positive_integer("k", k)
    numbers = patch_numbers(image, patch)
    t = int(numbers.max()) + 1
    q = len(numbers) // t
    entries, made = encoder_layers(
        width, depth, heads, feed_forward, has_norm=has_norm, has_skips=has_skips
    )
    ends = [
        Entry("matrix", (width, q), q),
        Entry("bias", (width,), q),
        Entry("token", (1, width)),
        Entry("position", (t + 1, width)),
        Entry("read-out", (k, width), width),
    ]
    arrays = drawn(key, [*ends, *entries], law, scale)
    (w, b, end, positions, a), arrays = arrays[:5], arrays[5:]
    norm = layer_norm(width, has_norm)
    return PatchTransformer(
        Affine(w, b), end, positions, made(arrays), norm, a, image, patch
    )
