"""Panels of a matrix of effects: shares of a variance, and verdicts of many cells."""

import numpy as np
import pytest
import xarray as xr

from simbias.figures.share_bars import share_bars
from simbias.figures.style import blank
from simbias.figures.verdict_map import verdict_map


def _shares(values: list[float]) -> xr.Dataset:
    rows = np.array([values])
    dims = {"bias": ["one"], "source": ["a", "b", "a × b"]}
    ends = {"share": rows, "low": rows - 0.1, "high": rows + 0.1}
    return xr.Dataset({k: (tuple(dims), v) for k, v in ends.items()}, dims)


def test_segments_of_a_bar_stand_end_to_end_and_none_is_negative():
    axes = blank(4.0, 3.0).subplots()
    groups = {"a": ["a"], "b": ["b"], "both": ["a × b"]}
    share_bars(axes, _shares([0.5, -0.1, 0.4]), groups, greys=("both",))
    starts = [bar.get_x() for bar in axes.patches]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == pytest.approx([0.5, 0, 0.4])
    assert starts == pytest.approx([0, 0.5, 0.5])


def test_a_map_of_verdicts_has_one_colour_for_each_and_white_for_undefined():
    axes = blank(4.0, 3.0).subplots()
    seen = np.array([["observed", "undefined", "open", "observed"]])
    cells = xr.DataArray(seen, dims=("bias", "cell"))
    marks = verdict_map(axes, cells, ["first", "second"], [0, 2])
    image = axes.images[0].get_array()
    assert image is not None
    assert image[0, 0] == image[0, 3] != image[0, 2]
    assert image[0, 1] == 0
    assert [text.get_text() for text in axes.get_xticklabels()] == ["first", "second"]
    assert marks[-1].get_label() == "not learned, or no sense"
