"""Five points in the plane, two of which can hide what the others show."""

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.validation.values import positive


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
