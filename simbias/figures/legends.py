"""Legends that lie on no data."""

from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure


def legend_beside(axes: Axes, **options: Any) -> None:
    """The panel's legend, to the right of it.

    Args:
        axes: of the panel.
        options: of `Axes.legend`, such as title.
    """
    axes.legend(**{"loc": "center left", "bbox_to_anchor": (1, 0.5), **options})


def legend_below(
    whole: Figure | SubFigure, *panels: Axes, columns: int = 4, **options: Any
) -> None:
    """One legend of several panels, under them; what is named twice is told once.

    Args:
        whole: the figure or a part of it; constrained layout makes room.
        panels: whose curves it names; those of the figure if none are given.
        columns: side by side.
        options: of `Figure.legend`, such as title.
    """
    named: dict[str, Artist] = {}
    for axes in panels or whole.get_axes():
        for artist, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, artist)
    if named:
        place = {"loc": "outside lower center", "ncols": min(columns, len(named))}
        whole.legend(list(named.values()), list(named), **{**place, **options})
