"""A median and how far the members spread around it."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.analysis.quantile_band import quantile_band


def band(
    axes: Axes,
    x: xr.DataArray | np.ndarray,
    values: xr.DataArray,
    line: str = "-",
    *,
    colour: str,
    label: str | None = None,
    alpha: float = 0.2,
    **options: Any,
) -> None:
    """Median over the seeds as a line, 10–90 % of them as a band.

    Args:
        axes: where to draw.
        x: along which.
        values: over the axis of x and `seed`; NaN for members that failed.
        line: as of `Axes.plot`.
        colour: of both.
        label: of the line.
        alpha: of the band; less where many lie on each other.
        options: of `Axes.plot`, such as markersize.
    """
    found = quantile_band(values)
    low, high = found["low"].values, found["high"].values
    axes.fill_between(np.asarray(x), low, high, color=colour, alpha=alpha, lw=0)
    median = found["median"].values
    axes.plot(np.asarray(x), median, line, color=colour, label=label, **options)
