"""What all panels of a figure share: names, colours and lines; and laws beside data."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import matplotlib
import matplotlib.colors
import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.errors import BadInput
from simbias.figures.laws import LAW, law_level, law_line, law_vertical
from simbias.figures.style import COLOURS
from simbias.suggestion import suggestion

# Name of a variable, or a function of the part.
Reading = str | Callable[[xr.Dataset], xr.DataArray]
# Axis -> value -> what it is called, or axis -> its symbol.
Names = Mapping[str, Mapping[Any, str] | str]
_LINES = ("-", "--", ":", "-.")
# Of the vertical laws of a figure, one after the other.
_VERTICAL = (":", "-.", (0, (5, 1, 1, 1, 1, 1)))


@dataclasses.dataclass(frozen=True)
class Law:
    """What theory says: a level, or values along the axis of the panel.

    Args:
        values: a number, the name of a variable, or a function of the part.  Over the
            axis of the colours it is drawn once per colour, in that colour.
        label: in the legend.
        line: as of `Axes.plot`.
        colour: that of its curve, or grey, if not given.
    """

    values: float | int | Reading
    label: str | None = None
    line: str = "--"
    colour: str | None = None


@dataclasses.dataclass(frozen=True)
class VerticalLaw:
    """A time, a size or a threshold that theory names, from bottom to top."""

    values: float | int | Callable[[xr.Dataset], Any]
    label: str | None = None


class Look:
    """What values of axes are called, the same in all panels."""

    def __init__(self, names: Names):
        self._names = names
        self._vertical: list[str] = []

    def names_of(self, dim: str) -> Mapping[Any, str]:
        """Value -> what it is called, of those that have a name of their own."""
        own = self._names.get(dim, {})
        return {} if isinstance(own, str) else own

    def name(self, dim: str, value: Any) -> str:
        """What a value of an axis is called: texts by themselves, numbers as m = 20."""
        own = self.names_of(dim)
        if value in own:
            return own[value]
        symbol = self._names.get(dim)
        if not isinstance(symbol, str):
            if isinstance(value, str):
                return value
            symbol = dim.removeprefix("flow.").replace("_", " ")
        return f"{symbol} = {value if isinstance(value, str) else f'{value:g}'}"

    def line_of_vertical(self, label: str | None) -> Any:
        """Line of a vertical law, one per name; without a name that of the last one."""
        if label is not None and label not in self._vertical:
            self._vertical.append(label)
        number = self._vertical.index(label) if label else len(self._vertical) - 1
        return _VERTICAL[max(number, 0) % len(_VERTICAL)]

    def split(
        self, values: xr.DataArray, dim: str | None
    ) -> list[tuple[int, str | None, xr.DataArray]]:
        """Number, name and values of each value of an axis; of one part without it.

        Raises:
            ValueError: for what is neither an axis nor a coordinate with one value.
        """
        if dim is None:
            return [(0, None, values)]
        if dim not in values.dims:
            if dim in values.coords:
                return [(0, None, values)]
            raise BadInput(
                f"a figure has `{dim}` for colours or lines, but its values "
                f"{_called(values)}have no such axis. Axes: "
                f"{', '.join(map(str, values.dims)) or 'none'}."
            )
        keys = values[dim].values.tolist() if dim in values.coords else []
        keys = keys or list(range(values.sizes[dim]))
        return [
            (i, self.name(dim, key), values.isel({dim: i}))
            for i, key in enumerate(keys)
        ]


def values_of(values: Reading, part: xr.Dataset) -> xr.DataArray:
    """A variable of a part, or what a function makes of the part, also one number.

    Raises:
        ValueError: for a variable that the part does not have.
    """
    if callable(values):
        found = values(part)
        return found if isinstance(found, xr.DataArray) else xr.DataArray(found)
    if values not in part.variables and values not in part.dims:
        known = map(str, (*part.variables, *part.dims))
        raise BadInput(
            f"the figure draws `{values}`, which this result does not have."
            f"{suggestion(values, dict.fromkeys(known))}"
        )
    return part[values]


def evenly(name: str) -> Callable[[xr.Dataset], xr.DataArray]:
    """A coordinate as texts: its values are then drawn at equal distances."""

    def texts(part: xr.Dataset) -> xr.DataArray:
        x = part[name]
        shown = [v if isinstance(v, str) else f"{v:g}" for v in x.values.tolist()]
        return x.copy(data=np.array(shown, object))

    return texts


def _called(values: xr.DataArray) -> str:
    return f"`{values.name}` " if values.name else ""


def label_of(x: Reading | None) -> str:
    """A name for an axis that was given none."""
    return x.removeprefix("flow.").replace("_", " ") if isinstance(x, str) else ""


def colour_of(number: int) -> str:
    """The colour of a value of an axis by its number."""
    return COLOURS[number % len(COLOURS)]


def shade_of(number: int, count: int) -> str:
    """The colour of one of so many values in order, from dark to light."""
    share = 0.9 * number / max(count - 1, 1)
    return matplotlib.colors.to_hex(matplotlib.colormaps["viridis"](share))


def line_of(number: int) -> str:
    """The line style of a value of an axis by its number."""
    return _LINES[number % len(_LINES)]


def draw_laws(
    laws: tuple[Law | VerticalLaw, ...],
    axes: Axes,
    part: xr.Dataset,
    look: Look,
    colour: str | None = None,
    first_colour: int = 0,
) -> None:
    """What theory says, beside what is seen; a level that is NaN is left out."""
    for law in laws:
        value = law.values
        if callable(value) or isinstance(value, str):
            value = values_of(value, part)  # pyright: ignore[reportArgumentType]
        if isinstance(law, VerticalLaw):
            law_vertical(
                axes, float(value), law.label, ls=look.line_of_vertical(law.label)
            )
        elif not isinstance(value, xr.DataArray) or not value.dims:
            shade = law.colour or LAW
            if not np.isnan(float(value)):
                law_level(axes, float(value), law.label, ls=law.line, color=shade)
        else:
            is_own = colour is not None and colour in value.dims
            for i, _, one in look.split(value, colour if is_own else None):
                (dim,) = one.dims
                shade = law.colour or (colour_of(i + first_colour) if is_own else LAW)
                label = law.label if i == 0 else None
                law_line(axes, one[dim], one, label, line=law.line, colour=shade)
