"""Shares that sum to one, as a stacked bar for each row."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.figures.style import COLOURS

_GREYS = ("#DDDDDD", "#AAAAAA", "#777777")


def share_bars(
    axes: Axes,
    shares: xr.Dataset,
    groups: Mapping[str, Sequence[str]],
    *,
    greys: Sequence[str] = (),
) -> None:
    """A horizontal bar for each row of `shares`.

    A share below 0, of a source without effect, has no width.  A group of one source
    has its interval as a line in the middle of its segment.

    Args:
        axes: to draw on; the caller names its rows.
        shares: share, low and high over a first dimension and `source`.
        groups: label of a segment -> its sources, from left to right.
        greys: labels of segments that are drawn in grey.
    """
    rows = [str(k) for k in shares["share"].dims if k != "source"]
    share = shares["share"].transpose(*rows, "source")
    colours, pale = iter(COLOURS), iter(_GREYS)
    end = np.zeros(share.sizes[rows[0]])
    place = np.arange(end.size)
    for label, sources in groups.items():
        width = share.sel(source=[*sources]).sum("source", skipna=False).values
        width = np.clip(width, 0, None)
        colour = next(pale) if label in greys else next(colours)
        axes.barh(place, width, left=end, height=0.7, color=colour, label=label)
        if len(sources) == 1:
            ends = (shares[k].sel(source=sources[0]).values for k in ("low", "high"))
            half = (np.subtract(*[*ends][::-1])) / 2
            middle = end + width / 2
            is_seen = width > 0.02
            axes.errorbar(
                middle[is_seen], place[is_seen], xerr=half[is_seen],
                fmt="none", ecolor="black", elinewidth=1.2, capsize=2,
            )  # fmt: skip
        end = end + width
    axes.set(xlim=(0, 1), ylim=(end.size - 0.5, -0.5), xlabel="share of the variance")
    axes.grid(visible=False)
