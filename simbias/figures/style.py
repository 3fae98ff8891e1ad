"""One look for every figure."""

import contextlib
from collections.abc import Iterator

import matplotlib as mpl
from cycler import cycler
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

# Okabe & Ito: distinct for every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

_STYLE = {
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": "small",
    "figure.constrained_layout.use": True,
    "font.size": 10,
}


@contextlib.contextmanager
def style() -> Iterator[None]:
    """The look, for the figures made inside."""
    # A notebook makes pyplot interactive when the first figure is made, and shows no
    # later one if that is taken back with the look.
    is_interactive = mpl.is_interactive()
    try:
        with mpl.rc_context(_STYLE):  # pyright: ignore
            try:
                yield
            finally:
                is_interactive = mpl.is_interactive()
    finally:
        mpl.interactive(is_interactive)


def blank(width: float = 6.0, height: float = 4.0) -> Figure:
    """A figure outside pyplot's list, so that nothing has to be closed."""
    figure = plt.figure(figsize=(width, height))
    plt.close(figure)
    return figure
