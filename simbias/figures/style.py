"""One look for every figure."""

import contextlib
import contextvars
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
    "figure.constrained_layout.w_pad": 0.06,
    "font.size": 10,
}
# Inches, and points of its text.
_SLIDE, _SLIDE_TEXT = 1280 / 96, 14.0
_IS_STYLED = contextvars.ContextVar("_IS_STYLED", default=False)


@contextlib.contextmanager
def style() -> Iterator[None]:
    """The look, for the figures made inside."""
    # A notebook makes pyplot interactive when the first figure is made, and shows no
    # later one if that is taken back with the look.
    is_interactive = mpl.is_interactive()
    before = _IS_STYLED.set(True)
    try:
        with mpl.rc_context(_STYLE):  # pyright: ignore
            try:
                yield
            finally:
                is_interactive = mpl.is_interactive()
    finally:
        _IS_STYLED.reset(before)
        mpl.interactive(is_interactive)


def text_size(width: float) -> float:
    """Points of the text of a figure: 14 where the figure is as wide as a slide.

    A slide has 1280 pixels, 96 an inch.  A figure that is wider has 14 points, one that
    is narrower than a page has 10, which are more when it is enlarged.
    """
    return min(max(_SLIDE_TEXT * width / _SLIDE, 10.0), _SLIDE_TEXT)


def blank(width: float = 6.0, height: float = 4.0) -> Figure:
    """A figure outside pyplot's list, so that nothing has to be closed.

    Inside `style`, text that is added from then on has the size for such a width.
    """
    if _IS_STYLED.get():
        mpl.rcParams["font.size"] = text_size(width)
    figure = plt.figure(figsize=(width, height))
    plt.close(figure)
    return figure
