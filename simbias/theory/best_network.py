"""The best two-layer ReLU network of any width with a weight decay, by convexity."""

from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Float

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.theory._one_output import check_one_output
from simbias.theory._patterns import patterns, strongest

_TURNS, _TOLERANCE = 200, 1e-9


class BestNetwork(NamedTuple):
    """A network, its objective, and a proven bound of that of every network.

    Attributes:
        w: hidden weights, |wⱼ| = |aⱼ|.
        a: output weights.
        value: G of this network, an upper bound of the least G.
        bound: a lower bound of it, whatever the width.
    """

    w: Float[np.ndarray, "m e"]
    a: Float[np.ndarray, " m"]
    value: float
    bound: float


def best_network(
    data: Dataset, weight_decay: float, *, has_bias: bool = False
) -> BestNetwork:
    """Least G(θ) = (1/2n) Σᵢ (f(xᵢ) − yᵢ)² + (μ/2) ‖θ‖² of two layers of ReLU.

    Neurons of one direction u cost μ|aⱼ||wⱼ| if they are balanced, so that this is

        min over measures ν on the unit sphere of  L(f) + μ |ν|,  f(x) = ∫ (u·x)₊ dν(u),

    a convex problem.  Its dual gives a bound for every r ∈ ℝⁿ:

        G(θ) ≥ −Σᵢ rᵢyᵢ − (n/2) Σᵢ rᵢ²   if   max over |u| = 1 of |Σᵢ rᵢ (u·xᵢ)₊| ≤ μ.

    The maximum is taken over each activation pattern of the sample.  Neurons with the
    best directions are added, and all sizes are fitted again, until r = ∂L/∂f nearly
    obeys the condition.  `bound` is that of r, scaled so that it does.  `value` is
    that of a network.  So both hold to rounding, whether or not the search has ended.

    Args:
        data: the sample, one output; padded rows do not count.
        weight_decay: μ > 0.
        has_bias: whether neurons have a bias, which decays too.

    Raises:
        ValueError: for several outputs, μ ≤ 0, or too many activation patterns.

    Reference: Pilanci & Ergen (2020), arXiv:2002.10553, theorem 1 and its dual; the
    search is ours (column generation).
    """
    if not weight_decay > 0:
        raise BadInput(
            f"`weight_decay` must be positive, got {weight_decay}. Example: 0.1. Use "
            "`least_norm_network` for the limit of none."
        )
    x, y = rows_of(data, has_bias)
    n, active = len(x), patterns(x)
    w, s = np.zeros((0, x.shape[1])), np.zeros(0)
    size, bound = np.zeros(0), -np.inf
    for _ in range(_TURNS):
        f = np.maximum(x @ w.T, 0) @ (s * size)
        r = (f - y) / n
        value = np.sum((f - y) ** 2) / (2 * n) + weight_decay * np.sum(size)
        new, sign, pull = strongest(x, active, -r)
        if len(pull) == 0:
            return BestNetwork(*_balanced(w, s, size), value, float(value))
        # The best multiple of r that obeys the condition.
        most, square = weight_decay / pull.max(), n * np.sum(r**2)
        share = min(most, max(-np.sum(r * y) / square, 0.0))
        bound = max(bound, -share * np.sum(r * y) - share**2 * square / 2)
        if value - bound <= _TOLERANCE * value:
            break
        is_better = pull > weight_decay
        w, s = np.vstack([w, new[is_better]]), np.append(s, sign[is_better])
        w, s, size = _fitted(x, y, w, s, weight_decay)
    return BestNetwork(*_balanced(w, s, size), float(value), float(bound))


def rows_of(
    data: Dataset, has_bias: bool
) -> tuple[Float[np.ndarray, "n e"], Float[np.ndarray, " n"]]:
    """Inputs, with the 1 of a bias, and targets of the samples that count."""
    check_one_output(data)
    weight = np.asarray(data.weight)
    is_real = weight > 0
    if len(set(weight[is_real])) > 1:
        raise BadInput("`data` must have equal weights. Example: weight of 0 or 1.")
    x = np.asarray(data.x, float)[is_real]
    if has_bias:
        x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    return x, np.asarray(data.y, float)[is_real, 0]


def _fitted(
    x: Float[np.ndarray, "n e"],
    y: Float[np.ndarray, " n"],
    w: Float[np.ndarray, "m e"],
    s: Float[np.ndarray, " m"],
    decay: float,
) -> tuple[Float[np.ndarray, "k e"], Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Directions, signs and sizes of least L + μ Σ sizes; one neuron for a pattern.

    With z the sizes and Φ what neurons of size 1 add to f, y − Φz is the point of
    {ρ: Φᵀρ ≤ nμ} nearest to y, and z its multipliers: a least distance problem.

    Reference: Lawson & Hanson (1974), Solving least squares problems, chapter 23.
    """
    features = np.maximum(x @ w.T, 0) * s[None, :]
    matrix = np.vstack([-features, features.T @ y - len(x) * decay])
    target = np.append(np.zeros(len(x)), 1.0)
    multiplier, _ = scipy.optimize.nnls(matrix, target)
    size = multiplier / (target - matrix @ multiplier)[-1]
    v = size[:, None] * w
    rows = np.concatenate([w @ x.T > 0, s[:, None] > 0], axis=1)
    _, kind = np.unique(rows, axis=0, return_inverse=True)
    total = np.zeros((kind.max() + 1, x.shape[1]))
    np.add.at(total, kind.ravel(), v)
    sign = np.zeros(len(total))
    sign[kind.ravel()] = s
    length = np.linalg.norm(total, axis=1)
    is_some = length > 0
    unit = total[is_some] / length[is_some, None]
    return unit, sign[is_some], length[is_some]


def _balanced(
    w: Float[np.ndarray, "m e"],
    s: Float[np.ndarray, " m"],
    size: Float[np.ndarray, " m"],
) -> tuple[Float[np.ndarray, "m e"], Float[np.ndarray, " m"]]:
    root = np.sqrt(size)
    return root[:, None] * w, s * root
