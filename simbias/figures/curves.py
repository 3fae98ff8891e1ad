"""Every member on its own, along time: losses, for one."""

import xarray as xr
from matplotlib.axes import Axes

from simbias.figures.logarithmic import logarithmic


def curves(
    axes: Axes,
    values: xr.DataArray,
    *,
    colour: str,
    label: str | None = None,
    scale: str = "log",
) -> None:
    """A thin line per member against time: told apart if few, a cloud if many.

    Args:
        axes: where to draw.
        values: over `time` and any other axes, whose every entry is a member.
        colour: of all.
        label: of the first line, for a legend.
        scale: of both axes; "log" where anything is positive.
    """
    members = values.transpose("time", ...).values.reshape(values.sizes["time"], -1).T
    alpha = min(1.0, max(0.15, 20 / max(len(members), 1)))
    for member in members:
        axes.plot(values["time"], member, lw=0.7, color=colour, alpha=alpha)
    if label and len(members):
        axes.lines[-1].set_label(label)
    axes.set_xlabel("time")
    if scale == "log":
        logarithmic(axes)
