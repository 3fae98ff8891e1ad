"""Where the function of a two-layer ReLU network of one input bends."""

import numpy as np
from jaxtyping import Float


def kinks(
    weights: Float[np.ndarray, "m 3"], *, bend: float, same: float
) -> Float[np.ndarray, "q 2"]:
    """Kinks of f(x) = Σⱼ aⱼ (wⱼx + bⱼ)₊ inside (−1, 1), from left to right.

    A neuron bends f at −bⱼ/wⱼ, where the slope changes by aⱼ|wⱼ|.  Neurons in a chain
    of gaps of at most `same` are one kink, at their mean weighted by |aⱼwⱼ|.

    Args:
        weights: rows (wⱼ, bⱼ, aⱼ); a row with a NaN is no neuron.
        bend: least |change of slope| that counts.
        same: largest gap inside a kink, in units of x.

    Returns:
        Rows of position and change of slope.
    """
    w, b, a = weights[np.isfinite(weights).all(axis=1)].T
    turns = np.abs(b) < np.abs(w)
    at, change = -b[turns] / w[turns], (a * np.abs(w))[turns]
    order = np.argsort(at)
    at, change = at[order], change[order]
    groups = np.cumsum(np.diff(at, prepend=-2.0) > same)
    found = []
    for group in np.unique(groups):
        mine = groups == group
        total, size = change[mine].sum(), np.abs(change[mine])
        if np.abs(total) > bend:
            found.append((float(at[mine] @ size / size.sum()), float(total)))
    return np.array(found).reshape(-1, 2)
