"""Text of figures: as large as a slide needs, and within its panel."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

from simbias.figures.look import VerticalLaw
from simbias.figures.median_curves import Curves
from simbias.figures.panels import Panels
from simbias.figures.style import blank, style, text_size
from simbias.figures.text_fit import fit_text

LONG = "share of the neurons that are aligned with the extremal vector of their sign"


def of_a_run(count):
    values = ("time", np.linspace(0, 1, 4))
    names = [f"v{i}" for i in range(count)]
    of = {name: (("seed", "time"), np.ones((2, 4))) for name in names}
    return names, xr.Dataset(of, {"time": values, "seed": [0, 1]})


@pytest.mark.parametrize(
    ("count", "shape"),
    [(1, (1, 1)), (3, (1, 3)), (4, (2, 2)), (5, (2, 3)), (7, (3, 3))],
)
def test_at_most_three_panels_are_side_by_side(count, shape):
    names, ds = of_a_run(count)
    figure = Panels(*(Curves(name) for name in names))(ds)
    assert len(figure.get_axes()) == count
    grid = figure.get_axes()[0].get_subplotspec().get_gridspec()
    assert (grid.nrows, grid.ncols) == shape


def test_three_panels_on_a_slide_have_text_of_fourteen_points():
    names, ds = of_a_run(3)
    figure = Panels(*(Curves(name) for name in names))(ds)
    slide = 1280 / 96
    size = figure.get_axes()[0].xaxis.label.get_fontsize()
    assert size * slide / figure.get_figwidth() == pytest.approx(14)
    assert text_size(3.0) == 10
    assert text_size(40.0) == 14


def test_the_size_of_text_is_that_of_before_outside_of_the_style():
    before = mpl.rcParams["font.size"]
    blank(13.0, 4.0)
    assert mpl.rcParams["font.size"] == before
    with style():
        blank(13.0, 4.0)
    assert mpl.rcParams["font.size"] == before


@pytest.mark.slow
def test_long_titles_and_labels_are_broken_where_their_panel_ends():
    with style():
        figure = blank(9.0, 3.0)
        for axes in figure.subplots(1, 3):
            axes.set_title(LONG)
            axes.set_ylabel(LONG)
        axes.set_title("$" + "x" * 60 + "$")
        figure.suptitle(f"{LONG}, {LONG}")
    before = [axes.get_title("left") for axes in figure.get_axes()]
    fit_text(figure)
    figure.draw_without_rendering()
    first, _, last = figure.get_axes()
    assert first.get_title("left").replace("\n", " ") == before[0]
    assert last.get_title("left") == before[2]  # a formula
    box = first.get_window_extent()
    text = first.get_title("left")
    title = first.findobj(lambda one: getattr(one, "get_text", str)() == text)[0]
    assert title.get_window_extent().width <= 1.1 * box.width
    assert first.yaxis.label.get_window_extent().height <= 1.1 * box.height
    assert "\n" in figure.get_suptitle()


def test_titles_that_fit_are_left_as_they_are():
    with style():
        figure = blank(9.0, 3.0)
        axes = figure.subplots()
        axes.set_title("two  spaces\nand a line")
    fit_text(figure)
    assert axes.get_title("left") == "two  spaces\nand a line"


def labels_of(axes):
    return [one.get_text() for one in axes.get_xticklabels()]


def do_touch(axes):
    boxes = [one.get_window_extent() for one in axes.get_xticklabels()]
    boxes = [box for box in boxes if box.width > 0]
    return any(a.x1 > b.x0 for a, b in itertools.pairwise(boxes))


def test_numbers_at_fixed_ticks_do_not_touch():
    with style():
        axes = blank(3.0, 2.0).subplots()
        axes.set_xticks(range(11), [str(1000 * k) for k in range(11)])
    fit_text(axes.figure)
    assert not do_touch(axes)
    assert labels_of(axes)[0] == "0"
    assert len(axes.get_xticks()) == 11


@pytest.mark.parametrize(("width", "least"), [(3.0, 2), (8.0, 4)])
def test_labels_between_powers_of_ten_do_not_touch(width, least):
    with style():
        axes = blank(width, 3.0).subplots()
        axes.set(xscale="log", xlim=(14, 600))
    fit_text(axes.figure)
    labels = [*axes.get_xticklabels(), *axes.get_xticklabels(minor=True)]
    inside = [t for t in labels if t.get_text() and 14 <= t.get_position()[0] <= 600]
    boxes = sorted((t.get_window_extent() for t in inside), key=lambda box: box.x0)
    assert len(boxes) >= least
    assert all(a.x1 <= b.x0 for a, b in itertools.pairwise(boxes))


def test_numbers_that_do_not_touch_stay_on_an_axis_to_the_left():
    with style():
        axes = blank(6.0, 2.0).subplots()
        axes.set_xticks(range(4), [str(k) for k in range(4)])
        axes.set_xlim(3, 0)
    fit_text(axes.figure)
    assert labels_of(axes) == ["0", "1", "2", "3"]


def test_names_at_ticks_are_broken_between_words():
    with style():
        axes = blank(4.0, 2.0).subplots()
        axes.set_xticks(range(3), ["a wide network", "a deep network", "a line"])
        axes.set_xlim(-0.5, 2.5)
    fit_text(axes.figure)
    assert not do_touch(axes)
    assert [one.split() for one in labels_of(axes)[:2]] == [
        ["a", "wide", "network"],
        ["a", "deep", "network"],
    ]


def test_ticks_of_large_text_are_as_few_outside_of_the_style_as_inside():
    with style():
        figure = blank(13.0, 3.0)
        axes = figure.subplots(1, 3)[0]
        axes.plot([0.0, 2.0], [0.0, 1.0])
        figure.draw_without_rendering()
        inside = len(axes.get_xticks())
    fit_text(figure)
    figure.draw_without_rendering()
    assert len(axes.get_xticks()) == inside


def test_a_figure_is_at_most_as_wide_as_a_slide():
    values = (("seed", "case", "time"), np.ones((2, 5, 4)))
    ds = xr.Dataset({"v": values}, {"time": np.arange(4.0)})
    figure = Panels(Curves("v"), columns="case")(ds.assign_coords(case=range(5)))
    assert figure.get_figwidth() == pytest.approx(1280 / 96)


def test_a_legend_of_many_lines_takes_no_height_from_the_panels():
    def height(count):
        values = (("k", "seed", "time"), np.ones((count, 2, 4)))
        ds = xr.Dataset({"v": values}, {"k": range(count), "time": np.arange(4.0)})
        figure = Panels(Curves("v", colour="k"), legend=2)(ds)
        figure.draw_without_rendering()
        (axes,) = figure.get_axes()
        return axes.get_window_extent().height

    assert height(14) == pytest.approx(height(2), rel=0.1)


def test_moments_of_two_names_have_two_lines():
    _, ds = of_a_run(2)
    laws = VerticalLaw(0.2, "first"), VerticalLaw(0.3), VerticalLaw(0.5, "last")
    axes, other = Panels(
        Curves("v0", laws=laws), Curves("v1", laws=(VerticalLaw(0.5, "last"),))
    )(ds).get_axes()
    first, again, last = (line.get_linestyle() for line in axes.lines[-3:])
    assert first == again != last == other.lines[-1].get_linestyle()
