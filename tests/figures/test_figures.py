"""What helpers draw is what they were given, and nothing lies on the data."""

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

from simbias.figures.cosine_histograms import cosine_histograms
from simbias.figures.heat_map import heat_map
from simbias.figures.laws import (
    LAW,
    are_laws_drawn,
    law_level,
    law_line,
    law_vertical,
    without_laws,
)
from simbias.figures.legends import legend_below
from simbias.figures.style import blank, style


@pytest.fixture
def axes():
    with style():
        yield blank().subplots()


def test_a_law_is_drawn_where_it_is_finite(axes):
    law_line(axes, [1, 2, 3], [np.nan, 4, 9], "k²")
    (line,) = axes.lines
    assert line.get_xdata().tolist() == [2, 3]
    assert line.get_ydata().tolist() == [4, 9]
    assert (line.get_color(), line.get_label()) == (LAW, "k²")


def test_levels_and_moments_cross_the_panel(axes):
    law_level(axes, 0.5, "chance")
    law_vertical(axes, 3, color="red")
    flat, upright = axes.lines
    assert set(flat.get_ydata()) == {0.5}
    assert set(upright.get_xdata()) == {3}
    assert (flat.get_label(), flat.get_linestyle()) == ("chance", ":")
    assert upright.get_color() == "red"


def test_a_heat_map_has_its_values_at_their_coordinates(axes):
    values = xr.DataArray(
        [[0.0, 1.0, np.nan], [0.2, 0.8, 0.9]],
        dims=("k", "time"),
        coords={"k": [5, 10], "time": [0, 1, 2]},
    )
    drawn = heat_map(axes, values, "time", "k", limits=(0, 1), border=0.5, label="f̂")
    shown = drawn.get_array()
    assert shown is not None
    np.testing.assert_array_equal(np.ma.filled(shown, np.nan), values.values)
    assert drawn.get_clim() == (0, 1)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "k")
    assert len(axes.figure.axes) == 2


def test_a_border_that_is_not_crossed_is_not_drawn(axes):
    values = xr.DataArray(np.ones((2, 2)), dims=("a", "b")).assign_coords(
        a=[0, 1], b=[0, 1]
    )
    heat_map(axes, values, "a", "b", border=0.5)
    assert len(axes.collections) == 1


def test_a_legend_lies_below(axes):
    axes.plot([0, 1], [0, 1], label="one")
    axes.plot([0, 1], [1, 0], label="one")
    axes.plot([0, 1], [1, 1], label="two")
    whole = axes.figure
    legend_below(whole, title="of")
    whole.draw_without_rendering()
    (below,) = whole.legends
    assert [t.get_text() for t in below.get_texts()] == ["one", "two"]
    assert below.get_window_extent().y1 <= axes.get_window_extent().y0


def test_histograms_of_several_curves_are_all_there_and_told_apart():
    values = np.random.default_rng(0).uniform(size=(2, 3, 4))
    coords = {"n": [8, 20], "cosine": [-0.75, -0.25, 0.25, 0.75]}
    share = xr.DataArray(values, coords, ("n", "seed", "cosine"))
    with style():
        panels = blank().subplots(1, 2)
        cosine_histograms(list(panels), share, 2 * share, 3 * share)
    for panel, n in zip(panels, (8, 20), strict=True):
        drawn = [patch.get_data() for patch in panel.patches]
        for i, (mean, edges, _) in enumerate(drawn, start=1):
            assert mean == pytest.approx(i * share.sel(n=n).mean("seed").values)
            assert edges == pytest.approx([-1, -0.5, 0, 0.5, 1])
        looks = {(p.get_edgecolor(), p.get_linestyle()) for p in panel.patches}
        assert len(drawn) == len(looks) == 3


def test_a_notebook_that_became_interactive_with_a_figure_stays_so():
    """pyplot shows no later figure of a cell otherwise."""
    before = mpl.is_interactive()
    try:
        mpl.interactive(False)
        with style():
            mpl.interactive(True)  # as the first figure of a notebook does
        assert mpl.is_interactive()
    finally:
        mpl.interactive(before)


def test_a_figure_of_another_sample_shows_no_law(axes):
    with without_laws():
        law_line(axes, [1, 2], [3, 4])
        law_level(axes, 1.0)
        law_vertical(axes, 1.0)
        assert not are_laws_drawn()
    assert not axes.lines
    law_level(axes, 1.0)
    assert len(axes.lines) == 1
