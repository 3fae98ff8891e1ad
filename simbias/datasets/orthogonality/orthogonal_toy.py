"""Two orthogonal points, the smallest example of incremental learning."""

from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets._on_a_line import on_a_line


def orthogonal_toy(key: PRNGKeyArray) -> Dataset:
    """Points x = (−½, 1) with y = −1 and x = (2, 1) with y = 1; they are orthogonal.

    The loss rests on a plateau, fits one sign, rests again, and reaches zero at the
    interpolator of least norm: Σ₊ aⱼwⱼ = (0.4, 0.2), Σ₋ aⱼwⱼ = (0.4, −0.8),
    ½‖θ‖² = 1.341641.

    Args:
        key: not used, the sample is fixed; taken so that every dataset is called alike.

    Returns:
        The sample; no test sample.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939.
    """
    del key
    return on_a_line((-0.5, 2.0), (-1.0, 1.0))
