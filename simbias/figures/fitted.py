"""Titles and labels that stay within their panel."""

import textwrap

from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.textpath import TextPath

# Letters of a line at least.
_LEAST = 12


def fitted(figure: Figure) -> None:
    """Break titles and labels that are longer than their panel into lines."""
    figure.draw_without_rendering()  # panels have their places from now on
    for axes in figure.get_axes():
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


def _fit(text: Text, pixels: float) -> None:
    """In lines of so many pixels; a formula of TeX is not broken."""
    before = text.get_text()
    if "$" in before or not before or text.figure is None:
        return
    points = 72 * pixels / text.figure.dpi
    lines = [_broken(line, points, text) for line in before.split("\n")]
    text.set_text("\n".join(lines))


def _broken(line: str, points: float, text: Text) -> str:
    most = len(line)
    lines = [line]
    while most > _LEAST and any(_width(one, text) > points for one in lines):
        most -= 1
        lines = textwrap.wrap(line, most, break_on_hyphens=False)
    return "\n".join(lines)


def _width(line: str, text: Text) -> float:
    """Points from the first letter to the last."""
    if not line.strip():
        return 0.0
    return TextPath((0, 0), line, prop=text.get_fontproperties()).get_extents().width
