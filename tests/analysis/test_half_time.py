"""When half of a quantity is gone."""

import numpy as np
import pytest
import xarray as xr

from simbias.analysis.half_time import half_time
from simbias.errors import BadInput


def test_an_exponential_is_half_gone_at_ln_2_over_its_rate():
    rates = xr.DataArray([0.5, 2.0, 0.01], dims="rate")
    time = xr.DataArray([0.0, 0.3, 1.0, 3.0], {"time": [0.0, 0.3, 1.0, 3.0]}, "time")
    found = half_time(7 * np.exp(-rates * time))
    np.testing.assert_allclose(found, [np.log(2) / 0.5, np.log(2) / 2, np.nan])


def test_a_quantity_without_a_history_is_refused():
    with pytest.raises(BadInput, match="`dim`"):
        half_time(xr.DataArray([1.0], dims="seed"))
