"""The linear classifier of largest margin: oracle of the late phase."""

from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Float

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.theory._one_output import check_one_output


class MaxMargin(NamedTuple):
    """u = argmin ‖u‖² with yᵢ u·xᵢ ≥ 1, and the margin 1/‖u‖ of its direction.

    `support` is 1 where the multiplier of a sample is positive, a support vector.
    """

    u: Float[np.ndarray, " d"]
    margin: float
    support: Float[np.ndarray, " n"]


def max_margin(data: Dataset, label: float | None = None) -> MaxMargin:
    """Hard-margin support vector machine without intercept, by its dual.

    min ‖u‖²  with  yᵢ u·xᵢ ≥ 1

    As a least distance problem: with E = [Y X, 1]ᵀ and e the last unit vector, the
    residual r = Ez − e of min ‖Ez − e‖ over z ≥ 0 gives u = −r₁…r_d/r_{d+1}.  Exact
    up to rounding; the active-set method ends after finitely many steps.

    Args:
        data: the sample with labels ±1, one output; padded rows do not count.
        label: ±1 to take the samples of that label alone, the u₊ and u₋ of orthogonally
            separable data (u·xᵢ ≥ 1 for that label); None for all of them.

    Raises:
        ValueError: if there are several outputs, no such sample, or no separation.

    Reference: Lawson & Hanson (1974), Solving least squares problems, chapter 23; for
    the use, Lyu et al. (2021), arXiv:2110.13905, and Phuong & Lampert (2021).
    """
    check_one_output(data)
    x, y = np.asarray(data.x, float), np.asarray(data.y, float)[:, 0]
    is_taken = np.asarray(data.weight) > 0
    if label is not None:
        is_taken &= y == label
        y = np.abs(y)
    if not is_taken.any():
        raise BadInput(f"`label` must occur in the data, got {label}. Example: 1.0.")
    rows = (y[:, None] * x)[is_taken]
    # In units in which the longest input has length 1.
    unit = float(np.linalg.norm(rows, axis=1).max()) or 1.0
    rows = rows / unit
    matrix = np.vstack([rows.T, np.ones(len(rows))])
    target = np.append(np.zeros(x.shape[1]), 1.0)
    multiplier, distance = scipy.optimize.nnls(matrix, target)
    residual = matrix @ multiplier - target
    if distance < 1e-9:
        raise BadInput(
            "`data` must be linearly separable through the origin, and these are not."
        )
    u = -residual[:-1] / residual[-1] / unit
    support = np.zeros(len(y))
    support[is_taken] = multiplier > 0
    return MaxMargin(u, float(1 / np.linalg.norm(u)), support)
