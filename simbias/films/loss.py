"""The loss along time, with a mark at the present."""

import numpy as np
from matplotlib.axes import Axes

from simbias.core import EventKind
from simbias.figures.style import COLOURS
from simbias.films.events import CROSSING, LEAVING, Events
from simbias.films.panel import Panel, Show
from simbias.films.training import Training

# Times that span more than this factor are drawn on a logarithmic axis.
_WIDE = 50
# Losses that fall by more than this factor, too.
_LARGE = 30


def loss(training: Training) -> Panel:
    """The loss of the sample: the whole curve in grey, and what has passed of it.

    Events of an exact flow are marked below, a row for each kind.
    """
    values = training.losses()
    name = getattr(training.loss, "__name__", "loss").replace("_", " ")

    def draw(axes: Axes) -> Show:
        times = training.times
        axes.plot(times, values, color="#BBBBBB", lw=1)
        (passed,) = axes.plot([], [], color=COLOURS[2], lw=2)
        (now,) = axes.plot([], [], "o", color=COLOURS[2], ms=6, clip_on=False)
        positive = times[times > 0]
        first = positive[0]
        if positive[-1] / first > _WIDE:
            axes.set_xscale("log")
        if (values > 0).all() and values.max() > _LARGE * values.min():
            axes.set_yscale("log")
        is_log = axes.get_xscale() == "log"
        axes.set_xlim(first if is_log else 0, times[-1])
        axes.set(xlabel="time", ylabel=name)
        if training.events is not None:
            _mark(axes, training.events)

        def show(record: int) -> None:
            passed.set_data(times[: record + 1], values[: record + 1])
            at = max(times[record], first) if is_log else times[record]
            now.set_data([at], [values[record]])
            axes.set_title(f"t = {times[record]:.5g}")

        return show

    return Panel({"loss": np.log(np.maximum(values, 1e-300))}, draw)


def _mark(axes: Axes, events: Events) -> None:
    """Times of crossings, of slides and of releases, in rows above the curve."""
    rows = (
        ("crosses", CROSSING, COLOURS[4]),
        ("begins to slide", (EventKind.SLIDES,), COLOURS[6]),
        ("is released", LEAVING, COLOURS[3]),
    )
    place = axes.get_xaxis_transform()
    for row, (label, kinds, colour) in enumerate(rows):
        at = events.times_of(*kinds)
        options = {"color": colour, "ls": "", "ms": 7, "transform": place}
        height = np.full(at.shape, 0.95 - 0.1 * row)
        axes.plot(at, height, "|", label=label, **options)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="a hidden unit")
