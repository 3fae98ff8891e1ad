"""Every member on its own, along time: losses, for one."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes


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
        _logarithmic(axes)


def _logarithmic(axes: Axes) -> None:
    """Both axes logarithmic, but for one without a positive value among its lines.

    Such as the time at which a network has learned, of a run in which none has.
    """
    for get, scale in (("get_xdata", axes.set_xscale), ("get_ydata", axes.set_yscale)):
        drawn = (np.asarray(getattr(line, get)(), float) for line in axes.lines)
        if any(np.any(values > 0) for values in drawn):
            scale("log")
