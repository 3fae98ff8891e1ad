"""Classes cut by hyperplanes, on inputs whose covariance is given to the last digit."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.validation.values import not_negative, positive_integers


def principal_classes(
    key: PRNGKeyArray,
    *,
    n: int = 40,
    d: int = 20,
    classes: int = 2,
    exponent: Real = 1.0,
) -> Dataset:
    """Inputs of variance j^−exponent along the j-th of random directions, and classes.

    X = Z D^{1/2} Uᵀ with ZᵀZ/n = 1 exactly, so that (1/n) Σ xxᵀ = U D Uᵀ and the uⱼ are
    the principal components of this very sample.  The class is the largest of the
    outputs of a linear map with entries N(0, 1), the target its one-hot code.

    Args:
        key: random key.
        n: samples, d or more.
        d: inputs.
        classes: K, two or more.
        exponent: of the variances d_j = j^−exponent; 0 is white.

    Returns:
        The sample; `features` are the uⱼ, largest variance first.  No test sample.

    Raises:
        ValueError: for a size or number out of range.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 2; the law is ours.
    """
    positive_integers(n=n, d=d, classes=classes)
    not_negative("exponent", exponent)
    if classes < 2:
        raise BadInput(f"`classes` must be 2 or more, got {classes}.")
    if n < d:
        raise BadInput(
            f"`n` must be d = {d} or more, got {n}: fewer inputs leave directions in "
            f"which nothing is learned. Example: n={2 * d}."
        )
    # One draw for all: a program compiles as many draws as there are.
    z = jax.random.normal(key, (n * d + d * d + classes * d,), jnp.float64)
    z_x, z_u, z_map = jnp.split(z, (n * d, n * d + d * d))
    white = jnp.linalg.qr(z_x.reshape(n, d))[0] * n**0.5
    directions = jnp.linalg.qr(z_u.reshape(d, d))[0].T
    deviation = jnp.arange(1, d + 1, dtype=jnp.float64) ** (
        -jnp.asarray(exponent, jnp.float64) / 2
    )
    x = (white * deviation[None]) @ directions
    told = jnp.argmax(x @ z_map.reshape(classes, d).T, axis=1)
    y = jax.nn.one_hot(told, classes, dtype=jnp.float64)
    return Dataset(x, y, jnp.ones(n, jnp.float64), mean=y, features=directions)
