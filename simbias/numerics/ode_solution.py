"""A smooth differential equation from time to time, to many digits."""

from collections.abc import Callable

import diffrax
import jax
from jaxtyping import Array, Float, PyTree

# A float that may be traced.
Real = float | Float[Array, ""]


def ode_solution(
    field: Callable[[PyTree], PyTree],
    start: PyTree,
    times: Float[Array, " t"],
    rtol: Real,
    atol: Real,
) -> PyTree:
    """y(t) of y' = field(y) at `times`, with a leading axis for them.

    By Dormand and Prince's method of order 8, with the error control of diffrax.  It
    stops with an error of diffrax after 100,000 steps.

    Args:
        field: is differentiable.
        start: y at the first of the times.
        times: from the first to the last, increasing or all decreasing.
        rtol: relative tolerance.
        atol: absolute tolerance.
    """
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda _, y, __: field(y)),
        diffrax.Dopri8(),
        times[0],
        times[-1],
        None,
        start,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol, atol),
        max_steps=100_000,
    )
    return jax.tree.map(lambda v: v, solution.ys)
