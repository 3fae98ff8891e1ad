"""Functions on {−1, +1}ᵈ, point by point, and their correlations with all parities."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.errors import BadInput

# 2¹⁴ points: with some numbers at each of them a few megabytes.
MOST_BITS = 14


def cube(d: int) -> Float[np.ndarray, "p d"]:
    """All points of {−1, +1}ᵈ; bit i of the number of a point is 1 where xᵢ = −1.

    Point 0 is x = 1.  Parity number S, by the same rule, is over the bits i of S.

    Raises:
        ValueError: for d < 1, or d > 14, which are too many to enumerate.
    """
    if isinstance(d, bool) or not isinstance(d, int) or not 1 <= d <= MOST_BITS:
        raise BadInput(
            f"`d` must be from 1 to {MOST_BITS}, since all 2ᵈ points are enumerated, "
            f"got {d!r}. Example: d=10."
        )
    return 1.0 - 2.0 * (np.arange(2**d)[:, None] >> np.arange(d)[None, :] & 1)


def walsh_coefficients(values: Float[Array, "p ..."]) -> Float[Array, "p ..."]:
    """ĝ(S) = E_x g(x) χ_S(x) for all 2ᵈ subsets S, by the Walsh–Hadamard transform.

    d 2ᵈ additions.  Parseval: Σ_S ĝ(S)² = E g².

    Args:
        values: g at the points of `cube`, over the first axis.

    Returns:
        The coefficients, in the order of `cube`.

    Raises:
        ValueError: for a number of points that is no power of two.

    Reference: O'Donnell (2014), Analysis of Boolean functions, section 1.
    """
    points = values.shape[0]
    if points < 1 or points & (points - 1):
        raise BadInput(f"`values` must be at 2ᵈ points, got {points} of them.")
    shape, half = values.shape, 1
    while half < points:
        pairs = values.reshape(points // (2 * half), 2, half, *shape[1:])
        even, odd = pairs[:, 0], pairs[:, 1]
        values = jnp.stack([even + odd, even - odd], axis=1).reshape(shape)
        half *= 2
    return values / points
