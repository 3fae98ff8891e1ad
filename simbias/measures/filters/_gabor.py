"""Gabor functions and blobs on a small window, and the best of them for a filter."""

import itertools

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
    columns = _columns(_OFFSETS, _OFFSETS, _ANGLES, _WIDTHS, _STRETCHES, _WAVELENGTHS)
    u, envelope = _envelopes(size, columns[:5])
    waves = [envelope * f(2 * np.pi * u / columns[5]) for f in (np.cos, np.sin)]
    even, odd = (
        w - envelope * w.sum(1, keepdims=True) / envelope.sum(1, keepdims=True)
        for w in waves
    )
    even = _unit(even)
    odd = _unit(odd - even * np.sum(even * odd, axis=1, keepdims=True))
    return np.stack([even, odd], axis=1)


def blobs(size: int) -> Float[np.ndarray, "g 2 q"]:
    """The envelopes of `gabor_pairs` without a wave, of norm 1, each beside a 0."""
    columns = _columns(_OFFSETS, _OFFSETS, _ANGLES, _WIDTHS, _STRETCHES)
    blob = _unit(_envelopes(size, columns)[1])
    return np.stack([blob, np.zeros_like(blob)], axis=1)


def best_fit(
    kernel: Float[Array, "c s s"], pairs: Float[Array, "g 2 q"]
) -> Float[Array, "2"]:
    """R² of the best v ⊗ f, with any v in the space of channels, and v's colour.

    f is in the span of one of the pairs.  Of least squares is the first singular vector
    of K Qᵀ, a matrix of channels × 2, and R² = σ₁²/‖K‖².  The colour is
    1 − (Σv)²/(c‖v‖²), 0 for grey and 1 for a v whose channels sum to 0; of one channel
    it is 0.  0 and 0 for a filter of zeros.
    """
    rows = kernel.reshape(kernel.shape[0], -1)
    largest = jnp.max(jnp.abs(rows))
    # Of size 1: the square of a small filter is 0 in float32.
    rows = rows / jnp.where(largest > 0, largest, 1)
    total = jnp.sum(rows**2)
    a = jnp.einsum("cq,gpq->gcp", rows, pairs, precision="highest")
    gram = jnp.einsum("gcp,gcr->gpr", a, a, precision="highest")
    half = (gram[:, 0, 0] + gram[:, 1, 1]) / 2
    gap = jnp.hypot((gram[:, 0, 0] - gram[:, 1, 1]) / 2, gram[:, 0, 1])
    best = jnp.argmax(half + gap)
    _, vectors = jnp.linalg.eigh(gram[best])
    v = a[best] @ vectors[:, 1]
    square = jnp.sum(v**2)
    grey = jnp.sum(v) ** 2 / (len(v) * jnp.where(square > 0, square, 1))
    share = (half + gap)[best] / jnp.where(total > 0, total, 1)
    return jnp.stack([share, jnp.where(square > 0, 1 - grey, 0)])


def _columns(*values: tuple[float, ...]) -> Float[np.ndarray, "k g 1"]:
    """All combinations, a row of each argument."""
    return np.array(list(itertools.product(*values))).T[:, :, None]


def _envelopes(
    size: int, columns: Float[np.ndarray, "5 g 1"]
) -> tuple[Float[np.ndarray, "g q"], Float[np.ndarray, "g q"]]:
    """The coordinate u across the stripes, and the Gaussian."""
    i = np.arange(size) - (size - 1) / 2
    y, x = (v.ravel() for v in np.meshgrid(i, i, indexing="ij"))
    down, right, angle, width, stretch = columns
    dy, dx = y[None] - down, x[None] - right
    cos, sin = np.cos(angle), np.sin(angle)
    u, v = cos * dx + sin * dy, cos * dy - sin * dx
    return u, np.exp(-(u**2 + (v / stretch) ** 2) / (2 * width**2))


def _unit(rows: Float[np.ndarray, "g q"]) -> Float[np.ndarray, "g q"]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
