"""Kinds of panels beside `Curves`: points, estimates, maps, histograms, drawings."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.analysis.estimates import estimates
from simbias.analysis.mean_interval import mean_interval
from simbias.figures.axis_end import Shades
from simbias.figures.heat_map import heat_map
from simbias.figures.kind import Kind
from simbias.figures.look import (
    Look,
    Reading,
    colour_of,
    draw_laws,
    line_of,
    values_of,
)


@dataclasses.dataclass(frozen=True)
class Points(Kind):
    """A point per seed at each value of x, and their median as a line.

    If x itself has values for each seed, the points show one quantity against another,
    without a median; many points are pale.

    Args:
        colour: axis whose values have colours.
        has_median: whether medians are shown.
        is_joined: whether a line joins the medians; else each is a dash, for an x
            that has no order.
    """

    _: dataclasses.KW_ONLY
    colour: str | None = None
    has_median: bool = True
    is_joined: bool = True

    @property
    def shades(self) -> Shades:
        """Colours of the values."""
        return Shades(self.colour, self.first_colour)

    def draw(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw a part, and the laws beside it."""
        x, values = self.along(part), values_of(self.values, part)
        if x.ndim > 1:
            self._scatter(axes, x, values, look)
            draw_laws(self.laws, axes, part, look, self.colour, self.first_colour)
            return
        (dim,) = x.dims
        places = self.places(axes, x, look)
        for i, name, one in look.split(values, self.colour):
            seen = one.transpose(dim, ...).values.reshape(x.size, -1)
            mark: dict[str, Any] = {"color": colour_of(i + self.first_colour), "ms": 4}
            axes.plot(places, seen, "o", alpha=0.5, **mark)
            if self.has_median:
                known = xr.DataArray(seen, dims=("x", "seed")).median("seed")
                if not self.is_joined:
                    mark |= {"ms": 18, "mew": 2}
                style = "-" if self.is_joined else "_"
                axes.plot(places, known, style, label=name, **mark)
            elif name:
                axes.lines[-1].set_label(name)
        draw_laws(self.laws, axes, part, look, self.colour, self.first_colour)

    def _scatter(
        self, axes: Axes, x: xr.DataArray, values: xr.DataArray, look: Look
    ) -> None:
        x, values = xr.broadcast(x, values)
        pairs = zip(
            look.split(x, self.colour), look.split(values, self.colour), strict=True
        )
        for (i, name, along), (_, _, one) in pairs:
            colour = colour_of(i + self.first_colour)
            up = one.values.ravel()
            mark = {"ms": 4, "alpha": min(1.0, max(0.15, 500 / max(up.size, 1)))}
            axes.plot(along.values.ravel(), up, "o", color=colour, label=name, **mark)


def ends(found: xr.Dataset) -> xr.DataArray:
    """`value`, `low` and `high` of `analysis.estimates`, over an axis `end`."""
    return found[["value", "low", "high"]].to_array("end")


