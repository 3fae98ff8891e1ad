"""The least training loss of two-layer ReLU networks of any width, without a decay."""

import numpy as np

from simbias.core import Dataset
from simbias.theory.best_network import rows_of

# How far unit vectors of one line are apart, by rounding, and 1 less their cosine.
_NONE, _NEAR = 1e-12, 1e-6


def least_loss(data: Dataset, *, has_bias: bool = False) -> float:
    """Least (1/2n) Σᵢ (f(xᵢ) − yᵢ)² over two-layer ReLU networks of every width.

    Since (w·x)₊ = ½ w·x + ½ |w·x|, the outputs at samples xᵢ = cᵢ u_k on p lines are

        f(xᵢ) = b·xᵢ + |cᵢ| e_k   for any b ∈ ℝᵈ and any e ∈ ℝᵖ:

    the functions |w·u_k| of w have their kinks on different hyperplanes, and are
    therefore independent.  So this is linear least squares.  It is 0 if no two samples
    lie on one line through 0.  Then (w·xᵢ)₊ are n independent functions of w, and n
    neurons are enough.  The same holds for leaky ReLU.

    Args:
        data: the sample, one output; padded rows do not count.
        has_bias: whether neurons have a bias, an input that is always 1.

    Returns:
        Half a mean squared error, as `losses.half_mse`.

    Raises:
        ValueError: for several outputs or unequal weights.
    """
    x, y = rows_of(data, has_bias)
    length = np.linalg.norm(x, axis=1)
    is_some = length > 0
    rest = float(np.sum(y[~is_some] ** 2))
    if not is_some.any():
        return rest / (2 * len(y))
    x, y, length = x[is_some], y[is_some], length[is_some]
    unit = x / length[:, None]
    cosine = unit @ unit.T
    is_same = np.abs(cosine) > 1 - _NEAR
    # The cosine is 1 to rounding for angles up to 1e-8: those are told by distance.
    i, j = np.nonzero(is_same)
    apart = unit[i] - np.sign(cosine[i, j])[:, None] * unit[j]
    is_same[i, j] = np.linalg.norm(apart, axis=1) < _NONE
    first, line = np.unique(is_same.argmax(axis=1), return_inverse=True)
    if len(first) < len(y):
        even = length[:, None] * (line[:, None] == np.arange(len(first)))
        columns = np.concatenate([x, even], axis=1)
        found = np.linalg.lstsq(columns, y, rcond=None)[0]
        rest += float(np.sum((columns @ found - y) ** 2))
    return rest / (2 * len(is_some))
