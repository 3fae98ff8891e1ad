"""Steps of losses whose steps are put in by hand."""

import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.analysis.loss_steps import loss_steps

TIMES = np.linspace(0, 30, 601)


def loss(values):
    return xr.DataArray(values, {"time": TIMES}, ("time",))


def logistic(at, width):
    return 1 / (1 + np.exp(-(TIMES - at) / width))


@pytest.mark.parametrize("width", [1e-9, 0.3])
def test_falls_after_plateaus_are_steps_with_their_levels_and_heights(width):
    with np.errstate(over="ignore"):
        found = loss_steps(
            loss(3 - 1.5 * logistic(8.02, width) - 0.9 * logistic(19.02, width))
        )
    assert int(found["count"]) == 2
    np.testing.assert_allclose(found["level"][:2], [1, 0.5], atol=1e-4)
    np.testing.assert_allclose(found["height"][:2], [0.5, 0.3], atol=1e-4)
    assert bool(found["level"][2:].isnull().all())
    before, after = (found[k][:2].astype(int).values for k in ("before", "after"))
    assert np.all(TIMES[before] < [8.02, 19.02])
    assert np.all(TIMES[after] > [8.02, 19.02])


def test_the_plateau_is_read_where_its_last_slow_record_begins():
    found = loss_steps(loss(np.where(TIMES < 8.02, 1.0, 0.4)))
    assert TIMES[int(found["before"][0])] == pytest.approx(7.95)


def test_a_loss_that_falls_fastest_at_once_has_no_step():
    assert int(loss_steps(loss(np.exp(-TIMES)))["count"]) == 0
    # A plateau in between is followed by a step, whatever was before.
    later = 0.6 * np.exp(-3 * TIMES) + 0.4 * (1 - logistic(15, 0.3))
    found = loss_steps(loss(later))
    assert int(found["count"]) == 1
    assert float(found["level"][0]) == pytest.approx(0.4, abs=1e-3)


def test_steps_without_a_deep_plateau_or_without_height_are_left_out():
    shallow = 1 - 0.4 * logistic(14, 1.0) - 0.4 * logistic(17, 1.0)
    assert int(loss_steps(loss(shallow))["count"]) == 1
    low = 1 - 0.005 * logistic(8, 0.1) - 0.4 * logistic(17, 0.1)
    found = loss_steps(loss(low))
    assert int(found["count"]) == 1
    assert float(found["height"][0]) == pytest.approx(0.4, abs=1e-3)


def test_a_member_without_a_loss_has_no_count():
    assert np.isnan(loss_steps(loss(TIMES * np.nan))["count"])


def test_arguments_out_of_range_are_named():
    with pytest.raises(simbias.BadInput, match="`dim` must be one of"):
        loss_steps(loss(TIMES), dim="t")
    with pytest.raises(simbias.BadInput, match="`depth` must be above 1"):
        loss_steps(loss(TIMES), depth=1.0)
