"""Neurons that are left behind are found, and measured by the law."""

import numpy as np
import pytest
import xarray as xr

from simbias.experiments.alignment import _stragglers
from simbias.experiments.alignment._stragglers import REST, WINDOW
from simbias.figures.style import blank

D, SCALE, NOISE, N = 3, 0.2, 0.5, 100
FITTED = SCALE**2 * (D + 1) / 8
TEACHER = np.ones(D) / D**0.5
ACROSS = np.array([1.0, -1.0, 0.0]) / 2**0.5


def neuron(tangent, size, sign=1.0):
    """Row (w, a, padding) at 2 arctan(tangent) from −sign β*."""
    angle = 2 * np.arctan(tangent)
    w = size * (np.sin(angle) * ACROSS - sign * np.cos(angle) * TEACHER)
    return np.concatenate([w, [sign * size, np.nan]])


def measured(rows):
    """Place, size and growth of neurons at time 0, when counted, and at the end."""
    first = REST - np.log(FITTED)
    times = [0.0, first, first + WINDOW * N**0.5 / NOISE]
    here = xr.DataArray(
        np.array(rows)[None], {"time": times}, ("seed", "time", "neuron", "weight")
    )
    cell = {"d": D, "n": N, "scale": SCALE}
    return _stragglers._of_cell(here, cell, NOISE)[:, 0], times[2] - times[1]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_neuron_of_the_law_has_its_place_its_size_and_its_growth(sign):
    v, start = 0.5, 1e-2
    law = start * FITTED**0.5 * (1 + v**2)
    rows = [[neuron(t, s, sign)] for t, s in ((0.01, start), (v, law), (v, 3 * law))]
    found, wait = measured(rows)
    expected = [v ** (D - 1), 1.0, np.log(3) / wait]
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9)


def test_a_neuron_that_is_past_a_right_angle_is_none():
    found, _ = measured([[neuron(1.2, 1.0)]] * 3)
    assert np.isnan(found).all()


def test_every_size_has_the_mark_that_the_legend_names():
    values = np.random.default_rng(0).random((6, 2, 2, 1, 3))
    dims = ("d", "seed", "sigma", "n", "m", "neuron")
    coords = {"sigma": [0.0, 0.5], "n": [50, 200], "d": [2], "scale": 0.4}
    part = xr.Dataset({"growth": (dims, values[None])}, coords)
    axes = blank().subplots()
    _stragglers.draw_growth(axes, part)
    marks = {line.get_marker(): line.get_xdata(orig=False) for line in axes.lines}
    for mark, n in (("x", 50), ("o", 200)):
        np.testing.assert_allclose(marks[mark], [0, 0.5 / n**0.5])
