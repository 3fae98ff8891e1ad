"""Train and test error against the sample size, with the laws they should follow."""

from collections.abc import Mapping

import xarray as xr
from matplotlib.axes import Axes

from simbias.figures.band import band
from simbias.figures.laws import are_laws_drawn, law_level, law_line
from simbias.figures.style import COLOURS

Law = Mapping[str, xr.DataArray]


def error_curves(
    axes: Axes,
    error: xr.DataArray,
    *,
    noise_variance: float,
    laws: Law | None = None,
    title: str = "",
    label: str = "",
    colour: str = COLOURS[0],
) -> None:
    """Median and band over seeds of `error` against `n`, σ² as a line and a tick.

    Args:
        axes: where to draw.
        error: over (n, seed); NaN for members that failed.
        noise_variance: σ².
        laws: label -> values over n, drawn as broken lines.
        title: of the panel.
        label: of the curve.
        colour: of the curve and its band.
    """
    n = error["n"].values
    band(axes, n, error, "o-", colour=colour, label=label, ms=4)
    law_level(axes, noise_variance)
    if are_laws_drawn():
        axes.annotate(
            "σ²",
            (1, noise_variance),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            verticalalignment="center",
        )
    for (name, law), style in zip((laws or {}).items(), ("--", "-."), strict=False):
        law_line(axes, n, law, name, line=style)
    axes.set_xscale("log")
    axes.set_xticks(n, [f"{v:g}" for v in n])
    axes.minorticks_off()
    axes.set_xlabel("samples n")
    axes.set_title(title)
