"""What is read of runs without a sample: gains, names, and what opens a set."""

import jax
import numpy as np
import xarray as xr

from simbias.experiments.interpolation import sample_influence
from simbias.numerics.exact_numerics import exact_numerics


def test_a_sample_that_is_left_out_has_weight_0_and_all_are_looked_at():
    with exact_numerics():
        data, one = sample_influence.make(jax.random.key(0), leave=2, n=4)
        whole, other = sample_influence.make(jax.random.key(0), n=4)
    np.testing.assert_array_equal(data.weight, [1, 0, 1, 1])
    np.testing.assert_array_equal(data.others["grid"].weight, 1)
    np.testing.assert_array_equal(data.x, whole.x)
    np.testing.assert_array_equal(one.w, other.w)


def test_the_rules_name_samples_and_only_open_sets_count():
    of = lambda *rows: (("seed", "sample"), np.array(rows, float))
    seen = xr.Dataset(
        {
            "gain": of([1, 3, 2], [1, 3, 2]),
            "named": of([0, 9, 1], [0, 1, 9]),
            "residual": of([5, 1, 1], [1, 1, 5]),
            "fits": of([0, 1, 0], [0, 1, 0]),
            "fitted": ("seed", [0.0, 1.0]),
        },
        {"sample": [1, 2, 3]},
    )
    found = sample_influence.shares(seen)
    rules = ["derivative", "residual", "next"]
    decides = found["decides"].sel(rule=rules).transpose("seed", "rule")
    np.testing.assert_array_equal(decides, [[1, 0, 0], [0, 0, 0]])
    opens = found["opens"].sel(rule=rules).transpose("seed", "rule")
    np.testing.assert_array_equal(opens, [[1, 0, 0], [np.nan] * 3])
    np.testing.assert_allclose(found["chance"], [1 / 3, np.nan])
