"""Record times."""

import numpy as np
import xarray as xr


def log_times(first: float, final: float, count: int) -> tuple[float, ...]:
    """0, then `count` times from `first` to `final`, evenly spaced in the logarithm."""
    spaced = np.geomspace(first, final, count)
    return (0.0, *(float(f"{t:.4g}") for t in spaced[:-1]), float(final))


def step_times(rate: float, steps: int, every: int) -> tuple[float, ...]:
    """0 and the times after every `every` of so many steps of descent at a rate."""
    return tuple(rate * step for step in range(0, steps + 1, every))


def log_steps(
    rate: float, first: float | int, last: float | int, count: int
) -> tuple[float, ...]:
    """0 and the times after whole numbers of steps, evenly spaced in the logarithm.

    At most `count` times, fewer where two numbers of steps are rounded to one.
    """
    steps = np.unique(np.round(np.geomspace(first, last, count)))
    return (0.0, *(rate * steps).tolist())


def by_step(ds: xr.Dataset, rate: float) -> xr.Dataset:
    """A result over numbers of steps of descent instead of time."""
    return ds.assign_coords(time=np.round(ds["time"].values / rate))
