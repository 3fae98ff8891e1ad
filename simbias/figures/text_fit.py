"""Titles and labels that stay within their panel."""

import itertools
import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axis import XAxis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.textpath import TextPath
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator
from matplotlib.transforms import BboxBase

# Letters of a line at least.
_LEAST = 12
# Between the labels of two ticks, in their heights.
_GAP = 0.3


def fit_text(figure: Figure) -> None:
    """Break what is longer than its panel into lines, and keep tick labels apart.

    Titles, labels and names at ticks are broken.  Where numbers at fixed ticks would
    touch, only every second, third, … is shown.
    """
    for axes in figure.get_axes():
        _keep_size_of_ticks(axes.xaxis)
    figure.draw_without_rendering()  # panels have their places from now on
    for axes in figure.get_axes():
        _keep_apart(axes.xaxis)
        _thin_minor_ticks(axes.xaxis)
        for child in axes.get_children():
            if isinstance(child, Text) and child not in axes.texts:  # its titles
                _fit(child, axes.get_window_extent().width)
    for whole in (figure, *figure.subfigs):
        for text in whole.texts:
            if text.get_text() == whole.get_suptitle():
                _fit(text, whole.bbox.width)
    figure.draw_without_rendering()  # titles of more lines leave less room
    for axes in figure.get_axes():
        _fit(axes.yaxis.label, axes.get_window_extent().height)


def _keep_size_of_ticks(axis: XAxis) -> None:
    """Automatic ticks are as many as have room for labels of the size that they have.

    Without it they are as many as have room for labels of the style's size when the
    figure is saved.
    """
    size = axis.get_major_ticks(1)[0].label1.get_fontsize()
    axis.set_tick_params(labelsize=size)


def _keep_apart(axis: XAxis) -> None:
    """Labels at fixed ticks do not touch: names are broken, numbers are left out."""
    labels = axis.get_ticklabels()
    if not isinstance(axis.get_major_locator(), FixedLocator) or len(labels) < 2:
        return
    boxes = [label.get_window_extent() for label in labels]
    gap = _GAP * max(box.height for box in boxes)
    if _are_apart(boxes, gap):
        return
    if all(map(_is_number, labels)):
        steps = range(2, len(boxes) + 1)
        step = next(step for step in steps if _are_apart(boxes[::step], gap))
        for i, label in enumerate(labels):
            label.set_text(label.get_text() if i % step == 0 else "")
    else:
        middles = [(box.x0 + box.x1) / 2 for box in boxes]
        slot = min(abs(np.diff(middles))) - gap
        for label in labels:
            words = label.get_text().split()
            _fit(label, slot, least=max(map(len, words), default=_LEAST))
    # As texts, because a list of labels is made anew whenever it is read.
    axis.set_ticklabels([label.get_text() for label in labels])


def _thin_minor_ticks(axis: XAxis) -> None:
    """Labels between the powers of ten that touch: only 2 and 5, or none."""
    for subs in ((2.0, 5.0), ()):
        labels = [*axis.get_majorticklabels(), *axis.get_minorticklabels()]
        low, high = sorted(axis.get_view_interval())
        shown = [
            label.get_window_extent()
            for label in labels
            if label.get_text() and low <= label.get_position()[0] <= high
        ]
        shown.sort(key=lambda box: box.x0)
        is_minor = any(label.get_text() for label in axis.get_minorticklabels())
        if axis.get_scale() != "log" or not is_minor or _are_apart(shown, 0.0):
            return
        axis.set_minor_locator(LogLocator(subs=subs) if subs else NullLocator())


def _are_apart(boxes: Sequence[BboxBase], gap: float) -> bool:
    return all(
        a.x1 + gap <= b.x0 or b.x1 + gap <= a.x0  # an axis may go to the left
        for a, b in itertools.pairwise(boxes)
    )


def _is_number(label: Text) -> bool:
    try:
        float(label.get_text().replace("−", "-").replace("∞", "inf"))
    except ValueError:
        return False
    return True


def _fit(text: Text, pixels: float, least: int = _LEAST) -> None:
    """In lines of so many pixels; a formula of TeX is not broken."""
    before = text.get_text()
    if "$" in before or not before or text.figure is None:
        return
    points = 72 * pixels / text.figure.dpi
    lines = [_broken(line, points, text, least) for line in before.split("\n")]
    text.set_text("\n".join(lines))


def _broken(line: str, points: float, text: Text, least: int) -> str:
    most = len(line)
    lines = [line]
    while most > least and any(_width(one, text) > points for one in lines):
        most -= 1
        lines = textwrap.wrap(line, most, break_on_hyphens=False)
    return "\n".join(lines)


def _width(line: str, text: Text) -> float:
    """Points from the first letter to the last."""
    if not line.strip():
        return 0.0
    return TextPath((0, 0), line, prop=text.get_fontproperties()).get_extents().width
