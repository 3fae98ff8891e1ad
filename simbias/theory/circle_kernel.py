"""The tangent kernel of wide two-layer ReLU networks on the circle; its spectrum."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from simbias.errors import BadInput


def circle_kernel(
    angle: float | Float[np.ndarray, "*shape"], has_bias: bool = False
) -> Float[np.ndarray, "*shape"]:
    """K(θ) of inputs on the unit circle at an angle θ, only the first layer trained.

    K(θ) = cos θ (π − θ)/2π,  with bias (cos θ + 1)(π − θ)/4π

    The limit m → ∞ of Σⱼ aⱼ φ(wⱼ·x + bⱼ) with wⱼ ~ N(0, 1), bⱼ = 0 at the start and
    aⱼ = ±1/√m, with bias ±1/√(2m).

    Args:
        angle: θ in radians, from 0 to π.
        has_bias: whether biases are trained, from 0.

    Raises:
        ValueError: for an angle out of range.

    Reference: Basri, Jacobs, Kasten & Kritchman (2019), arXiv:1906.00425.
    """
    theta = np.asarray(angle, np.float64)
    if not np.all((theta >= 0) & (theta <= np.pi)):
        raise BadInput(f"`angle` must be from 0 to π, got {angle!r:.80}.")
    gates = (np.pi - theta) / (2 * np.pi)
    factor = (np.cos(theta) + 1) / 2 if has_bias else np.cos(theta)
    return np.asarray(gates * factor)


def circle_eigenvalues(
    frequencies: Iterable[int | np.integer], has_bias: bool = False
) -> Float[np.ndarray, " q"]:
    """λ_k = (1/π) ∫₀^π K(θ) cos kθ dθ: the rate of cos kθ and of sin kθ.

    Without bias 1/π² for k = 0, 1/8 for k = 1, (k² + 1)/(π²(k² − 1)²) for even k, and 0
    for odd k ≥ 3.  With bias half of that, and 1/8 more for k = 0, 1/(2π²k²) for odd k.

    On uniform points, under `losses.half_mse`, the residual along cos kθ falls as
    exp(−λ_k t).

    Args:
        frequencies: k, whole numbers from 0.
        has_bias: whether biases are trained, from 0.

    Raises:
        ValueError: for a frequency that is negative or no whole number.

    Reference: Basri, Jacobs, Kasten & Kritchman (2019), arXiv:1906.00425.
    """
    k = np.asarray([*frequencies])
    if k.ndim != 1 or not np.issubdtype(k.dtype, np.integer) or np.any(k < 0):
        raise BadInput(
            f"`frequencies` must be whole numbers from 0, got {frequencies!r:.80}. "
            "Example: frequencies=range(11)."
        )
    k = k.astype(np.float64)
    is_even = k % 2 == 0
    # (k² − 1)² is 0 at k = 1 alone, which has a value of its own.
    below = np.where(k == 1, 1, k**2 - 1)
    plain = np.where(is_even, (k**2 + 1) / (np.pi * below) ** 2, 0)
    plain = np.where(k == 1, 1 / 8, plain)
    if not has_bias:
        return plain
    odd = 1 / (2 * np.pi**2 * np.where(is_even, 1, k) ** 2)
    more = np.where(is_even, np.where(k == 0, 1 / 8, 0), odd)
    return plain / 2 + more
