"""Layers of convolutional networks, for a batch of images "n c y x"."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Buffer

# Rows and channels, height, width.
Images = Float[Array, "n _ _ _"]
# Size up to which XLA convolves.  On a CPU its gradient of a 7 × 7 kernel, inside a
# loop, takes 15 to 40 times as long as the product of matrices.
_SMALL = 3
# Outputs, inputs, size, size.
Kernel = Float[Array, "_ _ s s"]


class BatchNorm(eqx.Module):
    """gain · (h − μ)/√(v + ε) + shift, channel by channel.

    On a batch μ and v are its mean and (biased) variance over rows and pixels; on
    single inputs they are running averages, which every batch moves by `rate` towards
    its own mean and unbiased variance: torch's convention.

    Reference: Ioffe & Szegedy (2015), arXiv:1502.03167, algorithm 1.
    """

    gain: Float[Array, " c"]
    shift: Float[Array, " c"]
    mean: Buffer
    variance: Buffer
    epsilon: float = eqx.field(static=True, default=1e-5)
    rate: float = eqx.field(static=True, default=0.1)

    def on_batch(
        self, h: Images, weight: Float[Array, " n"]
    ) -> tuple[Images, "BatchNorm"]:
        """Normalised by the rows with their weights, and with the averages moved."""
        total = jnp.sum(weight) * (h.shape[2] * h.shape[3])
        shares = weight[:, None, None, None] / total
        mean = jnp.sum(shares * h, (0, 2, 3))
        variance = jnp.sum(shares * (h - _wide(mean)) ** 2, (0, 2, 3))
        # One pixel of weight has no unbiased variance.
        unbiased = variance * total / jnp.maximum(total - 1, 1)
        move = lambda old, new: Buffer(old.value + self.rate * (new - old.value))
        moved = dataclasses.replace(
            self, mean=move(self.mean, mean), variance=move(self.variance, unbiased)
        )
        return self._normalised(h, mean, variance), moved

    def on_inputs(self, h: Images) -> Images:
        """Normalised by the running averages, each row for itself."""
        return self._normalised(h, self.mean.value, self.variance.value)

    def _normalised(
        self, h: Images, mean: Float[Array, " c"], variance: Float[Array, " c"]
    ) -> Images:
        factor = self.gain * jax.lax.rsqrt(variance + self.epsilon)
        return (h - _wide(mean)) * _wide(factor) + _wide(self.shift)


def batch_norm(channels: int, scale: Float[Array, ""]) -> BatchNorm:
    """Gain `scale` and shift 0; the averages begin at mean 0 and variance 1."""
    zero, one = jnp.zeros(channels, jnp.float64), jnp.ones(channels, jnp.float64)
    return BatchNorm(scale * one, zero, Buffer(zero), Buffer(one))


def convolution(h: Images, kernel: Kernel, stride: int = 1) -> Images:
    """Σ kernel · shifted image, with zeros outside; kernels of odd size."""
    if kernel.shape[2] > _SMALL:
        return _by_windows(h, kernel, stride)
    pad = kernel.shape[2] // 2
    return jax.lax.conv_general_dilated(
        h,
        kernel,
        (stride, stride),
        [(pad, pad), (pad, pad)],
        dimension_numbers=("NCHW", "OIHW", "NCHW"),
    )


def _by_windows(h: Images, kernel: Kernel, stride: int) -> Images:
    """A product of matrices: of the kernel, and of the pixels in every window."""
    n, _, height, width = h.shape
    into, _, size, _ = kernel.shape
    border = [(0, 0), (0, 0), (size // 2,) * 2, (size // 2,) * 2]
    wide = jnp.pad(h, border)
    shifted = [
        wide[:, :, i : i + height : stride, j : j + width : stride]
        for i in range(size)
        for j in range(size)
    ]
    windows = jnp.stack(shifted, axis=2)
    shape = (n, into, *windows.shape[3:])
    windows = windows.reshape(n, math.prod(kernel.shape[1:]), -1)
    return jnp.einsum("oq,nqp->nop", kernel.reshape(into, -1), windows).reshape(shape)


def max_pool(h: Images) -> Images:
    """Largest of 3 × 3 pixels, stride 2, with a border that never wins."""
    # A constant of NumPy: of a traced one jax does not know that it is below all, and
    # has no gradient then.
    low = np.asarray(-np.inf, h.dtype)
    pads = [(0, 0), (0, 0), (1, 1), (1, 1)]
    return jax.lax.reduce_window(h, low, jax.lax.max, (1, 1, 3, 3), (1, 1, 2, 2), pads)


def average_pool(h: Images) -> Images:
    """Mean of 2 × 2 pixels, stride 2; even sizes."""
    n, c, y, x = h.shape
    return jnp.mean(h.reshape(n, c, y // 2, 2, x // 2, 2), (3, 5))


def uniform(
    key: PRNGKeyArray, shape: tuple[int, ...], inputs: int
) -> Float[Array, "..."]:
    """U(±1/√inputs), torch's default for weights and biases."""
    bound = 1 / math.sqrt(inputs)
    return jax.random.uniform(key, shape, jnp.float64, minval=-bound, maxval=bound)


def he_normal(key: PRNGKeyArray, shape: tuple[int, int, int, int]) -> Kernel:
    """N(0, 2/(outputs · size²)), the law of torchvision's residual networks."""
    deviation = math.sqrt(2 / (shape[0] * shape[2] * shape[3]))
    return deviation * jax.random.normal(key, shape, jnp.float64)


def _wide(v: Float[Array, " c"]) -> Float[Array, "1 c 1 1"]:
    return v[None, :, None, None]
