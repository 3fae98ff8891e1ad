"""How much of a Cantor set can be told at each level of detail."""

import numpy as np
from jaxtyping import Float

from simbias.validation.values import positive_integer


def approximation_curve(levels: int, degree: float) -> Float[np.ndarray, " j"]:
    """P(j) = Pr(x ∉ K_j or y = 1) for j = 0, …, n, of the law `datasets.cantor`.

        P(j) = 3/2 − 2^{−(q₁+…+q_j)},   q_j = jᵖ/Σ_i iᵖ

    The accuracy of the classifier that says + on K_j and − elsewhere.

    Args:
        levels: n.
        degree: p.

    Raises:
        ValueError: for levels that are no positive integer.

    Reference: Malach & Shalev-Shwartz (2019), arXiv:1903.03488, section 3.
    """
    positive_integer("levels", levels)
    logs = degree * np.log(np.arange(1, levels + 1))
    shares = np.exp(logs - logs.max())
    seen = np.concatenate([[0.0], np.cumsum(shares / shares.sum())])
    return 1.5 - 2.0**-seen