@dataclasses.dataclass(frozen=True)
class Estimates(Kind):
    """An estimate with its interval at each value of x.

    Values have an axis `end`: "value", "low" and "high".  What `analysis.estimates`
    returns is drawn as it is.
    Without a value a triangle is at the end that is known: ▲ at least, ▼ at most.  An
    end that is infinite has no bar.

    Args:
        colour: axis whose values have colours.
        is_joined: whether a line joins the values.
        beside: share of a logarithmic axis from one colour to the next, so that
            intervals are beside each other.
    """

    values: Reading = ends
    _: dataclasses.KW_ONLY
    colour: str | None = None
    is_joined: bool = False
    beside: float = 0.0

    @property
    def shades(self) -> Shades:
        """Colours of the values."""
        return Shades(self.colour, self.first_colour)

    def draw(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw a part, and the laws beside it."""
        x, values = self.along(part), values_of(self.values, part)
        (dim,) = x.dims
        places = self.places(axes, x, look)
        for i, name, one in look.split(values, self.colour):
            value, low, high = one.transpose("end", dim).values
            step = (places[-1] / places[0]) ** (self.beside * i) if self.beside else 1
            reach = np.abs([value - low, high - value])
            reach = np.where(np.isfinite(reach), reach, 0)
            mark: dict[str, Any] = {
                "ms": 4,
                "lw": 1,
                "color": colour_of(i + self.first_colour),
            }
            style = "o-" if self.is_joined else "o"
            axes.errorbar(
                places * step, value, reach, fmt=style, capsize=2, label=name, **mark
            )
            for end, shape in ((low, "^"), (high, "v")):
                is_open = np.isnan(value) & np.isfinite(end) & (end > 0)
                axes.plot((places * step)[is_open], end[is_open], shape, **mark)
        draw_laws(self.laws, axes, part, look, self.colour, self.first_colour)


def means(values: xr.DataArray) -> xr.DataArray:
    """Means over the seeds with their 95 % intervals, for `Estimates`."""
    return ends(estimates(mean_interval, values, over=("seed",)))


@dataclasses.dataclass(frozen=True)
class HeatMap(Kind):
    """The median over the seeds over two coordinates, as colours.

    Args:
        y: coordinate that goes up.
        limits: values of the first and the last colour; None for those seen.
        border: a level that is drawn as a black line.
        colours: name of a matplotlib map; "RdBu_r" for values that have a middle.
        label: of the bar; no bar if empty.
        is_even: whether all cells are as large, with their values as ticks.
    """

    _: dataclasses.KW_ONLY
    y: str = "time"
    limits: tuple[float | int, float | int] | None = None
    border: float | int | None = None
    colours: str = "viridis"
    label: str = ""
    is_even: bool = False

    def draw(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw a part, and the laws beside it."""
        x, values = self.along(part), values_of(self.values, part)
        (dim,) = x.dims
        seen = values.median([k for k in values.dims if k not in (dim, self.y)])
        seen = seen.assign_coords({dim: (dim, x.values)})
        if self.is_even:
            for k, set_ticks in ((dim, axes.set_xticks), (self.y, axes.set_yticks)):
                places = np.arange(seen.sizes[k])
                set_ticks(places, [f"{v:g}" for v in seen[k].values])
                seen = seen.assign_coords({k: places})
        heat_map(
            axes,
            seen,
            str(dim),
            self.y,
            limits=self.limits,
            border=self.border,
            colours=self.colours,
            label=self.label or None,
        )
        draw_laws(self.laws, axes, part, look)


@dataclasses.dataclass(frozen=True)
class Histogram(Kind):
    """Shares along bins, means over the seeds: bars of one, outlines of several.

    Args:
        colour: axis whose values have colours.
    """

    _: dataclasses.KW_ONLY
    colour: str | None = None

    def draw(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw a part, and the laws beside it."""
        x, values = self.along(part), values_of(self.values, part)
        (dim,) = x.dims
        width = float(x[1] - x[0])
        edges = np.append(x.values, x.values[-1] + width) - width / 2
        several = look.split(values, self.colour)
        for i, name, one in several:
            mean = one.mean([k for k in one.dims if k != dim]).values
            if len(several) == 1:
                axes.bar(
                    x.values,
                    mean,
                    width=width,
                    color=colour_of(i + self.first_colour),
                    label=name,
                )
            else:
                dash = line_of(i)
                look_of = {
                    "color": colour_of(i + self.first_colour),
                    "ls": dash,
                    "lw": 1.3,
                }
                axes.stairs(mean, edges, label=name, **look_of)
        draw_laws(self.laws, axes, part, look, self.colour, self.first_colour)


@dataclasses.dataclass(frozen=True)
class Spectrum(Kind):
    """Medians over the seeds along an index, at some shares of the run.

    Args:
        at: shares of the recorded times, from 0 to 1.
        unit: what the times are called in the legend.
    """

    _: dataclasses.KW_ONLY
    at: tuple[float | int, ...] = (0.0, 0.1, 1.0)
    unit: str = "t"

    def draw(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw a part, and the laws beside it."""
        x, values = self.along(part), values_of(self.values, part)
        (dim,) = x.dims
        for i, share in enumerate(self.at):
            one = values.isel(time=round(share * (values.sizes["time"] - 1)))
            seen = one.median([k for k in one.dims if k != dim])
            label = f"{self.unit} = {float(one['time']):g}"
            axes.plot(
                x, seen, "o-", ms=3, color=colour_of(i + self.first_colour), label=label
            )
        draw_laws(self.laws, axes, part, look)


@dataclasses.dataclass(frozen=True)
class Drawing(Kind):
    """A panel that no other kind can draw, such as a gallery of filters.

    `values` is a function of the axes and the part that draws.  What does not need x
    may leave it.
    """

    values: Callable[[Axes, xr.Dataset], None]  # pyright: ignore

    def draw(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw a part, and the laws beside it."""
        self.values(axes, part)
        draw_laws(self.laws, axes, part, look)
