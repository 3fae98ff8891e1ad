"""Curves of a panel: medians over the seeds, or a line for each seed."""

import dataclasses
from collections.abc import Hashable
from typing import Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.ensemble.grid import FLOW_PREFIX
from simbias.errors import BadInput
from simbias.figures.axis_end import Shades
from simbias.figures.band import band
from simbias.figures.kind import Kind
from simbias.figures.look import (
    Look,
    colour_of,
    draw_laws,
    line_of,
    shade_of,
    values_of,
)
from simbias.figures.style import COLOURS


@dataclasses.dataclass(frozen=True)
class Curves(Kind):
    """A median over the seeds, and how they spread, for each value of two axes.

    x may differ along the colours, and where each seed has a line from seed to seed.
    A curve without any value is left out.  Where colours repeat, lines differ.

    Args:
        colour: axis whose values have colours.
        line: axis whose values have line styles; that of the colours, where curves lie
            on each other.
        mark: of the points of a curve, such as "o".
        spread: "band", 10–90 % of the seeds; "each", a thin line per seed; or "none".
        pooled: axes whose values count as further seeds, such as several starts.
        is_graded: whether colours go from dark to light along the axis, instead of
            being as different as possible.
        has_end: whether a dot marks the last value of a line per seed.
        is_joined: whether a line joins the values; else marks alone, beside a law.
        has_exponent: whether the legend has the slope of ln median in ln x.
    """

    _: dataclasses.KW_ONLY
    colour: str | None = None
    line: str | None = None
    mark: str = ""
    spread: Literal["band", "each", "none"] = "band"
    pooled: tuple[str, ...] = ()
    is_graded: bool = False
    has_end: bool = False
    is_joined: bool = True
    has_exponent: bool = False

    @property
    def shades(self) -> Shades:
        """Colours of the curves."""
        return Shades(self.colour, self.first_colour, self.is_graded)

    def draw(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw a part, and the laws beside it."""
        x, values = self.along(part), values_of(self.values, part)
        own = [k for k in x.dims if k != self.colour]
        dim = own[0] if len(own) == 1 else "time"
        if len(own) > 1:
            x, values = xr.broadcast(x, values)
        several = look.split(values, self.colour)
        for i, name, of_colour in several:
            number = i + self.first_colour
            colour = colour_of(number)
            if self.is_graded:
                colour = shade_of(i, len(several))
            for j, dash, one in look.split(of_colour, self.line):
                if not one.notnull().any():
                    continue
                slope = _exponent(one, dim) if self.has_exponent else None
                label = ", ".join(filter(None, (name, dash, slope))) or None
                style = i if self.line == self.colour else j
                if not self.is_graded:
                    style += number // len(COLOURS)
                line = self.mark
                if self.is_joined:
                    line += line_of(style)
                place = {self.colour: i, self.line: j}
                along = x.isel({k: v for k, v in place.items() if k in x.dims})
                along = along.transpose(dim, ...)
                places = (
                    self.places(axes, along, look)
                    if along.ndim == 1
                    else along.values.reshape(along.sizes[dim], -1)
                )
                one = one.transpose(dim, ...)
                _check_pooled(one.isel({dim: 0}), ("seed", *self.pooled))
                self._one(axes, places, one, line, colour, label)
        draw_laws(self.laws, axes, part, look, self.colour, self.first_colour)

    def _one(
        self,
        axes: Axes,
        x: np.ndarray,
        values: xr.DataArray,
        line: str,
        colour: str,
        label: str | None,
    ) -> None:
        # A column per value that is pooled; one for a mean over the seeds.
        columns = values.values.reshape(values.shape[0], -1)
        seen = xr.DataArray(columns, dims=(values.dims[0], "seed"))
        if self.spread == "each":
            alpha = min(1.0, max(0.15, 20 / max(seen.sizes["seed"], 1)))
            end = {"marker": ".", "ms": 5, "markevery": [-1]} if self.has_end else {}
            drawn = axes.plot(
                x, seen.values, line, lw=0.7, color=colour, alpha=alpha, **end
            )
            drawn[0].set_label(label or drawn[0].get_label())
            return
        alpha = 0.2 if self.spread == "band" else 0.0
        band(axes, x, seen, line, colour=colour, label=label, ms=4, alpha=alpha)


def _check_pooled(values: xr.DataArray, pooled: tuple[str, ...]) -> None:
    """Refuse an axis whose values one curve would pool without being asked to.

    Several flows are pooled: an experiment that has no AXES is given all of them.
    """
    long = [str(k) for k, size in values.sizes.items() if k not in pooled and size > 1]
    rest = [k for k in long if not k.startswith(FLOW_PREFIX)]
    if rest:
        raise BadInput(
            f"a curve of `{values.name or 'a function'}` would pool the values of "
            f"`{rest[0]}`. Make it the axis of colour, line, columns, rows or facet, "
            f"choose one of its values, or say pooled=({rest[0]!r},)."
        )


def _exponent(values: xr.DataArray, dim: Hashable) -> str | None:
    """The slope of ln median in ln x; None with fewer than two positive medians."""
    median = values.median([k for k in values.dims if k != dim])
    x, y = np.asarray(median[dim].values, float), median.values
    is_positive = (x > 0) & (y > 0)
    if is_positive.sum() < 2:
        return None
    slope = np.polyfit(np.log(x[is_positive]), np.log(y[is_positive]), 1)[0]
    return f"exponent {slope:.2f}"
