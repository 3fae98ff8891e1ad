"""Residual networks with batch normalisation, in the form for small images."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Real
from simbias.networks.convolution._layers import (
    BatchNorm,
    Images,
    Kernel,
    batch_norm,
    convolution,
    he_normal,
    max_pool,
    uniform,
)
from simbias.validation.values import positive, positive_integers

_Weight = Float[Array, " n"] | None


class NormalisedConvolution(eqx.Module):
    """A convolution without bias, then batch normalisation."""

    kernel: Kernel
    norm: BatchNorm
    stride: int = eqx.field(static=True, default=1)

    def __call__(
        self, h: Images, weight: _Weight
    ) -> tuple[Images, "NormalisedConvolution"]:
        """On a batch, or (weight None) each row for itself; and the layer moved on."""
        h = convolution(h, self.kernel, self.stride)
        if weight is None:
            return self.norm.on_inputs(h), self
        h, norm = self.norm.on_batch(h, weight)
        return h, dataclasses.replace(self, norm=norm)


class Block(eqx.Module):
    """relu(second(relu(first(h))) + skip(h)); no `skip` is the identity."""

    first: NormalisedConvolution
    second: NormalisedConvolution
    skip: NormalisedConvolution | None

    def __call__(self, h: Images, weight: _Weight) -> tuple[Images, "Block"]:
        """On a batch, or (weight None) each row for itself; and the block moved on."""
        inner, first = self.first(h, weight)
        inner, second = self.second(jax.nn.relu(inner), weight)
        skip = self.skip
        if skip is not None:
            h, skip = skip(h, weight)
        return jax.nn.relu(inner + h), Block(first, second, skip)


class ResNet(AbstractNetwork):
    """Stem, blocks, mean over the pixels, linear layer.

    The running averages of batch normalisation are buffers: `network(x)` uses them,
    training uses the mini-batch and moves them (`on_sample`).  So a measure sees the
    network as it is deployed, and a stored member carries its averages with it.

    Reference: He et al. (2016), arXiv:1512.03385, section 4.2, as in torchvision.
    """

    stem: NormalisedConvolution
    blocks: tuple[Block, ...]
    a: Float[Array, "k p"]
    b: Float[Array, " k"]
    image: tuple[int, int, int] = eqx.field(static=True)
    has_max_pool: bool = eqx.field(static=True, default=False)

    has_kinks: ClassVar[bool] = True  # ReLU

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input, by the running averages."""
        return self.a @ self.features(x) + self.b

    def features(self, x: Float[Array, " d"]) -> Float[Array, " p"]:
        """Mean over the pixels of the last block, by the running averages."""
        return self._features(x[None, :], None)[0][0]

    def on_sample(
        self, x: Float[Array, "n d"], weight: Float[Array, " n"]
    ) -> tuple[Float[Array, "n k"], "ResNet"]:
        """Outputs normalised by the sample, and the network with averages moved."""
        features, moved = self._features(x, weight)
        return features @ self.a.T + self.b[None, :], moved

    def _features(
        self, x: Float[Array, "n d"], weight: _Weight
    ) -> tuple[Float[Array, "n p"], "ResNet"]:
        h, stem = self.stem(x.reshape(-1, *self.image), weight)
        h = jax.nn.relu(h)
        if self.has_max_pool:
            h = max_pool(h)
        blocks = []
        for block in self.blocks:
            h, block = block(h, weight)
            blocks.append(block)
        moved = dataclasses.replace(self, stem=stem, blocks=tuple(blocks))
        return jnp.mean(h, (2, 3)), moved


def resnet(
    key: PRNGKeyArray,
    *,
    image: tuple[int, int, int] = (3, 32, 32),
    k: int = 10,
    widths: tuple[int, ...] = (64, 128, 256, 512),
    depth: int = 2,
    scale: Real = 1.0,
    has_max_pool: bool = False,
) -> ResNet:
    """ResNet-18 by default, with a 3 × 3 stem of stride 1; torchvision's start.

    Kernels ~ N(0, 2/(9 · outputs)), gains 1, shifts 0, last layer U(±1/√p).

    Args:
        key: random key.
        image: channels, height and width of an input.
        k: outputs.
        widths: channels of each stage; the stages after the first halve the image.
        depth: blocks per stage, two convolutions each.
        scale: factor of every weight and gain.
        has_max_pool: 3 × 3 pooling of stride 2 after the stem, as for large images.

    Raises:
        ValueError: for a size out of range.
    """
    positive_integers(k=k, depth=depth)
    positive("scale", scale)
    scale = jnp.asarray(scale, jnp.float64)
    key_stem, key_blocks, key_a, key_b = jax.random.split(key, 4)
    stem = _layer(key_stem, image[0], widths[0], 3, 1, scale)
    blocks, of = [], widths[0]
    for stage, into in enumerate(widths):
        for i in range(depth):
            key_block = jax.random.fold_in(key_blocks, stage * depth + i)
            stride = 2 if stage and not i else 1
            blocks.append(_block(key_block, of, into, stride, scale))
            of = into
    a, b = uniform(key_a, (k, of), of), uniform(key_b, (k,), of)
    return ResNet(stem, tuple(blocks), scale * a, scale * b, image, has_max_pool)


def _block(
    key: PRNGKeyArray, of: int, into: int, stride: int, scale: Float[Array, ""]
) -> Block:
    key_first, key_second, key_skip = jax.random.split(key, 3)
    is_plain = of == into and stride == 1
    return Block(
        _layer(key_first, of, into, 3, stride, scale),
        _layer(key_second, into, into, 3, 1, scale),
        None if is_plain else _layer(key_skip, of, into, 1, stride, scale),
    )


def _layer(
    key: PRNGKeyArray,
    of: int,
    into: int,
    size: int,
    stride: int,
    scale: Float[Array, ""],
) -> NormalisedConvolution:
    kernel = scale * he_normal(key, (into, of, size, size))
    return NormalisedConvolution(kernel, batch_norm(into, scale), stride)
