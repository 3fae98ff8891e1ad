"""The two-layer ReLU interpolator of least norm, of any width, by convexity."""

from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Float

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.theory._patterns import patterns, strongest
from simbias.theory.best_network import rows_of

_TURNS, _TOLERANCE = 200, 1e-7
# Price of a unit of residual, in units of the norm of y, before there is a network.
_PRICE = 1e4


class LeastNormNetwork(NamedTuple):
    """An interpolating network, its ½‖θ‖², and a proven bound of that of all.

    Attributes:
        w: hidden weights, |wⱼ| = |aⱼ|.
        a: output weights.
        value: ½‖θ‖² of this network, an upper bound of the least.
        bound: a lower bound of it, whatever the width.
    """

    w: Float[np.ndarray, "m e"]
    a: Float[np.ndarray, " m"]
    value: float
    bound: float


def least_norm_network(data: Dataset, *, has_bias: bool = False) -> LeastNormNetwork:
    """Least ½‖θ‖² = Σⱼ |aⱼ||wⱼ| of two layers of ReLU with f(xᵢ) = yᵢ for all i.

    The limit μ → 0 of `best_network`.  Its dual: for every λ ∈ ℝⁿ

        ½‖θ‖² ≥ Σᵢ λᵢyᵢ / max over |u| = 1 of |Σᵢ λᵢ (u·xᵢ)₊|.

    A linear program in the sizes of the neurons has λ as its multipliers; neurons are
    added with the directions of the largest sums, pattern by pattern.

    Args:
        data: the sample, one output; padded rows do not count.
        has_bias: whether neurons have a bias, which is part of the norm.

    Raises:
        ValueError: for several outputs, too many activation patterns, or labels that
            no network fits, such as two of one input.

    Reference: Pilanci & Ergen (2020), arXiv:2002.10553; the search is ours.
    """
    x, y = rows_of(data, has_bias)
    active, w, s = patterns(x), np.zeros((0, x.shape[1])), np.zeros(0)
    pull, bound = y, 0.0
    unit = float(np.linalg.norm(y)) or 1.0
    eye, rest = np.eye(len(x)), np.inf
    price = _PRICE / float(np.linalg.norm(x, axis=1).max() or 1.0)
    size, value = np.zeros(0), 0.0
    for _ in range(_TURNS):
        new, sign, most = strongest(x, active, pull)
        bound = max(bound, float(pull @ y) / most.max()) if len(most) else bound
        if rest < _TOLERANCE * unit and value - bound <= _TOLERANCE * value:
            break
        is_better = most > 1 if len(w) else most > 0
        w, s = np.vstack([w, new[is_better]]), np.append(s, sign[is_better])
        features = np.maximum(x @ w.T, 0) * s[None, :]
        cost = np.append(np.ones(len(s)), np.full(2 * len(x), price))
        columns = np.concatenate([features, eye, -eye], axis=1)
        found = scipy.optimize.linprog(cost, A_eq=columns, b_eq=y, method="highs-ds")
        size, pull = found.x[: len(s)], found.eqlin.marginals
        rest, value = np.abs(found.x[len(s) :]).sum(), float(size.sum())
    if rest >= _TOLERANCE * unit:
        raise BadInput(
            "`data` must have labels that some network fits, and has not: the least "
            f"error found is {rest:.3g}. Example: inputs that all differ."
        )
    root = np.sqrt(size[size > 0])
    return LeastNormNetwork(
        root[:, None] * w[size > 0], s[size > 0] * root, value, bound
    )
