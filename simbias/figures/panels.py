"""Figures as declarations: what is drawn along which axis, once per value of another.

    figure = Panels(
        Curves("accuracy", colour="sample", ylabel="share of pairs"),
        Curves("sensitivity", ylabel="sensitivity"),
        columns="flow.weight_decay", x=steps, xlabel="steps of AdamW",
    )

A declaration is called with a part of a result, as a function `figure(ds)` would be.
Colours, line styles and names follow the values of an axis, the same in all panels, and
one legend below the panels names them.
"""

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from simbias.errors import BadInput
from simbias.figures.kind import Kind, Scale, check_scale
from simbias.figures.kinds import Drawing
from simbias.figures.legends import legend_below
from simbias.figures.look import Look, Names, label_of
from simbias.figures.style import blank, style
from simbias.figures.titles import filled

_ACROSS = 3
# Inches of a slide: on a wider figure text is too small, once it fills a page.
_WIDEST = 1280 / 96
# Inches of a legend of one line.
_LINE = 0.4


@dataclasses.dataclass(frozen=True, init=False)
class Panels:
    """A figure of panels: side by side, or once per value of `rows` or `columns`.

    With `columns` every kind is a row, with a panel for each value; with `rows` every
    kind is a column.  With both there is one kind.  With neither all panels are in one
    row, and a kind with a `facet` has a panel for each value of that axis.  A kind that
    `needs` a variable is left out of results that do not have it.

    Args:
        kinds: `Curves`, `Points`, `Estimates`, `HeatMap`, `Histogram`, `Spectrum`,
            `Drawing`.
        rows: axis whose values are rows.
        columns: axis whose values are columns.
        x: coordinate along which values are drawn, or a function of the part that has
            it; a kind may have its own.
        xlabel: its name.
        xscale: "linear", "log", "symlog" or options of `Axes.set_xscale`.
        names: axis -> value -> name, or axis -> symbol; a value without a name is shown
            as it is.  In titles names may have places, as `title` has.
        title: above all panels; places such as {m} or {scale:g} hold coordinates.
        size: inches of a panel, to the right and up; less where the figure would be
            wider than a slide.
        legend: names side by side in the legend below; 0 for none, or "inside" for one
            in each panel, where colours mean different things.
        across: panels side by side, without `rows` and `columns`; the others follow in
            more rows.  0 for rows of at most three, as equal as they can be.
        of: function that is applied to the part first.
    """

    kinds: tuple[Kind, ...]
    rows: str | None
    columns: str | None
    x: Any
    xlabel: str | None
    xscale: Scale
    names: Names
    title: str
    size: tuple[float | int, float | int]
    legend: int | Literal["inside"]
    across: int
    of: Callable[[xr.Dataset], xr.Dataset] | None

    def __init__(
        self,
        *kinds: Kind,
        rows: str | None = None,
        columns: str | None = None,
        x: str | Callable[[xr.Dataset], xr.DataArray] = "time",
        xlabel: str | None = None,
        xscale: Scale = None,
        names: Names | None = None,
        title: str = "",
        size: tuple[float | int, float | int] = (4.4, 3.4),
        legend: int | Literal["inside"] = 4,
        across: int = 0,
        of: Callable[[xr.Dataset], xr.Dataset] | None = None,
    ):
        if not kinds:
            raise BadInput(
                '`Panels` needs a kind. Example: Panels(Curves("train_risk")).'
            )
        if rows and columns and len(kinds) > 1:
            raise BadInput(
                f"`Panels` with `rows` and `columns` has one kind, got {len(kinds)}."
            )
        if (rows or columns) and any(kind.facet for kind in kinds):
            raise BadInput("a kind with a `facet` goes without `rows` and `columns`.")
        check_scale("xscale", xscale)
        _check_titles(kinds)
        said = {"rows": rows, "columns": columns, "x": x, "xlabel": xlabel}
        said |= {"xscale": xscale, "names": names or {}, "title": title, "size": size}
        said |= {"kinds": kinds, "legend": legend, "of": of}
        said |= {"across": across}
        for name, value in said.items():
            object.__setattr__(self, name, value)

    def __call__(self, ds: xr.Dataset) -> Figure:
        """The figure of a part of a result.

        Raises:
            ValueError: for an axis that the part does not have.
        """
        ds = ds if self.of is None else self.of(ds)
        kept = [k for k in self.kinds if k.needs is None or k.needs in ds]
        if len(kept) < len(self.kinds):
            own = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
            del own["kinds"], own["of"]
            return Panels(*kept, **own)(ds)
        look = Look(self.names)
        with style():
            down, across = self._shape(ds)
            width, height = self.size
            whole = blank(min(width * across, _WIDEST), height * down)
            is_row = self.columns is not None
            is_one_x = is_row and all(
                kind.x is None and not isinstance(kind, Drawing) for kind in self.kinds
            )
            grid = whole.subplots(
                *(down, across),
                squeeze=False,
                sharex="col" if is_one_x else False,
                sharey="row" if is_row else False,
            )
            panels = list(self._each(ds, look))
            for (row, column), kind, part, name in panels:
                axes = grid[row, column]
                kind = self._with_defaults(kind)
                part = part if kind.of is None else kind.of(part)
                kind.draw(axes, part, look)
                _dress(axes, kind, part, look, name if self._is_named(row) else "")
                kind.draw_ends(axes, part, look)
                if is_row and column:
                    axes.set_ylabel("")
                if is_one_x and row < down - 1:
                    axes.set_xlabel("")
            for axes in grid.flat[len(panels) :]:
                axes.remove()
            if self.title:
                whole.suptitle(filled(self.title, ds, look), fontsize="medium")
            if self.legend == "inside":
                for axes in filter(_has_names, whole.get_axes()):
                    axes.legend()
            elif self.legend:
                legend_below(whole, columns=self.legend)
                _make_room(whole)
        return whole

    def _shape(self, ds: xr.Dataset) -> tuple[int, int]:
        count = {k: ds.sizes[k] for k in (self.rows, self.columns) if _has(ds, k)}
        if self.rows and self.columns:
            return count[self.rows], count[self.columns]
        if self.rows:
            return count[self.rows], len(self.kinds)
        if self.columns:
            return len(self.kinds), count[self.columns]
        count = [ds.sizes[k.facet] for k in self.kinds if _has(ds, k.facet)]
        total = len(self.kinds) + sum(count) - len(count)
        down = math.ceil(total / (self.across or _ACROSS))
        return down, min(self.across or total, math.ceil(total / down))

    def _each(
        self, ds: xr.Dataset, look: Look
    ) -> Iterator[tuple[tuple[int, int], Kind, xr.Dataset, str]]:
        """Place, kind, part and name of every panel."""
        facets = [k for k in (self.rows, self.columns) if k]
        if not facets:
            yield from self._in_a_row(ds, look)
            return
        for at in np.ndindex(*(ds.sizes[k] for k in facets)):
            part = ds.isel(dict(zip(facets, at, strict=True)))
            name = ", ".join(look.name(k, part[k].item()) for k in facets)
            for i, kind in enumerate(self.kinds):
                if len(facets) == 2:
                    place = at
                else:
                    place = (at[0], i) if self.rows else (i, at[0])
                yield (place[0], place[1]), kind, part, name

    def _in_a_row(
        self, ds: xr.Dataset, look: Look
    ) -> Iterator[tuple[tuple[int, int], Kind, xr.Dataset, str]]:
        place, (_, across) = 0, self._shape(ds)
        for kind in self.kinds:
            dim = kind.facet
            for i in range(ds.sizes[dim] if dim else 1):
                part = ds.isel({dim: i}) if dim else ds
                name = look.name(dim, part[dim].item()) if dim else ""
                yield divmod(place, across), kind, part, name
                place += 1

    def _is_named(self, row: int) -> bool:
        """Whether panels of a row bear the name of their value."""
        return self.columns is None or bool(self.rows) or row == 0

    def _with_defaults(self, kind: Kind) -> Kind:
        own = {"x": self.x, "xlabel": self.xlabel, "xscale": self.xscale}
        missing = {k: v for k, v in own.items() if getattr(kind, k) is None}
        return dataclasses.replace(kind, **missing)


