"""The smallest eigenvalue of a square random sample."""

import numpy as np
from jaxtyping import Float


def least_eigenvalue(share: Float[np.ndarray, " q"]) -> Float[np.ndarray, " q"]:
    """Quantiles of n·λmin(XXᵀ), X n × n of independent N(0, 1), n → ∞.

    P(n·λmin > t) = e^{−t/2 − √t}, so that t = (√(1 − 2 ln(1 − share)) − 1)².  The
    median is 0.2967.  For finite n it is the law up to O(1/n).

    Args:
        share: of the law that is below, in [0, 1).

    Reference: Edelman (1988), SIAM J. Matrix Anal. Appl. 9, 543, theorem 3.1.
    """
    return (np.sqrt(1 - 2 * np.log1p(-share)) - 1) ** 2
