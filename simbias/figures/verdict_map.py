"""Verdicts of many cells, as a map with a row for each effect."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from simbias.figures.verdict_squares import VERDICT_COLOURS

_NONE = "#FFFFFF"


def verdict_map(
    axes: Axes, verdicts: xr.DataArray, groups: Sequence[str], breaks: Sequence[int]
) -> list[Patch]:
    """A row for each effect and a column for each cell; white is undefined.

    Args:
        axes: to draw on; the caller names its rows.
        verdicts: over two dimensions, rows and columns.
        groups: names of the groups of columns.
        breaks: first column of every group.

    Returns:
        Handles of a legend.
    """
    names = [*VERDICT_COLOURS]
    of = {name: i + 1 for i, name in enumerate(names)}
    place = np.vectorize(lambda v: of.get(str(v), 0), otypes=[int])(verdicts.values)
    colours = ListedColormap([_NONE, *VERDICT_COLOURS.values()])
    axes.imshow(
        place, cmap=colours, vmin=-0.5, vmax=len(names) + 0.5,
        aspect="auto", interpolation="nearest",
    )  # fmt: skip
    rows, columns = place.shape
    for row in range(1, rows):
        axes.axhline(row - 0.5, color="white", lw=2)
    ends = [*breaks[1:], columns]
    for first in breaks[1:]:
        axes.axvline(first - 0.5, color="black", lw=0.8)
    middles = [(a + b - 1) / 2 for a, b in zip(breaks, ends, strict=True)]
    axes.set_xticks(middles, groups)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    marks = [Patch(color=c, label=k) for k, c in VERDICT_COLOURS.items()]
    return [*marks, Patch(fc=_NONE, ec="#BBBBBB", label="not learned, or no sense")]
