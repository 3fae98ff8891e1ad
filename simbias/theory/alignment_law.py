"""How fast small neurons turn to the direction that pulls at them.

A balanced neuron at an angle ψ with a constant drive sD, s = sign a, turns by

    tan(ψ/2) = tan(ψ₀/2) e^{−|D|t}

and its size plays no part: when it is aligned depends neither on λ nor on m.
"""

import numpy as np
import scipy
from jaxtyping import Float

Angles = Float[np.ndarray, " c"]


def alignment_time(start: Angles, cosine: float, rate: float) -> Angles:
    """Time at which the cosine with the drive reaches `cosine`; 0 if it is above.

    t = (1/|D|) ln(tan(ψ₀/2)/tan(ψ/2)),   cos ψ = `cosine`

    Args:
        start: ψ₀, angles with sD at time 0 in radians, below π.
        cosine: to be reached, below 1.
        rate: |D|, with the clock of the loss.  For a linear teacher on x with the law
            of −x and half_mse it is ‖Σβ*‖/2.

    Reference: `theory.early_phase` from a balanced start; Boursier & Flammarion (2024),
    arXiv:2401.10791, early alignment.
    """
    aligned = np.tan(np.arccos(cosine) / 2)
    return np.maximum(np.log(np.tan(start / 2) / aligned) / rate, 0)


def aligned_share(
    time: Float[np.ndarray, " c"], cosine: float, rate: float, d: int
) -> Float[np.ndarray, " c"]:
    """Share of neurons with uniform directions in ℝᵈ that are aligned at a time.

    P(ψ₀ ≤ 2 arctan(tan(ψ/2) e^{|D|t})), and ψ₀ has the density ∝ sin^{d−2}.  What is
    missing falls like e^{−(d−1)|D|t}: like λ^{d−1} at the exit from zero, which is at
    about (1/|D|) ln(1/λ).

    Args:
        time: since the start.
        cosine: that counts as aligned.
        rate: |D|.
        d: dimension of the neurons, at least 2.
    """
    aligned = np.tan(np.arccos(cosine) / 2)
    angle = 2 * np.arctan(aligned * np.exp(rate * np.asarray(time)))
    # The cap around the drive, or all but the one around its opposite.
    cap = scipy.special.betainc((d - 1) / 2, 0.5, np.sin(angle) ** 2) / 2
    return np.where(angle < np.pi / 2, cap, 1 - cap)
