"""A part of a result at a value, and what a missing value leaves behind."""

import numpy as np
import pytest
import xarray as xr

from simbias.analysis.at import at, needs_of

DS = xr.Dataset(
    {"risk": (("m", "seed"), np.arange(6.0).reshape(2, 3)), "status": ("m", [1, 2])},
    {"m": [10, 20], "seed": range(3), "scale": 0.1, "network": "mlp"},
)


def test_a_value_that_is_there_is_selected():
    np.testing.assert_array_equal(at(DS, "m", 20)["risk"], [3, 4, 5])
    np.testing.assert_array_equal(at(DS, "m", max)["risk"], [3, 4, 5])
    np.testing.assert_array_equal(at(DS["risk"], "m", min), [0, 1, 2])
    assert not needs_of(at(DS, "m", 20)["risk"])


def test_numbers_are_found_up_to_rounding_and_fixed_arguments_as_well():
    assert at(DS, "scale", 0.1 + 1e-12)["risk"].sizes == {"m": 2, "seed": 3}
    assert not needs_of(at(DS, "network", "mlp")["risk"])


def test_what_is_missing_is_nan_and_says_so_through_arithmetic():
    wide, other = at(DS, "m", 50)["risk"], at(DS, "network", "cnn")["risk"]
    gap = np.log(wide) - at(DS, "m", 10)["risk"]
    assert gap.dims == ("seed",)
    assert gap.isnull().all()
    assert needs_of(gap) == ["m = 50"]
    assert needs_of(other.isel(m=0) - wide, gap) == ["m = 50", "network = cnn"]


def test_an_axis_that_is_not_known_is_named():
    with pytest.raises(KeyError, match="depth"):
        at(DS, "depth", 2)


def test_tiny_numbers_are_told_apart():
    scales = [1e-4, 1e-8, 1e-12, 1e-100]
    risk = xr.DataArray(np.arange(4.0), {"scale": scales}, ("scale",))
    assert [float(at(risk, "scale", s)) for s in scales] == [0, 1, 2, 3]
