"""Ordinary least squares: what is left of a network whose neurons agree."""

from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.theory._least_squares import least_squares


def ols(data: Dataset) -> Float[Array, "d k"]:
    """Least squares, the one of least norm if there are several.

    β̂ = argmin_β Σᵢ ωᵢ |yᵢ − βᵀxᵢ|²,   ω = `data.weight`

    There is no intercept beyond the constant input a dataset may carry.  By singular
    values of the inputs, so the condition number is not squared; padded rows count for
    nothing.

    Returns:
        β̂, with a column per output; predictions are `data.x @ ols(data)`.

    Reference: normal equations XᵀΩX β̂ = XᵀΩY.
    """
    return least_squares(data.x, data.y, data.weight)
