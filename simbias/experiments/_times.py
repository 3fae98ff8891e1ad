"""When to record."""

import numpy as np


def log_times(first: float, final: float, count: int) -> tuple[float, ...]:
    """0, then `count` times from `first` to `final`, evenly spaced in the logarithm."""
    spaced = np.geomspace(first, final, count)
    return (0.0, *(float(f"{t:.4g}") for t in spaced[:-1]), float(final))


def step_times(rate: float, steps: int, every: int) -> tuple[float, ...]:
    """0 and the clock after each `every` of so many steps of descent at a rate."""
    return tuple(rate * step for step in range(0, steps + 1, every))
