"""Classes told apart by means, by correlations and by fourth moments, in blocks."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.validation.values import (
    at_most_one,
    below_one,
    not_negative,
    positive_integer,
)


def moment_classes(
    key: PRNGKeyArray,
    *,
    n: int = 1000,
    n_test: int = 1000,
    d: int = 20,
    classes: int = 4,
    shift: Real = 1.0,
    correlation: Real = 0.8,
    peak: Real = 0.1,
    size: Real = 3.0,
) -> Dataset:
    """K classes in d inputs; class c is told by one or two of K inputs in three blocks.

    x_c           ~ N(shift, 1), the other x_1 … x_K ~ N(0, 1): the mean
    x_{K+c}, x_{K+c+1}  normal with correlation ρ, the others independent: covariance
    x_{2K+c} = s(±√(1 − p²) + p N(0, 1)), the others N(0, s²): two peaks

    In the second block c + 1 is counted round.  The other d − 3K inputs are N(0, 1) in
    all classes.  Means differ in the first block alone, and are 0 elsewhere; variances
    are the same in all classes; correlations differ in the second block; the laws of
    single inputs only in the third, where the fourth moment of class c is s⁴ times
    3 − 2(1 − p²)², that of the others 3s⁴.

    Args:
        key: random key.
        n: samples; row i is of class i mod K.
        n_test: of the test sample.
        d: inputs, 3K or more.
        classes: K, three or more: two would have one covariance.
        shift: of the means.
        correlation: ρ, below 1.
        peak: p, width of the two peaks, at most 1, where they are one.
        size: s, of the third block; a larger one is learned sooner.

    Returns:
        The sample; targets are one-hot, `features` the axes of the three blocks.

    Raises:
        ValueError: for a size or number out of range.

    Reference: after the mixtures of Refinetti, Ingrosso & Goldt (2023),
    arXiv:2211.11567; the law is ours.
    """
    sizes = {"n": n, "n_test": n_test, "d": d, "classes": classes}
    for name, count in sizes.items():
        positive_integer(name, count)
    numbers = {"shift": shift, "correlation": correlation, "peak": peak, "size": size}
    checks = {"correlation": below_one, "peak": at_most_one}
    for name, value in numbers.items():
        checks.get(name, not_negative)(name, value)
    if classes < 3:
        raise BadInput(
            f"`classes` must be 3 or more, got {classes}: of two both have the one "
            "correlation that there is."
        )
    if d < 3 * classes:
        raise BadInput(
            f"`d` must be 3·classes = {3 * classes} or more, got {d}: a block of "
            "inputs for means, covariances and fourth moments."
        )
    law = [jnp.asarray(v, jnp.float64) for v in numbers.values()]
    parts = [
        _rows(key_part, count, d, classes, *law)
        for key_part, count in zip(jax.random.split(key), (n, n_test), strict=True)
    ]
    features = jnp.eye(d, dtype=jnp.float64)[: 3 * classes]
    (x, y), (x_test, y_test) = parts
    one = lambda count: jnp.ones(count, jnp.float64)
    test = Dataset(x_test, y_test, one(n_test), y_test, features)
    return Dataset(x, y, one(n), y, features, test)


def _rows(
    key: PRNGKeyArray,
    rows: int,
    d: int,
    classes: int,
    shift: Float[Array, ""],
    correlation: Float[Array, ""],
    peak: Float[Array, ""],
    size: Float[Array, ""],
) -> tuple[Float[Array, "n d"], Float[Array, "n k"]]:
    key_normal, key_side = jax.random.split(key)
    z = jax.random.normal(key_normal, (rows, d), jnp.float64)
    side = jax.random.rademacher(key_side, (rows, 1), jnp.float64)
    y = jax.nn.one_hot(jnp.arange(rows) % classes, classes, dtype=jnp.float64)
    first, second, third, rest = jnp.split(z, [classes * i for i in (1, 2, 3)], axis=1)
    first = first + shift * y
    # The input after that of the class takes its part of it.
    after = jnp.roll(y, 1, axis=1)
    leader = jnp.sum(y * second, axis=1, keepdims=True)
    mixed = correlation * leader + jnp.sqrt(1 - correlation**2) * second
    second = jnp.where(after > 0, mixed, second)
    two = jnp.sqrt(1 - peak**2) * side + peak * third
    third = jnp.where(y > 0, two, third)
    return jnp.concatenate([first, second, size * third, rest], axis=1), y
