"""A quantity over two axes, as colours."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh


def heat_map(
    axes: Axes,
    values: xr.DataArray,
    x: str,
    y: str,
    *,
    limits: tuple[float | int, float | int] | None = None,
    border: float | None = None,
    colours: str = "viridis",
    label: str | None = None,
    **options: Any,
) -> QuadMesh:
    """Values over their coordinates x and y, with a bar that says what a colour is.

    Args:
        axes: where to draw.
        values: over x and y alone; what is NaN stays blank.
        x: coordinate that goes to the right; named under the panel if nothing is yet.
        y: coordinate that goes up.
        limits: values of the first and of the last colour; those seen if None.
        border: a level that is drawn as a black line.
        colours: name of a matplotlib map; "RdBu_r" for what has a middle.
        label: of the bar; no bar if None.
        options: of `Axes.pcolormesh`, such as alpha.
    """
    low, high = limits or (None, None)
    grid = values.transpose(y, x).values
    along, up = values[x].values, values[y].values
    options = {"cmap": colours, "vmin": low, "vmax": high, **options}
    drawn = axes.pcolormesh(along, up, grid, **options)
    crosses = border is not None and np.nanmin(grid) < border < np.nanmax(grid)
    if border is not None and crosses:
        axes.contour(along, up, grid, levels=[border], colors="black", linewidths=1)
    axes.grid(visible=False)
    axes.set_xlabel(axes.get_xlabel() or x)
    axes.set_ylabel(axes.get_ylabel() or y)
    if label is not None:
        axes.figure.colorbar(drawn, ax=axes, label=label)
    return drawn
