"""What panels of every kind have."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.scale import get_scale_names

from simbias.errors import BadInput
from simbias.figures.axis_end import AxisEnd, Shades, draw_axis_ends
from simbias.figures.look import Law, Look, Reading, VerticalLaw, values_of

Scale = str | Mapping[str, Any] | None


def check_scale(name: str, scale: Scale) -> None:
    """Refuse a scale that matplotlib does not have."""
    word = scale.get("value") if isinstance(scale, Mapping) else scale
    if scale is not None and word not in get_scale_names():
        raise BadInput(
            f"`{name}` must be one of {', '.join(get_scale_names())}, or options such "
            f"as {{'value': 'symlog', 'linthresh': 1e-3}}, got {scale!r}."
        )


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of panel; its own say in `draw` what is drawn.

    Args:
        values: name of a variable, or a function of the part that has them.
        title: above the panel; places such as {m} or {scale:g} hold coordinates.
        ylabel: beside the panel.
        x: coordinate along which values are drawn, or a function that has it.
        xlabel: its name.
        xscale: "linear", "log", "symlog" or options of `Axes.set_xscale`.
        yscale: the same, upwards.
        xlim: first and last value; None for what is seen.
        ylim: the same, upwards.
        ticks: whether ticks are at the values of x.
        yticks: values of the ticks upwards, or the coordinate that has them.
        laws: a tuple of `Law` and `VerticalLaw`.
        beyond: a tuple of `AxisEnd`, of panels whose x has numbers.
        first_colour: its number, for panels that share a legend.
        needs: variable without which a figure leaves the panel out.
        facet: axis with a panel for each value; the other kinds have one panel.
        of: function that is applied to the part first, for this kind.
    """

    values: Reading
    _: dataclasses.KW_ONLY
    title: str = ""
    ylabel: str = ""
    x: Reading | None = None
    xlabel: str | None = None
    xscale: Scale = None
    yscale: Scale = None
    xlim: tuple[float | int | None, float | int | None] | None = None
    ylim: tuple[float | int | None, float | int | None] | None = None
    ticks: bool = False
    yticks: tuple[float | int, ...] | str = ()
    laws: Any = ()  # checked below
    beyond: tuple[AxisEnd, ...] = ()
    first_colour: int = 0
    needs: str | None = None
    facet: str | None = None
    of: Callable[[xr.Dataset], xr.Dataset] | None = None

    def __post_init__(self):
        check_scale("xscale", self.xscale)
        check_scale("yscale", self.yscale)
        laws = self.laws
        is_tuple = isinstance(laws, tuple)
        if not is_tuple or not all(isinstance(law, Law | VerticalLaw) for law in laws):
            raise BadInput(
                f"`laws` must be a tuple of `Law` and `VerticalLaw`, got {laws!r:.80}. "
                "Example: laws=(Law(0.5),)."
            )

    def draw(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw a part, and the laws beside it."""
        raise NotImplementedError

    def draw_ends(self, axes: Axes, part: xr.Dataset, look: Look) -> None:
        """Draw what is beyond the axis, once it has its scale."""
        if self.beyond:
            along = self.along(part)
            draw_axis_ends(self.beyond, axes, along, part, look, self.shades)

    @property
    def shades(self) -> Shades:
        """Colours of the curves."""
        return Shades(first=self.first_colour)

    def along(self, part: xr.Dataset) -> xr.DataArray:
        """The coordinate x of a part."""
        assert self.x is not None
        return values_of(self.x, part)

    def places(self, axes: Axes, x: xr.DataArray, look: Look) -> np.ndarray:
        """Where values are drawn: texts at equal distances, with ticks; else x."""
        if x.dtype.kind not in "USO":
            return x.values
        (dim,) = x.dims
        places = np.arange(x.size)
        axes.set_xticks(places, [look.name(str(dim), v) for v in x.values.tolist()])
        return places
