"""Estimates against an axis of the grid, with their intervals."""

import itertools

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from simbias.errors import BadInput
from simbias.figures.style import COLOURS, blank, style


def estimate_curves(found: xr.Dataset, *, along: str, label: str = "") -> Figure:
    """`value` against `along`, with a band from `low` to `high`.

    A curve for each of the values of another axis, if there is one.  Where an interval
    has no end the band runs to the edge of the axes; where there is no value, a
    triangle at the end that is known points to where it lies.

    Args:
        found: of `analysis.estimates`, over `along` and at most one more axis.
        along: a numeric axis; logarithmic if it is positive.
        label: of the vertical axis.

    Raises:
        BadInput: for other axes.
    """
    others = [str(dim) for dim in found["value"].dims if dim != along]
    if along not in found["value"].dims or len(others) > 1:
        raise BadInput(
            f"`found` must be over {along!r} and at most one more axis, got "
            f"{', '.join(map(str, found['value'].dims)) or 'none'}. Example: "
            "estimate_curves(found.sel(m=100), along='sigma')."
        )
    every = [(other, value) for other in others for value in found[other].values]
    with style():
        figure = blank()
        axes = figure.subplots()
        x, largest = found[along].values, _largest(found)
        for place, colour in zip(
            every or [None], itertools.cycle(COLOURS), strict=False
        ):
            part = found if place is None else found.sel({place[0]: place[1]})
            value, low, high = (part[end].values for end in ("value", "low", "high"))
            text = None if place is None else f"{place[0]} = {_number(place[1])}"
            axes.plot(x, value, "o-", ms=4, color=colour, label=text)
            bottom = np.where(np.isfinite(low), low, 0.0)
            top = np.where(np.isfinite(high), high, 10 * largest)
            axes.fill_between(x, bottom, top, color=colour, alpha=0.15, lw=0)
            for end, mark in ((low, "^"), (high, "v")):
                is_open = np.isnan(value) & np.isfinite(end) & (end > 0)
                axes.plot(x[is_open], end[is_open], mark, color=colour)
        if np.all(x > 0):
            axes.set_xscale("log")
            axes.set_xticks(x, [_number(v) for v in x])
            axes.minorticks_off()
        axes.set_xlabel(along)
        axes.set_ylabel(label)
        axes.set_ylim(0, 1.1 * largest)
        if every:
            axes.legend(title="with intervals")
    return figure


def _largest(found: xr.Dataset) -> float:
    """Of all numbers that are known."""
    every = np.concatenate([found[end].values.ravel() for end in found.data_vars])
    return float(np.max(every[np.isfinite(every)], initial=0.0)) or 1.0


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float | int | np.number) else str(value)
