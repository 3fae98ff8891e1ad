"""A sweep over learning rates says when some rates take next to no steps."""

import warnings

import numpy as np
import pytest
from small import small

from simbias.flows import Descent
from simbias.verbs.simulate import simulate

RATES = {"n": 6, "scale": 0.5, "flow.rate": (0.01, 0.5)}


def test_a_sweep_whose_largest_rate_takes_few_steps_is_told():
    with pytest.warns(UserWarning, match="2 for rate 0.5, 1.* for rate 0.01"):
        ds = simulate(small(flow=Descent(), cell=RATES, times=(0.0, 1.0)))
    assert ds["time"].attrs["units"] == "steps × rate"


def test_with_a_clock_of_steps_every_rate_takes_as_many():
    flow = Descent(counts_steps=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = simulate(small(flow=flow, cell=RATES, times=(0.0, 1.0, 20.0)))
    np.testing.assert_array_equal(ds["accepted"], 20)
    assert ds["time"].attrs["units"] == "steps"
