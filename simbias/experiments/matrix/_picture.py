"""The matrix at a glance."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from simbias.experiments.matrix._rows import ROWS
from simbias.figures.style import blank, style

COLOURS = {
    "observed": "#0072B2",
    "absent": "#999999",
    "reversed": "#D55E00",
    "open": "#F0E442",
}
_NAMES = {"gd": "GD", "momentum": "momentum", "adam": "Adam", "adamw": "AdamW"}
_LEAST_SIDE = 0.3


def picture(table: xr.Dataset) -> Figure:
    """A square for every bias and cell: colour, verdict; side, strength; letter, stage.

    Hatched where undefined; the letter is the first of the stages at which the bias is
    observed, s(tart), e(arly), l(ate) or (e)n(d).
    """
    settings, optimisers = table["setting"].values, table["flow.optimiser"].values
    columns = len(settings) * len(optimisers)
    with style():
        whole = blank(max(6.5, 0.46 * columns + 2.6), 0.36 * table.sizes["bias"] + 2.6)
        axes = whole.subplots()
        for row, name in enumerate(table["bias"].values):
            for i, _ in enumerate(settings):
                for j, _ in enumerate(optimisers):
                    one = table.isel({"bias": row, "setting": i, "flow.optimiser": j})
                    full = ROWS[str(name)].full
                    _square(axes, (i * len(optimisers) + j, row), one, full)
        for i in range(1, len(settings)):
            axes.axvline(i * len(optimisers) - 0.5, color="black", lw=0.8)
        for i, setting in enumerate(settings):
            centre = (i + 0.5) * len(optimisers) - 0.5
            text = "\n".join(_halves(str(setting)))
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
        blank_mark = Patch(facecolor="white", edgecolor="#BBBBBB", hatch="////")
        blank_mark.set_label("undefined")
        whole.legend(handles=[*marks, blank_mark], loc="outside lower center", ncols=5)
    return whole


def _square(axes: Axes, at: tuple[int, int], one: xr.Dataset, full: float) -> None:
    said, value = str(one["verdict"].item()), float(one["value"])
    if said == "undefined":
        box = {"facecolor": "white", "edgecolor": "#BBBBBB", "hatch": "////", "lw": 0}
        axes.add_patch(Rectangle((at[0] - 0.5, at[1] - 0.5), 1, 1, **box))
        return
    side = float(np.clip(abs(value) / full, _LEAST_SIDE, 1)) * 0.92
    corner = (at[0] - side / 2, at[1] - side / 2)
    axes.add_patch(Rectangle(corner, side, side, color=COLOURS[said], lw=0))
    if stage := str(one["stage"].item()):
        letter = {"end": "n"}.get(stage, stage[0])
        colour = "white" if said == "observed" and side > 0.5 else "black"
        place = {"ha": "center", "va": "center", "fontsize": 7, "color": colour}
        axes.text(*at, letter, **place)


def _halves(setting: str) -> list[str]:
    words = setting.split()
    return [" ".join(words[:2]), " ".join(words[2:])]
