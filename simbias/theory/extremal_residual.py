"""Whether a direction is an extremal vector, as a number."""

import numpy as np
import scipy
from jaxtyping import Float

from simbias.core import Dataset
from simbias.theory._one_output import check_one_output

# A sliding neuron is on its hyperplane to rounding; others pass by far wider.
_ON = 1e-9


def extremal_residual(data: Dataset, w: Float[np.ndarray, " d"]) -> float:
    """Tangent of the smallest angle between the line of w and a subgradient of G.

    min over D ∈ ∂G(w) of ‖D − (D·ŵ) ŵ‖ / |G(ŵ)|,   G(w) = Σ ω_k y_k (w·x_k)₊ / Σ ω_k

    0 exactly at the extremal vectors with G ≠ 0, in every dimension: the certificate of
    a search.  On a hyperplane (|ŵ·x_k| ≤ 1e-9 ‖x_k‖) the subgradient is an interval,
    and D·ŵ = G(ŵ) for all of it.  Infinite where G(ŵ) = 0.  In NumPy.

    Args:
        data: the sample, with one output; padded rows do not count.
        w: a direction, of any length but 0.

    Raises:
        ValueError: if there are several outputs.

    Reference: Boursier & Flammarion (2024), arXiv:2401.10791, extremal vectors.
    """
    check_one_output(data)
    x, weight = np.asarray(data.x, float), np.asarray(data.weight, float)
    parts = (weight * np.asarray(data.y, float)[:, 0] / weight.sum())[:, None] * x
    unit = w / np.linalg.norm(w)
    side = x @ unit
    is_on = np.abs(side) <= _ON * np.linalg.norm(x, axis=1)
    drive = parts[(side > 0) & ~is_on].sum(axis=0)
    value = float(drive @ unit)
    if value == 0:
        return float("inf")
    across = drive - value * unit
    kinks = parts[is_on & (parts != 0).any(axis=1)]
    if len(kinks):
        size = np.linalg.norm(kinks)
        fit = scipy.optimize.lsq_linear(
            kinks.T / size, -across / size, (0, 1), tol=1e-14
        )
        across = across + fit.x @ kinks
    return float(np.linalg.norm(across) / abs(value))
