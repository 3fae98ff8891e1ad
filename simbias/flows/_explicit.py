"""What is asked of an explicit Runge-Kutta method of diffrax."""

import diffrax


def error_order(solver: diffrax.AbstractERK) -> int:
    """Power of the step in the error estimate."""
    order = solver.error_order(diffrax.ODETerm(lambda _, y, __: y))
    assert isinstance(order, int)
    return order


def stages(solver: diffrax.AbstractERK) -> int:
    """Evaluations in one step."""
    return solver.tableau.num_stages - is_chained(solver)  # pyright: ignore


def is_chained(solver: diffrax.AbstractERK) -> bool:
    """True if the last evaluation is at the end of the step."""
    return solver.tableau.fsal  # pyright: ignore
