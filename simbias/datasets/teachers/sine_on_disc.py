"""A disc cut by a sine: nearly linear at first sight."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.validation.values import at_most_one, not_negative, positive_integers


def sine_on_disc(
    key: PRNGKeyArray,
    *,
    n: int = 1000,
    n_test: int = 4000,
    amplitude: Real = 0.5,
    noise: Real = 0.1,
) -> Dataset:
    """Signs of x₂ − A sin 2πx₁, x uniform in the unit disc; a share p of them turned.

    The paper draws such a sample and does not say which sine; this one is ours.  The
    line that tells the most at A = ½, x₂ ≈ −0.3 x₁, is right on 0.825 of the disc, and
    with p = 0.1 on 0.758 of the labels: 0.20 bits, of 1 − H(0.1) = 0.53 there are.

    Args:
        key: random key.  A larger `n` adds rows and changes none; the test sample does
            not depend on `n`.
        n: training samples.
        n_test: test samples.
        amplitude: A.
        noise: share p of opposite labels, in training and test sample alike.

    Returns:
        The sample; `mean` is (1 − 2p) times the sign, and `features` are e₂ and e₁.

    Raises:
        ValueError: for a size or number out of range.

    Reference: Kalimeris, Nakkiran et al. (2019), arXiv:1905.11604, figure 1.
    """
    positive_integers(n=n, n_test=n_test)
    not_negative("amplitude", amplitude)
    at_most_one("noise", noise)
    key_train, key_test = jax.random.split(key)
    test = _sample(key_test, n_test, amplitude, noise, None)
    return _sample(key_train, n, amplitude, noise, test)


def _sample(
    key: PRNGKeyArray, n: int, amplitude: Real, noise: Real, test: Dataset | None
) -> Dataset:
    u = jax.random.uniform(key, (n, 3), jnp.float64)
    radius, turn = jnp.sqrt(u[:, 0]), 2 * jnp.pi * u[:, 1]
    x = radius[:, None] * jnp.stack([jnp.cos(turn), jnp.sin(turn)], axis=1)
    a, p = jnp.asarray(amplitude, jnp.float64), jnp.asarray(noise, jnp.float64)
    above: Float[Array, " n"] = x[:, 1] - a * jnp.sin(2 * jnp.pi * x[:, 0])
    sign = jnp.where(above > 0, 1.0, -1.0).astype(jnp.float64)
    y = jnp.where(u[:, 2] < p, -sign, sign)
    features = jnp.array([[0.0, 1.0], [1.0, 0.0]], jnp.float64)
    mean = (1 - 2 * p) * sign
    return Dataset(x, y[:, None], jnp.ones(n), mean[:, None], features, test)
