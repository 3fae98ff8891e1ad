"""Three points on a line that no small initialisation interpolates."""

from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets._on_a_line import on_a_line

INPUTS = (-0.75, -0.5, 0.125)
TARGETS = (1.1, 0.1, 0.8)


def three_points(key: PRNGKeyArray) -> Dataset:
    """Inputs (−0.75, 1), (−0.5, 1), (0.125, 1) and targets 1.1, 0.1, 0.8.

    The extremal vector of the positive neurons has all three points active, so they
    all turn to it and the network ends at the least-squares line, slope −0.06154,
    intercept 0.64359, mean squared error 0.175043, however wide it is.

    Args:
        key: not used, the sample is fixed; taken so that every dataset is called alike.

    Returns:
        The sample; no test sample.

    Reference: Boursier & Flammarion (2024), arXiv:2401.10791, §5 (early alignment can
    stop interpolation).
    """
    del key
    return on_a_line(INPUTS, TARGETS)
