"""Gabor functions on a small window, and the best of them for a filter."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

# Lengths in pixels; the envelope is σ wide across the stripes and `stretch` σ along.
_OFFSETS = (-2.0, -1.0, 0.0, 1.0, 2.0)
_ANGLES = tuple(np.pi * i / 8 for i in range(8))
_WAVELENGTHS = (3.0, 4.0, 5.5, 7.5)
_WIDTHS = (1.0, 1.5, 2.2)
_STRETCHES = (1.0, 1.6)


def gabor_pairs(size: int) -> Float[np.ndarray, "g 2 q"]:
    """Orthonormal pairs that span the Gabor functions of every phase, q = size².

    exp(−(u² + (v/r)²)/2σ²) · (cos 2πu/λ − c), and the same with the sine, u and v
    being turned coordinates around a centre and c such that the sum is 0: a filter
    that is a blob is no Gabor.  4800 centres, angles, wavelengths, widths, stretches.

    Reference: Gabor (1946), J. IEE 93, 429; the grid is ours.
    """
    i = np.arange(size) - (size - 1) / 2
    y, x = (v.ravel() for v in np.meshgrid(i, i, indexing="ij"))
    grid = itertools.product(
        _OFFSETS, _OFFSETS, _ANGLES, _WAVELENGTHS, _WIDTHS, _STRETCHES
    )
    columns = np.array(list(grid)).T[:, :, None]
    down, right, angle, wavelength, width, stretch = columns
    dy, dx = y[None] - down, x[None] - right
    cos, sin = np.cos(angle), np.sin(angle)
    u, v = cos * dx + sin * dy, cos * dy - sin * dx
    envelope = np.exp(-(u**2 + (v / stretch) ** 2) / (2 * width**2))
    waves = [envelope * f(2 * np.pi * u / wavelength) for f in (np.cos, np.sin)]
    even, odd = (
        w - envelope * w.sum(1, keepdims=True) / envelope.sum(1, keepdims=True)
        for w in waves
    )
    unit = lambda w: w / np.linalg.norm(w, axis=1, keepdims=True)
    even = unit(even)
    odd = unit(odd - even * np.sum(even * odd, axis=1, keepdims=True))
    return np.stack([even, odd], axis=1)


def best_gabor(
    kernel: Float[Array, "c s s"], pairs: Float[Array, "g 2 q"]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """R² of the best v ⊗ Gabor with any v in the space of channels, and v's colour.

    For each pair Q the best is the first singular vector of K Qᵀ, a matrix of
    channels × 2.  The colour is 1 − (Σv)²/(c‖v‖²), 0 for grey and 1 for a v whose
    channels sum to 0; of one channel 0.  0 and 0 for a filter of zeros.
    """
    rows = kernel.reshape(kernel.shape[0], -1)
    total = jnp.sum(rows**2)
    a = jnp.einsum("cq,gpq->gcp", rows, pairs, precision="highest")
    gram = jnp.einsum("gcp,gcr->gpr", a, a, precision="highest")
    half = (gram[:, 0, 0] + gram[:, 1, 1]) / 2
    gap = jnp.hypot((gram[:, 0, 0] - gram[:, 1, 1]) / 2, gram[:, 0, 1])
    best = jnp.argmax(half + gap)
    explained = (half + gap)[best]
    _, vectors = jnp.linalg.eigh(gram[best])
    v = a[best] @ vectors[:, 1]
    square = jnp.sum(v**2)
    grey = jnp.sum(v) ** 2 / (len(v) * jnp.where(square > 0, square, 1))
    is_there = total > 0
    share = explained / jnp.where(is_there, total, 1)
    return jnp.where(is_there, share, 0), jnp.where(square > 0, 1 - grey, 0)


def best_gabors(kernels: Float[Array, "f c s s"]) -> Float[Array, "f 2"]:
    """R² and colour of every filter."""
    pairs = jnp.asarray(gabor_pairs(kernels.shape[2]), kernels.dtype)
    fit = lambda kernel: jnp.stack(best_gabor(kernel, pairs))
    return jax.lax.map(fit, kernels)
