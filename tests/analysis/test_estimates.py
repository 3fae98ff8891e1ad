"""Estimates for every cell of a grid, and their curves."""

import matplotlib
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.analysis.estimates import estimates
from simbias.analysis.threshold import threshold
from simbias.figures import Estimates, Panels

matplotlib.use("agg")


@pytest.fixture(scope="module")
def successes():
    """Half succeed at n = 20 for σ = 0.1, at n = 80 for σ = 1; all do for σ = 10."""
    n = np.array([5, 10, 20, 40, 80, 160, 320])
    rng = np.random.default_rng(0)
    levels = rng.logistic(size=(12, 1))
    star = {0.1: 20, 1.0: 80, 10.0: 1e9}
    values = [levels < 3 * np.log(at / n) for at in star.values()]
    return xr.DataArray(
        np.stack(values).astype(float),
        dims=("sigma", "seed", "n"),
        coords={"sigma": [*star], "seed": range(12), "n": n, "m": 50},
    )


def test_every_cell_has_the_estimate_that_it_has_alone(successes):
    found = estimates(threshold, successes)
    assert found["value"].dims == ("sigma",)
    for sigma in found["sigma"].values:
        alone = threshold(successes.sel(sigma=sigma, drop=True).drop_vars("m"))
        one = found.sel(sigma=sigma)
        assert one["low"] == alone.low
        assert one["high"] == alone.high
        np.testing.assert_equal(float(one["value"]), alone.value)
    assert 10 < found["value"].sel(sigma=0.1) < 40 < found["value"].sel(sigma=1.0) < 160
    assert found["m"] == 50  # what is held fixed is still said


def test_an_axis_that_is_not_there_is_named(successes):
    with pytest.raises(simbias.BadInput, match="`over` names 'draw'"):
        estimates(threshold, successes, over=("n", "draw"))


def test_a_panel_has_their_intervals_and_a_triangle_where_no_value_is(successes):
    found = estimates(threshold, successes).to_array("end").to_dataset(name="n*")
    figure = Panels(Estimates("n*", is_joined=True), x="sigma", xscale="log")(found)
    (axes,) = figure.axes
    above, below = axes.lines[-2:]
    assert above.get_xdata().tolist() == [10.0]  # n* is above its lower end
    assert below.get_xdata().tolist() == []
    (joined,) = [line for line in axes.lines if line.get_linestyle() == "-"]
    assert np.isfinite(joined.get_ydata()).tolist() == [True, True, False]
