"""Samples of a few points on a line."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.validation.values import positive_integers

INPUTS = (-0.75, -0.5, 0.125)
TARGETS = (1.1, 0.1, 0.8)
KNOTS = (-1.0, -0.7, -0.55, -0.4, 0.0, 0.5, 0.6, 0.7, 1.0)
VALUES = (0.0, 0.7, 0.5, 1.0, 0.0, 1.0, 0.6, 0.7, 0.0)


def orthogonal_toy(key: PRNGKeyArray) -> Dataset:
    """Points x = (−½, 1) with y = −1 and x = (2, 1) with y = 1; they are orthogonal.

    The loss rests on a plateau, fits one sign, rests again, and reaches zero at the
    interpolator of least norm: Σ₊ aⱼwⱼ = (0.4, 0.2), Σ₋ aⱼwⱼ = (0.4, −0.8),
    ½‖θ‖² = 1.341641.

    Args:
        key: not used, the sample is fixed; taken so that every dataset is called alike.

    Returns:
        The sample; no test sample.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939.
    """
    del key
    return _on_a_line((-0.5, 2.0), (-1.0, 1.0))


def three_points(key: PRNGKeyArray) -> Dataset:
    """Inputs (−0.75, 1), (−0.5, 1), (0.125, 1) and targets 1.1, 0.1, 0.8.

    The extremal vector of the positive neurons has all three points active, so they
    all turn to it and the network ends at the least-squares line, slope −0.06154,
    intercept 0.64359, mean squared error 0.175043, however wide it is.

    Args:
        key: not used, the sample is fixed; taken so that every dataset is called alike.

    Returns:
        The sample; no test sample.

    Reference: Boursier & Flammarion (2024), arXiv:2401.10791, §5 (early alignment can
    stop interpolation).
    """
    del key
    return _on_a_line(INPUTS, TARGETS)


def stewart_1d(key: PRNGKeyArray, *, n: int = 40, n_test: int = 2000) -> Dataset:
    """Uniform x in [−1, 1], y the linear interpolation of nine knots; inputs (x, 1).

    Args:
        key: random key.  A larger `n` adds rows and changes none; the test sample does
            not depend on `n`.
        n: training samples.
        n_test: test samples.

    Returns:
        The sample, without noise.

    Raises:
        ValueError: unless both sizes are positive integers.

    Reference: Boursier & Flammarion (2024), arXiv:2401.10791, §5 and the code that
    accompanies it (40 points uniform at random).
    """
    positive_integers(n=n, n_test=n_test)
    key_train, key_test = jax.random.split(key)
    x, x_test = _uniform(key_train, n), _uniform(key_test, n_test)
    return _on_a_line(x, _target(x), _on_a_line(x_test, _target(x_test)))


def _uniform(key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
    return jax.random.uniform(key, (n,), jnp.float64, minval=-1, maxval=1)


def _target(x: Float[Array, " n"]) -> Float[Array, " n"]:
    knots, values = jnp.asarray([KNOTS, VALUES], x.dtype)
    return jnp.interp(x, knots, values)


def _on_a_line(
    x: Sequence[float] | Float[Array, " n"],
    y: Sequence[float] | Float[Array, " n"],
    test: Dataset | None = None,
) -> Dataset:
    """Inputs (x, 1), targets without noise.

    `features` are the two coordinates: slope and intercept.
    """
    line = jnp.asarray(x, jnp.float64)
    target = jnp.asarray(y, jnp.float64)[:, None]
    weight = jnp.ones_like(line)
    inputs = jnp.stack([line, weight], axis=1)
    return Dataset(inputs, target, weight, target, jnp.eye(2, dtype=jnp.float64), test)