def _check_titles(kinds: tuple[Kind, ...]) -> None:
    """Refuse two panels with one title, which a reader could not tell apart."""
    seen = set()
    for kind in filter(lambda kind: kind.title, kinds):
        # Places may differ in parts of their own; one of two may be left out.
        of = kind.of if "{" in kind.title else None
        own = (kind.title, kind.ylabel, kind.needs, of)
        if own in seen:
            raise BadInput(
                f"two panels have the title {kind.title!r} and the same `ylabel`. Give "
                "each a `title` of its own."
            )
        seen.add(own)


def _has(ds: xr.Dataset, dim: Hashable | None) -> bool:
    if dim is not None and dim not in ds.dims:
        raise BadInput(
            f"this part of the result has no axis `{dim}`, which the figure has panels "
            f"for. It has {', '.join(map(str, ds.dims))}. Name it in AXES."
        )
    return dim is not None


def _is_whole(values: np.ndarray) -> bool:
    """Whether these are whole numbers, between which there is no tick."""
    return values.dtype.kind in "iuf" and bool(np.all(values == np.round(values)))


def _make_room(whole: Figure) -> None:
    """The figure is higher by what its legend has beyond one line."""
    whole.draw_without_rendering()
    for legend in whole.legends:
        excess = legend.get_window_extent().height / whole.dpi - _LINE
        whole.set_figheight(whole.get_figheight() + max(0.0, excess))


def _has_names(axes: Axes) -> bool:
    return bool(axes.get_legend_handles_labels()[1])


def _dress(axes: Axes, kind: Kind, part: xr.Dataset, look: Look, name: str) -> None:
    """Titles, scales, limits and ticks."""
    title = ": ".join(filter(None, (name, kind.title)))
    axes.set_title(filled(title, part, look))
    axes.set_xlabel(kind.xlabel if kind.xlabel is not None else label_of(kind.x))
    if kind.ylabel:
        axes.set_ylabel(kind.ylabel)
    x_least, y_least = np.asarray(axes.dataLim.minpos)
    for scale, limits, set_scale, set_limits, least in (
        (kind.xscale, kind.xlim, axes.set_xscale, axes.set_xlim, x_least),
        (kind.yscale, kind.ylim, axes.set_yscale, axes.set_ylim, y_least),
    ):
        # Nothing above 0 has no place on an axis of logarithms.
        if scale == "log" and limits is None and not np.isfinite(least):
            continue
        # Whole limits first, as zeros alone have none on a logarithmic scale.
        if limits is not None and None not in limits:
            set_limits(*limits)
        if isinstance(scale, Mapping):
            set_scale(**scale)
        elif scale is not None:
            set_scale(scale)
        if limits is not None:
            set_limits(*limits)
    if not isinstance(kind, Drawing) and _is_whole(kind.along(part).values):
        locator = axes.xaxis.get_major_locator()
        if isinstance(locator, MaxNLocator):
            locator.set_params(integer=True)
    if kind.ticks:
        values = kind.along(part).values
        axes.set_xticks(values, [f"{v:g}" for v in values])
        axes.minorticks_off()
    if kind.yticks:
        own = kind.yticks
        values = part[own].values if isinstance(own, str) else own
        axes.set_yticks(values, [f"{v:g}" for v in values])
        axes.minorticks_off()
