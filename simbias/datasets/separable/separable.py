"""Separable classes with a known direction of largest margin."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.validation.values import positive, positive_integers


def hinted(key: PRNGKeyArray, *, hint: Real = 20.0, margin: Real = 0.1) -> Dataset:
    """Points (γ, ±1), (h, 0) with y = 1 and (−1, 0), (−h, 0) with y = −1.

    The best linear classifier is x₁, of margin γ.  Networks with a neuron on either of
    (0, ±1) have a margin of order 1, however small γ is.  With far hints, h ≫ 1/γ,
    all neurons turn to ±e₁ before they see the other points, and stay.

    Args:
        key: not used, the sample is fixed; taken so that every dataset is called alike.
        hint: h.
        margin: γ.

    Returns:
        The sample; `features` is e₁.  No test sample.

    Reference: after Lyu et al. (2021), arXiv:2110.13905, the construction of data on
    which the flow ends at a linear classifier of suboptimal margin; these points are
    ours.
    """
    del key
    positive("hint", hint)
    positive("margin", margin)
    h, g = jnp.asarray(hint, jnp.float64), jnp.asarray(margin, jnp.float64)
    zero, one = jnp.zeros_like(h), jnp.ones_like(h)
    rows = [(g, one), (g, -one), (h, zero), (-one, zero), (-h, zero)]
    x = jnp.stack([jnp.stack(row) for row in rows])
    y = jnp.array([[1.0], [1.0], [1.0], [-1.0], [-1.0]])
    return Dataset(x, y, jnp.ones(5), y, jnp.array([[1.0, 0.0]]))


def orthogonally_separable(key: PRNGKeyArray, *, n: int = 20, d: int = 5) -> Dataset:
    """Points y|z| coordinate by coordinate, z ~ N(0, I), with y = ±1 in turn.

    xᵢ·xₖ > 0 if yᵢ = yₖ and < 0 otherwise: what defines orthogonal separability.

    Args:
        key: random key.
        n: samples, the first of them with y = 1.
        d: input dimension.

    Returns:
        The sample, without noise and without a test sample; `features` is the diagonal
        (1, …, 1)/√d.

    Raises:
        ValueError: for a size out of range.

    Reference: Phuong & Lampert (2021), The inductive bias of ReLU networks on
    orthogonally separable data, definition of the data; this law is ours.
    """
    positive_integers(n=n, d=d)
    z = jax.random.normal(key, (n, d), jnp.float64)
    y = jnp.where(jnp.arange(n) % 2 == 0, 1.0, -1.0).astype(jnp.float64)[:, None]
    features = jnp.full((1, d), d**-0.5, jnp.float64)
    return Dataset(y * jnp.abs(z), y, jnp.ones(n), y, features)


def symmetric_separable(
    key: PRNGKeyArray, *, n: int = 20, d: int = 5, margin: Real = 0.3
) -> Dataset:
    """Samples (x, +1) and (−x, −1) on the two sides of a hyperplane, with a gap.

        x = (γ + |z₁|, z₂, …, z_d),   z ~ N(0, I)

    The margin of the best direction is at least γ.

    Args:
        key: random key.
        n: samples, an even number.
        d: input dimension.
        margin: γ, smallest distance from the hyperplane x₁ = 0.

    Returns:
        The sample, without noise and without a test sample; `features` is e₁.

    Raises:
        ValueError: for a size out of range, or an odd one.

    Reference: Lyu et al. (2021), arXiv:2110.13905, symmetric data; the law of x is
    ours.
    """
    positive_integers(n=n, d=d)
    positive("margin", margin)
    if n % 2:
        raise BadInput(f"`n` must be even, got {n}. Example: n={n + 1}.")
    z = jax.random.normal(key, (n // 2, d), jnp.float64)
    first = jnp.abs(z[:, :1]) + margin
    x = jnp.concatenate([first, z[:, 1:]], axis=1)
    y = jnp.repeat(jnp.array([1.0, -1.0]), n // 2)[:, None]
    features = jnp.zeros((1, d)).at[0, 0].set(1.0)
    return Dataset(jnp.concatenate([x, -x]), y, jnp.ones(n), y, features)
