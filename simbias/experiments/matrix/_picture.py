"""The matrix at a glance."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._table import NOT_LEARNED, TOO_FEW
from simbias.figures.style import blank, style

COLOURS = {
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
_NAMES = {
    "gd": "GD",
    "momentum": "momentum",
    "adam": "Adam",
    "adamw": "AdamW",
    "uniform": "uniform inputs",
    "steps": "inputs 1 : 2 : 4",
    "heavy": "heavy tails",
    "clusters": "clusters",
    "relu": "ReLU",
}
_LEAST_SIDE = 0.42
_STAGES = (
    "side: how strong.   letter: stage at which it is first observed, "
    "s(tart), e(arly), l(ate), (e)n(d)"
)


def picture(table: xr.Dataset) -> Figure:
    """A square for every bias and cell: colour, verdict; side, strength; letter, stage.

    Hatched where too few learn the task, a dash where the bias makes no sense.  The
    letter is the first of the stages at which the bias is observed, whichever stage the
    verdict is about.
    """
    settings, optimisers = table["setting"].values, table["flow.optimiser"].values
    count = len(optimisers)
    columns = len(settings) * count
    with style():
        whole = blank(max(6.5, 0.46 * columns + 2.6), 0.36 * table.sizes["bias"] + 2.9)
        axes = whole.subplots()
        for row, name in enumerate(table["bias"].values):
            for column in range(columns):
                i, j = divmod(column, count)
                one = table.isel({"bias": row, "setting": i, "flow.optimiser": j})
                _square(axes, (column, row), one, ROWS[str(name)].full)
        for i, setting in enumerate(settings):
            if i:
                axes.axvline(i * count - 0.5, color="black", lw=0.8)
            centre, text = (i + 0.5) * count - 0.5, _heading(str(setting))
            axes.text(centre, -0.7, text, ha="center", va="bottom", fontsize="small")
        axes.set(
            xlim=(-0.5, columns - 0.5),
            ylim=(table.sizes["bias"] - 0.5, -0.5),
            aspect="equal",
        )
        names = [_NAMES.get(str(v), str(v)) for v in optimisers] * len(settings)
        axes.set_xticks(range(columns), names, rotation=90, fontsize="small")
        titles = [ROWS[str(v)].title for v in table["bias"].values]
        axes.set_yticks(range(len(titles)), titles)
        axes.grid(visible=False)
        axes.tick_params(length=0)
        marks = [Patch(color=c, label=k) for k, c in COLOURS.items()]
        marks.append(Patch(label="not learned by enough", **_HATCHED))
        dash = Line2D([], [], color=_PALE, marker="_", ls="", label="makes no sense")
        whole.legend(
            handles=[*marks, dash],
            loc="outside lower center",
            ncols=3 if columns < 8 else 6,
            title=_STAGES if columns >= 8 else None,
            title_fontsize="small",
        )
    return whole


def _square(axes: Axes, at: tuple[int, int], one: xr.Dataset, full: float) -> None:
    said, value = str(one["verdict"].item()), float(one["value"])
    middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}
    if said == "undefined":
        if one["why"].item() in (NOT_LEARNED, TOO_FEW):
            axes.add_patch(Rectangle((at[0] - 0.5, at[1] - 0.5), 1, 1, **_HATCHED))
        else:
            axes.text(*at, "–", color=_PALE, **middle)
        return
    side = float(np.clip(abs(value) / full, _LEAST_SIDE, 1)) * 0.92
    corner = (at[0] - side / 2, at[1] - side / 2)
    axes.add_patch(Rectangle(corner, side, side, color=COLOURS[said], lw=0))
    if stage := str(one["stage"].item()):
        letter = {"end": "n"}.get(stage, stage[0])
        axes.text(*at, letter, color="black" if said == "open" else "white", **middle)


def _heading(setting: str) -> str:
    inputs, activation, *others = (_NAMES.get(v, v) for v in setting.split())
    return f"{inputs}, {activation}\n{', '.join(others)}"
