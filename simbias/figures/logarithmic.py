"""Logarithmic axes, where there is something to show."""

import numpy as np
from matplotlib.axes import Axes


def logarithmic(axes: Axes) -> None:
    """Both axes logarithmic, but for one without a positive value among its lines.

    Such as the time at which a network has learned, of a run in which none has.
    """
    for get, scale in (("get_xdata", axes.set_xscale), ("get_ydata", axes.set_yscale)):
        drawn = (np.asarray(getattr(line, get)(), float) for line in axes.lines)
        if any(np.any(values > 0) for values in drawn):
            scale("log")
