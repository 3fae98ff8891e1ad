"""What a film shows in one place."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes

# Draws the record of a number in place of the one before.
Show = Callable[[int], None]


@dataclasses.dataclass(frozen=True)
class Panel:
    """A panel, computed and not yet drawn.

    Args:
        values: what moves, by name, one row per record.
        draw: draws on axes what stays, and returns what shows a record.
        projection: of the axes, as matplotlib names it.
        width: of the panel, in inches.
    """

    values: dict[str, Float[np.ndarray, "t ..."]]
    draw: Callable[[Any], Show]
    projection: str | None = None
    width: float = 4.8


def legend_under(axes: Axes, artists: Sequence[Artist], columns: int = 2) -> None:
    """A legend below the panel, where nothing moves."""
    axes.legend(
        handles=artists,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=columns,
        columnspacing=1.2,
        handletextpad=0.5,
    )
