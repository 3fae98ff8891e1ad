"""A square for each verdict of a table, in groups of columns."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from simbias.analysis.effects import NOT_LEARNED, TOO_FEW, Effect
from simbias.figures.style import blank, style

VERDICT_COLOURS = {
    "observed": "#0072B2",
    "absent": "#999999",
    "reversed": "#D55E00",
    "open": "#F0E442",
}
_PALE = "#BBBBBB"
_HATCHED: dict[str, Any] = {
    "facecolor": "white",
    "edgecolor": _PALE,
    "hatch": "////",
    "lw": 0,
}
_LEAST_SIDE = 0.42
_OF_A_SQUARE = ("verdict", "value", "stage", "why")
_NOTE = (
    "side: how strong.   letter: stage at which it is first observed, "
    "s(tart), e(arly), l(ate), (e)n(d)"
)


def verdict_squares(
    table: xr.Dataset,
    effects: Mapping[str, Effect],
    *,
    names: Mapping[str, str],
    heading: Callable[[str], str],
) -> Figure:
    """A square for every cell: colour, verdict; side, strength; letter, stage.

    Hatched where too few learn the task, a dash where the effect makes no sense.

    Args:
        table: of `analysis.effects.effect_matrix`, over rows, groups and columns.
        effects: of the rows.
        names: of the columns, as they are if not given.
        heading: of a group.
    """
    rows, groups, columns = (table[k].values for k in table["verdict"].dims)
    count = len(columns)
    wide = len(groups) * count
    with style():
        whole = blank(max(6.5, 0.46 * wide + 2.6), 0.36 * len(rows) + 2.9)
        axes = whole.subplots()
        for i, group in enumerate(groups):
            if i:
                axes.axvline(i * count - 0.5, color="black", lw=0.8)
            centre, text = (i + 0.5) * count - 0.5, heading(str(group))
            axes.text(centre, -0.7, text, ha="center", va="bottom", fontsize="small")
        for row, i, j in np.ndindex(*table["verdict"].shape):
            one: dict[str, Any] = {
                k: table[k].values[row, i, j].item() for k in _OF_A_SQUARE
            }
            _square(axes, (i * count + j, row), effects[str(rows[row])].full, **one)
        axes.set(xlim=(-0.5, wide - 0.5), ylim=(len(rows) - 0.5, -0.5), aspect="equal")
        ticks = [names.get(str(v), str(v)) for v in columns] * len(groups)
        axes.set_xticks(range(wide), ticks, rotation=90, fontsize="small")
        axes.set_yticks(range(len(rows)), [effects[str(v)].title for v in rows])
        axes.grid(visible=False)
        axes.tick_params(length=0)
        marks = [Patch(color=c, label=k) for k, c in VERDICT_COLOURS.items()]
        marks.append(Patch(label="not learned by enough", **_HATCHED))
        dash = Line2D([], [], color=_PALE, marker="_", ls="", label="makes no sense")
        whole.legend(
            handles=[*marks, dash],
            loc="outside lower center",
            ncols=3 if wide < 8 else 6,
            title=_NOTE if wide >= 8 else None,
            title_fontsize="small",
        )
    return whole


def _square(
    axes: Axes,
    at: tuple[int, int],
    full: float | int,
    *,
    verdict: str,
    value: float,
    stage: str,
    why: str,
) -> None:
    middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}
    if verdict == "undefined" and why in (NOT_LEARNED, TOO_FEW):
        axes.add_patch(Rectangle((at[0] - 0.5, at[1] - 0.5), 1, 1, **_HATCHED))
    elif verdict == "undefined":
        axes.text(*at, "–", color=_PALE, **middle)
    else:
        side = float(np.clip(abs(value) / full, _LEAST_SIDE, 1)) * 0.92
        corner = (at[0] - side / 2, at[1] - side / 2)
        colour = VERDICT_COLOURS[verdict]
        axes.add_patch(Rectangle(corner, side, side, color=colour, lw=0))
        dark = "black" if verdict == "open" else "white"
        axes.text(*at, {"end": "n"}.get(stage, stage[:1]), color=dark, **middle)
