"""The limit of an axis, 0 or ∞, drawn beyond its last value."""

import dataclasses
from typing import Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator

from simbias.errors import BadInput
from simbias.figures.look import Look, Reading, colour_of, shade_of, values_of

# Where the strip begins and ends beyond the axis, in lengths of the axis.
_FROM, _TO = 0.05, 0.19
_STRIP = "#eeeeee"


@dataclasses.dataclass(frozen=True)
class AxisEnd:
    """What is seen in the limit of the axis of a panel, computed and not extrapolated.

    A level over a grey strip beyond the axis, whose tick is "0" or "∞": the median over
    the seeds, and a paler box for 10–90 % of them.  Over the axis of the colours there
    is a level for each, in that colour.  Values over `end` ("value", "low" and "high")
    are drawn as an estimate with its interval.

    Args:
        values: a variable, or a function of the part, over seeds, colours, or `end`.
        at: "0", before the first value of x, or "∞", after the last one.
    """

    values: Reading
    at: Literal["0", "∞"]

    def __post_init__(self):
        if self.at not in ("0", "∞"):
            raise BadInput(f'`at` must be "0" or "∞", got {self.at!r}.')


@dataclasses.dataclass(frozen=True)
class Shades:
    """Colours of the curves of a panel: axis, number of the first, whether graded."""

    axis: str | None = None
    first: int = 0
    is_graded: bool = False


def draw_axis_end(
    end: AxisEnd,
    axes: Axes,
    along: xr.DataArray,
    part: xr.Dataset,
    look: Look,
    shades: Shades,
) -> None:
    """Draw the end of an axis whose scale is set.

    Args:
        end: what to draw.
        axes: of the panel.
        along: the values of x.
        part: of the result.
        look: names of the figure.
        shades: colours of the curves.
    """
    begin, stop = _strip(axes, along, end.at)
    middle = 0.5 * (begin + stop)
    back = axes.xaxis.get_transform().inverted().transform
    x = back(np.array([begin, middle, stop]))
    axes.axvspan(x[0], x[2], color=_STRIP, lw=0, zorder=0)
    several = look.split(values_of(end.values, part), shades.axis)
    for i, _, one in several:
        number = i + shades.first
        is_graded = shades.is_graded
        colour = shade_of(i, len(several)) if is_graded else colour_of(number)
        if "end" in one.dims:
            value, low, high = one.transpose("end").values
            reach = np.abs([[value - low], [high - value]])
            axes.errorbar(
                x[1:2], [value], reach, fmt="o", ms=4, capsize=2, color=colour
            )
            continue
        seen = one.values[np.isfinite(one.values)]
        if seen.size:
            low, median, high = np.quantile(seen, (0.1, 0.5, 0.9))
            if seen.size > 1:
                axes.fill_between(x[::2], low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(x[::2], [median, median], "-", color=colour, lw=2)


def _strip(axes: Axes, along: xr.DataArray, at: str) -> tuple[float, float]:
    """Ends of the strip on the scale of the axis, which gets room and a tick."""
    scale = axes.xaxis.get_transform()
    values = along.values
    if values.dtype.kind not in "iuf":
        values = np.arange(values.size)
    limits = axes.get_xlim()
    u = scale.transform(np.array([np.min(values), np.max(values), *limits], float))
    size = u[1] - u[0] or 1.0
    begin, stop = (size * share for share in (_FROM, _TO))
    begin, stop = (
        (u[1] + begin, u[1] + stop) if at == "∞" else (u[0] - begin, u[0] - stop)
    )
    tick = scale.inverted().transform(np.array([0.5 * (begin + stop)]))[0]
    edge = scale.inverted().transform(np.array([stop]))[0]
    reach = 0.02 * size
    axis, kept = (
        axes.xaxis,
        lambda ticks: [
            t
            for t in np.atleast_1d(ticks)
            if u[0] - reach <= scale.transform(np.array([float(t)]))[0] <= u[1] + reach
        ],
    )
    major, minor = kept(axis.get_majorticklocs()), kept(axis.get_minorticklocs())
    texts = axis.get_major_formatter().format_ticks(major)
    small = axis.get_minor_formatter().format_ticks(minor)
    axis.set_major_locator(FixedLocator([*major, tick]))
    axis.set_major_formatter(FixedFormatter([*texts, at]))
    axis.set_minor_locator(FixedLocator(minor))
    axis.set_minor_formatter(FixedFormatter(small))
    axes.set_xlim((limits[0], edge) if at == "∞" else (edge, limits[1]))
    return begin, stop
