"""Record times."""

import numpy as np
import xarray as xr


def even_times(final: float, count: int) -> tuple[float, ...]:
    """0, then `count` times up to `final`, evenly spaced."""
    return tuple(np.linspace(0, final, count + 1).tolist())


def log_times(
    first: float, final: float, count: int, digits: int = 4
) -> tuple[float, ...]:
    """0, then `count` times from `first` to `final`, evenly spaced in the logarithm."""
    spaced = np.geomspace(first, final, count)
    return (0.0, *(float(f"{t:.{digits}g}") for t in spaced[:-1]), float(final))


def after_steps(rate: float, *steps: int) -> tuple[float, ...]:
    """Times after these numbers of steps of descent at a rate."""
    return tuple(rate * step for step in steps)


def step_times(rate: float, steps: int, every: int) -> tuple[float, ...]:
    """0 and the times after every `every` of so many steps of descent at a rate."""
    return after_steps(rate, *range(0, steps + 1, every))


def log_steps(
    rate: float, first: float | int, last: float | int, count: int
) -> tuple[float, ...]:
    """0 and the times after whole numbers of steps, evenly spaced in the logarithm.

    At most `count` times, fewer where two numbers of steps are rounded to one.
    """
    steps = np.unique(np.round(np.geomspace(first, last, count)))
    return (0.0, *(rate * steps).tolist())


def rate_of(ds: xr.Dataset, rate: float) -> float:
    """Learning rate of a result: its coordinate `flow.rate`, else that of its flow."""
    return float(ds.get("flow.rate", rate))


def by_step(ds: xr.Dataset, rate: float) -> xr.Dataset:
    """A result over numbers of steps of descent instead of time."""
    return ds.assign_coords(time=np.round(ds["time"].values / rate))
