"""What theory says, drawn beside what is seen: in every figure the same way."""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

LAW = "#555555"
"""Colour of laws of no curve in particular."""
_THIN: dict[str, Any] = {"color": "black", "ls": ":", "lw": 1}
_ARE_DRAWN = contextvars.ContextVar("_ARE_DRAWN", default=True)


@contextlib.contextmanager
def without_laws() -> Iterator[None]:
    """Figures made inside show no law: their sample is not the one that laws are of."""
    before = _ARE_DRAWN.set(False)
    try:
        yield
    finally:
        _ARE_DRAWN.reset(before)


def are_laws_drawn() -> bool:
    """False inside `without_laws`."""
    return _ARE_DRAWN.get()


def law_line(
    axes: Axes,
    x: ArrayLike,
    values: ArrayLike,
    label: str | None = None,
    *,
    line: str = "--",
    colour: str = LAW,
) -> None:
    """A law along x, where it is finite.

    Args:
        axes: where to draw.
        x: along which.
        values: as many.
        label: of the line.
        line: as of `Axes.plot`.
        colour: that of the curve that it is the law of, or grey.
    """
    if not are_laws_drawn():
        return
    x, values = np.asarray(x), np.asarray(values, float)
    finite = np.isfinite(values)
    axes.plot(x[finite], values[finite], line, color=colour, lw=1, label=label)


def law_level(
    axes: Axes, value: float | int, label: str | None = None, **options: Any
) -> None:
    """A value that theory names, across the panel.

    Args:
        axes: where to draw.
        value: on the vertical axis.
        label: of the line, for a legend.
        options: of `Axes.axhline`, such as color.
    """
    if not are_laws_drawn():
        return
    axes.axhline(
        value, **{"color": "black", "ls": ":", "lw": 1, **options}, label=label
    )


def law_vertical(
    axes: Axes, at: float | int, label: str | None = None, **options: Any
) -> None:
    """A time, a size or a threshold that theory names, from bottom to top.

    Args:
        axes: where to draw.
        at: on the horizontal axis.
        label: of the line, for a legend.
        options: of `Axes.axvline`, such as color.
    """
    if not are_laws_drawn():
        return
    axes.axvline(at, **{**_THIN, **options}, label=label)
