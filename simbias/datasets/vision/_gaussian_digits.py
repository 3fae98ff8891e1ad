"""Digits as a law of which there are as many as are asked for: a Gaussian per class."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simbias.datasets.vision._digits import digits

CLASSES = 10


def gaussian_digits(
    key: PRNGKeyArray, label: Int[Array, " n"]
) -> Float[Array, "n 1 y x"]:
    """Images with mean and covariance of the 8 × 8 digits of their class, white is 1.

    x = m_c + S_c^{1/2} z, z standard Gaussian.  Moments are those of all 1797 digits of
    scikit-learn.  Pixels that are black in all digits of a class are black here; others
    may be below 0 or above 1.

    Args:
        key: random key, of z.
        label: class c of each image.

    Raises:
        ValueError: if scikit-learn is not installed.
    """
    means, roots = _moments()
    z = jax.random.normal(key, (len(label), means.shape[1]), jnp.float64)
    x = jnp.zeros_like(z)
    for c in range(CLASSES):
        one = means[c][None] + jnp.matmul(z, roots[c], precision="highest")
        x = jnp.where((label == c)[:, None], one, x)
    return x.reshape(len(label), 1, 8, 8)


@functools.cache
def _moments() -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "k d d"]]:
    """Means and roots of covariances, class by class."""
    parts = digits()
    image = np.concatenate([part.image for part in parts]).reshape(-1, 64) / 16
    label = np.concatenate([part.label for part in parts])
    means, roots = [], []
    for c in range(CLASSES):
        own = image[label == c]
        values, frame = np.linalg.eigh(np.cov(own.T, bias=True))
        means.append(own.mean(axis=0))
        roots.append((frame * np.sqrt(np.maximum(values, 0))) @ frame.T)
    return np.stack(means), np.stack(roots)
