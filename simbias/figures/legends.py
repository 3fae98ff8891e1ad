"""Legends that lie on no data."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure


def legend_below(
    whole: Figure | SubFigure, *panels: Axes, columns: int = 4, **options: Any
) -> None:
    """One legend of several panels, under them; a name appears once.

    Args:
        whole: the figure or a part of it; constrained layout makes room.
        panels: whose curves it names; those of the figure if none are given.
        columns: side by side, fewer where the figure is too narrow for them.
        options: of `Figure.legend`, such as title.
    """
    named: dict[str, Artist] = {}
    for axes in panels or whole.get_axes():
        for artist, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, artist)
    if named:
        # Of the size that the small font has where the others have 10 points.
        width = whole.bbox.width / whole.dpi * 10 / plt.rcParams["font.size"]
        place = {"loc": "outside lower center", "ncols": _fit(named, columns, width)}
        whole.legend(list(named.values()), list(named), **{**place, **options})


def _fit(labels: Iterable[str], most: int, width: float) -> int:
    """Columns of names that are as wide as a figure, at most; inches."""
    lengths = [len(label) for label in labels]
    for count in range(min(most, len(lengths)), 1, -1):
        # A handle with its margins, and letters of the small font.
        of_column = (0.55 + 0.065 * max(v) for v in np.array_split(lengths, count))
        if sum(of_column) <= width:
            return count
    return 1
