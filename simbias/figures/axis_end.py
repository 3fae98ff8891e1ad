"""The limit of an axis, 0 or ∞, drawn beyond its last value."""

import dataclasses

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator
from numpy.typing import ArrayLike

from simbias.errors import BadInput
from simbias.figures.laws import LAW
from simbias.figures.look import Look, Reading, colour_of, shade_of, values_of

# Where the strip begins and ends beyond the axis, in lengths of the axis.
_FROM, _TO = 0.05, 0.19
# How far beyond the values a tick may be, in lengths of the axis.
_NEAR = 0.02
_STRIP = "#eeeeee"


@dataclasses.dataclass(frozen=True)
class AxisEnd:
    """What is seen in the limit of the axis of a panel, computed and not extrapolated.

    A level over a grey strip beyond the axis, whose tick is "0" or "∞": the median over
    the seeds, and a paler box for 10–90 % of them.  Over the axis of the colours there
    is a level for each, in that colour; else one in grey.  Values over `end` ("value",
    "low" and "high") are drawn as an estimate with its interval.

    Args:
        values: a variable, or a function of the part, over seeds, colours, or `end`.
        at: "0", before the first value of x, or "∞", after the last one.
    """

    values: Reading
    at: str

    def __post_init__(self):
        if self.at not in ("0", "∞"):
            raise BadInput(f'`at` must be "0" or "∞", got {self.at!r}.')


@dataclasses.dataclass(frozen=True)
class Shades:
    """Colours of the curves of a panel: axis, number of the first, whether graded."""

    axis: str | None = None
    first: int = 0
    is_graded: bool = False

    def of(self, number: int, count: int) -> str:
        """The colour of one of so many curves."""
        if self.is_graded:
            return shade_of(number, count)
        return colour_of(number + self.first)


def draw_axis_ends(
    ends: tuple[AxisEnd, ...],
    axes: Axes,
    along: xr.DataArray,
    part: xr.Dataset,
    look: Look,
    shades: Shades,
) -> None:
    """Draw the ends of an axis whose scale is set.

    Args:
        ends: what to draw; several may be at one side.
        axes: of the panel.
        along: the values of x.
        part: of the result.
        look: names of the figure.
        shades: colours of the curves.
    """
    strips = _strips(axes, along, [*dict.fromkeys(end.at for end in ends)])
    for x in strips.values():
        axes.axvspan(x[0], x[2], color=_STRIP, lw=0, zorder=0)
    for end in ends:
        x, found = strips[end.at], values_of(end.values, part)
        is_of_all = shades.axis is not None and shades.axis not in found.dims
        several = look.split(found, None if is_of_all else shades.axis)
        for i, _, one in several:
            _level(axes, x, one, LAW if is_of_all else shades.of(i, len(several)))


def _level(axes: Axes, x: np.ndarray, one: xr.DataArray, colour: str) -> None:
    """A median with a box, or an estimate with its interval."""
    if "end" in one.dims:
        value, low, high = one.transpose("end").values
        reach = np.abs([[value - low], [high - value]])
        axes.errorbar(x[1:2], [value], reach, fmt="o", ms=4, capsize=2, color=colour)
        return
    seen = one.values[np.isfinite(one.values)]
    if seen.size:
        low, median, high = np.quantile(seen, (0.1, 0.5, 0.9))
        if seen.size > 1:
            axes.fill_between(x[::2], low, high, color=colour, alpha=0.2, lw=0)
        axes.plot(x[::2], [median, median], "-", color=colour, lw=2)


def _strips(axes: Axes, along: xr.DataArray, sides: list[str]) -> dict[str, np.ndarray]:
    """Begin, middle and end of the strip of each side; the axis has room and ticks."""
    axis, scale = axes.xaxis, axes.xaxis.get_transform()
    values = along.values
    if values.dtype.kind not in "iuf":
        values = np.arange(values.size)
    low, high = scale.transform(np.array([values.min(), values.max()], float))
    size = high - low or 1.0
    share = np.array([_FROM, (_FROM + _TO) / 2, _TO])
    places = {"0": low - share * size, "∞": high + share * size}
    strips = {side: scale.inverted().transform(places[side]) for side in sides}

    def kept(locations: ArrayLike) -> list[float]:
        ticks = np.atleast_1d(np.asarray(locations, float))
        beyond = np.abs(scale.transform(ticks) - (low + high) / 2) - size / 2
        return ticks[beyond <= _NEAR * size].tolist()

    major, minor = kept(axis.get_majorticklocs()), kept(axis.get_minorticklocs())
    texts = axis.get_major_formatter().format_ticks(major)
    small = axis.get_minor_formatter().format_ticks(minor)
    axis.set_major_locator(FixedLocator([*major, *(x[1] for x in strips.values())]))
    axis.set_major_formatter(FixedFormatter([*texts, *strips]))
    axis.set_minor_locator(FixedLocator(minor))
    axis.set_minor_formatter(FixedFormatter(small))
    left, right = axes.get_xlim()
    left = strips["0"][2] if "0" in strips else left
    axes.set_xlim(left, strips["∞"][2] if "∞" in strips else right)
    return strips
