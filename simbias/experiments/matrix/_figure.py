"""The whole design in one figure: verdicts, and what each bias depends on."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from simbias.analysis.variance_shares import HIGHER, SEED
from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._settings import ACTIVATIONS, EVERY, STARTS, parsed
from simbias.figures.style import COLOURS, blank, style
from simbias.figures.verdict_squares import VERDICT_COLOURS

_PAIRS, _OTHERS = "two factors together", (HIGHER, SEED)


def full_figure(table: xr.Dataset, shares: xr.Dataset) -> Figure:
    """A map of verdicts beside a stacked bar of shares for each bias.

    Args:
        table: result of `effect_matrix`, over all biases, settings and optimisers.
        shares: result of `dependence`.
    """
    groups: list[tuple[str, str]] = [*itertools.product(STARTS, ACTIVATIONS)]
    order = sorted(EVERY, key=lambda one: groups.index(_group(one)))
    verdicts = table["verdict"].sel(setting=order)
    sizes = verdicts.sizes["setting"] // len(groups) * verdicts.sizes["flow.optimiser"]
    verdicts = verdicts.stack(cell=("setting", "flow.optimiser"))
    sources = [str(k) for k in shares["source"].values]
    alone = [k for k in sources if " × " not in k and k not in _OTHERS]
    segments = {k: [k] for k in alone}
    segments[_PAIRS] = [k for k in sources if " × " in k]
    segments |= {k: [k] for k in _OTHERS}
    with style():
        whole = blank(13.3, 6.6)
        left, right = whole.subplots(1, 2, width_ratios=(3, 2))
        marks = verdict_map(
            left,
            verdicts,
            [f"{start}\n{activation}" for start, activation in groups],
            [i * sizes for i in range(len(groups))],
        )
        left.set_yticks(range(len(ROWS)), [one.title for one in ROWS.values()])
        left.set_title("verdict in each cell")
        share_bars(right, shares, segments, greys=(_PAIRS, *_OTHERS))
        right.set_yticks([])
        right.set_title("what the bias depends on")
        # A legend below each panel: the same colours mean something else beside.
        left.legend(
            handles=marks,
            loc="upper center",
            bbox_to_anchor=(0.4, -0.13),
            ncols=3,
        )
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    return whole


def _group(setting: str) -> tuple[str, str]:
    level = parsed(setting)
    return level.start, level.activation


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
