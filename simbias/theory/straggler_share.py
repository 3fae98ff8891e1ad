"""How many neurons have not turned when the loss moves, and never will."""

import numpy as np
import scipy
from jaxtyping import Float

from simbias.errors import BadInput
from simbias.validation.values import positive, positive_integer

Values = Float[np.ndarray, "*c"]


def straggler_share(scale: float | Values, d: int) -> Values:
    """Share of the neurons that stay on the other side of the teacher, n, m → ∞.

    P(tan(ψ/2) < λ √((d + 1)/8)) = ½ I_{sin²ψ*}((d − 1)/2, ½),  ≈ C_d λ^{d−1}

    of the angle ψ between a uniform direction in ℝᵈ and where it is pulled away from,
    with ψ* that at which both sides are equal.  y = β*·x with ‖β*‖ = 1, x ~ N(0, I), a
    balanced start of scale λ and half_mse.

    A neuron pulled away from its direction by ½(1 − V) turns by
    tan(ψ/2)' = tan(ψ/2) ½(1 − V), where V is what those that are pulled there have
    fitted: V' = V(1 − V) from V(0) = λ² (d + 1)/8.  Of this pull there is
    ∫ ½(1 − V) dt = −½ ln V(0) in all.  Who has not passed ψ = π/2 with it stays.

    Args:
        scale: λ of the start, with V(0) below 1.
        d: dimension of the inputs, at least 2.

    Raises:
        ValueError: for a scale or a dimension out of range.

    Reference: the alignment law of `theory.alignment_law`, cut off where the pull ends;
    the cut is ours, tested on networks by `experiments.stragglers`.
    """
    positive_integer("d", d)
    if d < 2:
        raise BadInput(f"`d` must be at least 2, got {d}.")
    scale = np.asarray(scale, float)
    positive("scale", float(np.min(scale)))
    start = scale**2 * (d + 1) / 8
    if np.any(start >= 1):
        raise BadInput(
            f"`scale` must be below √(8/(d + 1)) = {(8 / (d + 1)) ** 0.5:.3g}, "
            f"got {scale}."
        )
    # sin²ψ* with tan(ψ*/2)² = V(0), and ψ* < π/2.
    sine = 4 * start / (1 + start) ** 2
    return np.asarray(scipy.special.betainc((d - 1) / 2, 0.5, sine) / 2)
