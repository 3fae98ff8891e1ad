"""A small convolutional network, for images of a few hundred pixels."""

import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Real
from simbias.errors import BadInput
from simbias.network import Pattern
from simbias.networks.convolution._layers import (
    Kernel,
    average_pool,
    convolution,
    uniform,
)
from simbias.numerics.cut import cut, numbers
from simbias.validation.values import positive, positive_integer, positive_integers


class Convolutional(AbstractNetwork):
    """Convolutions with ReLU and 2 × 2 means, a ReLU layer, a linear layer.

    An input is an image "c y x", flattened; y and x are divisible by (2 · stride) to
    the power of the number of kernels.  `frozen` names what is not trained.
    """

    kernels: tuple[Kernel, ...]
    shifts: tuple[Float[Array, " _"], ...]
    w: Float[Array, "p q"]
    b: Float[Array, " p"]
    a: Float[Array, "k p"]
    c: Float[Array, " k"]
    image: tuple[int, int, int] = eqx.field(static=True)
    stride: int = eqx.field(static=True, default=1)
    frozen: tuple[str, ...] = eqx.field(static=True, default=())

    has_kinks: ClassVar[bool] = True  # ReLU

    @property
    def kink_slopes(self) -> tuple[float, ...]:
        """0 for every convolution and for the ReLU layer."""
        return (0.0,) * (len(self.kernels) + 1)

    def gated(
        self, x: Float[Array, " d"], pattern: Pattern
    ) -> tuple[Float[Array, " k"], tuple[Float[Array, "..."], ...]]:
        """Output with these gates in place of ReLU, and all pre-activations."""
        h, out = x.reshape(1, *self.image), []
        *gates, last = zip(*pattern, strict=True)
        for kernel, b, gate in zip(self.kernels, self.shifts, gates, strict=True):
            z = convolution(h, kernel, self.stride)[0] + b[:, None, None]
            out.append(z)
            h = average_pool((gate[0] * z + gate[1])[None])
        z = self.w @ h.reshape(-1) + self.b
        return self.a @ (last[0] * z + last[1]) + self.c, (*out, z)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.a @ self.features(x) + self.c

    def features(self, x: Float[Array, " d"]) -> Float[Array, " p"]:
        """What the last layer acts on."""
        return self.activations(x)[-1]

    def activations(self, x: Float[Array, " d"]) -> tuple[Float[Array, "..."], ...]:
        """Of every convolution "c y x" after its means, and of the ReLU layer."""
        h, out = x.reshape(1, *self.image), []
        for kernel, shift in zip(self.kernels, self.shifts, strict=True):
            h = convolution(h, kernel, self.stride) + shift[None, :, None, None]
            h = average_pool(jax.nn.relu(h))
            out.append(h[0])
        return (*out, jax.nn.relu(self.w @ h.reshape(-1) + self.b))


def convolutional(
    key: PRNGKeyArray,
    *,
    image: tuple[int, int, int],
    k: int,
    channels: tuple[int, ...] = (8, 16),
    p: int = 64,
    scale: Real = 1.0,
    size: int = 3,
    stride: int = 1,
) -> Convolutional:
    """Torch's default start, times `scale`: every weight ~ U(±1/√inputs).

    Args:
        key: random key.
        image: channels, height and width of an input.
        k: outputs.
        channels: of each convolution.
        p: features, the neurons of the ReLU layer.
        scale: factor of every weight.
        size: of the kernels, size × size pixels; odd.
        stride: of the convolutions.

    Raises:
        ValueError: for a size out of range, or an image that cannot be halved.
    """
    positive_integers(k=k, p=p, size=size, stride=stride)
    if size % 2 == 0:
        raise BadInput(f"`size` must be odd, got {size}. Example: size=7.")
    positive("scale", scale)
    if not isinstance(image, tuple) or len(image) != 3:
        raise BadInput(
            f"`image` must be channels, height and width, got {image!r}. "
            "Example: image=(3, 32, 32)."
        )
    if not isinstance(channels, tuple):
        raise BadInput(f"`channels` must be a tuple, got {channels!r}.")
    for name, sizes in (("image", image), ("channels", channels)):
        for value in sizes:
            positive_integer(name, value)
    parts = (2 * stride) ** len(channels)
    if image[1] % parts or image[2] % parts:
        raise BadInput(
            f"`image` must have sides divisible by {parts}, got {image}. "
            f"Example: image=(1, {2 * parts}, {parts})."
        )
    sizes = (image[0], *channels)
    q = sizes[-1] * image[1] * image[2] // parts**2
    # Shape of each array, and the inputs of a neuron of its layer.
    arrays: list[tuple[tuple[int, ...], int]] = []
    for of, into in zip(sizes, channels, strict=False):
        inputs = size**2 * of
        arrays += [((into, of, size, size), inputs), ((into,), inputs)]
    arrays += [((p, q), q), ((p,), q), ((k, p), p), ((k,), p)]
    shapes = [shape for shape, _ in arrays]
    pieces = zip(arrays, cut(uniform(key, (numbers(shapes),), 1), shapes), strict=True)
    spread = lambda inputs: jnp.asarray(scale, jnp.float64) / math.sqrt(inputs)
    drawn = [spread(inputs) * piece for (_, inputs), piece in pieces]
    *convolutions, w, b, a, c = drawn
    kernels, shifts = tuple(convolutions[::2]), tuple(convolutions[1::2])
    return Convolutional(kernels, shifts, w, b, a, c, image, stride)
