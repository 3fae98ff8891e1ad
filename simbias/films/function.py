"""The function that a network of one input is, beside the sample."""

import jax
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.figures.laws import law_line
from simbias.figures.style import COLOURS
from simbias.films.inputs import filled, rows, varying
from simbias.films.panel import Panel, Show
from simbias.films.training import Training

_POINTS = 301
# A target that is known at fewer points is not drawn as a line.
_FEW = 10


def check_one_input(data: Dataset) -> None:
    """Refuse a sample that is not of one input and one output.

    Raises:
        ValueError: for more inputs than one that vary, or several outputs.
    """
    inputs, outputs = len(varying(data)), data.y.shape[1]
    if inputs != 1 or outputs != 1:
        raise BadInput(
            "`kind` function is for networks of one input and one output, got "
            f"{inputs} inputs that vary and {outputs} outputs. Others: neurons, "
            "boundary."
        )


def function(training: Training) -> Panel:
    """The value f(x) along the input, the sample as dots and E[y | x] as a broken line.

    Inputs that are the same in all rows, as one that stands for a bias, stay so.

    Raises:
        ValueError: for more inputs than one that vary, or several outputs.
    """
    data = training.data
    check_one_input(data)
    columns, (x, y) = varying(data), rows(data)
    at = x[:, columns[0]]
    room = (at.max() - at.min()) / 12
    grid = np.linspace(at.min() - room, at.max() + room, _POINTS)
    inputs = filled(data, columns, grid[:, None]).astype(data.x.dtype)
    values = training.along(lambda net: jax.vmap(net)(inputs)[:, 0])
    known = data if data.test is None else data.test
    target = np.asarray(known.x)[:, columns[0]], np.asarray(known.mean)[:, 0]
    order = np.argsort(target[0])

    def draw(axes: Axes) -> Show:
        if len(order) > _FEW:
            law_line(axes, *(v[order] for v in target), label="target")
        axes.plot(at, y[:, 0], "o", color="black", ms=4, label="sample", zorder=3)
        (line,) = axes.plot(grid, values[0], color=COLOURS[2], lw=2, label="network")
        is_inside = (grid >= at.min()) & (grid <= at.max())
        seen = np.concatenate([values[-1, is_inside], y[:, 0]])
        low, high = seen.min(), seen.max()
        low, high = min(low, 0.0), max(high, 0.0)
        axes.set_ylim(low - 0.15 * (high - low), high + 0.15 * (high - low))
        axes.set_xlim(grid[0], grid[-1])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set(xlabel="x", title="the function")
        axes.legend(loc="best")
        return lambda record: line.set_ydata(values[record])

    return Panel({"f": values}, draw, width=4.4)
