"""When a clone of images is left, and images that are not there."""

import inspect

import jax
import numpy as np
import pytest
import xarray as xr

from simbias.errors import BadInput
from simbias.experiments.order._clones import make
from simbias.experiments.order._departure import departure_or_end


def test_a_clone_that_is_never_left_has_the_time_of_the_end():
    real = [0.3, 0.5, 0.9]
    seen = [real, [0.3, 0.4, 0.5], [0.3, 0.5, 0.88], [np.nan] * 3]
    ds = xr.Dataset(
        {"accuracy": (("trained_on", "time"), seen)},
        {"trained_on": ["real", "mean", "covariance", "marginals"]},
    ).assign_coords(time=[1.0, 2.0, 8.0])
    mean, covariance, marginals = departure_or_end(ds).values[1:]
    # Between the first two records, at half of the way to a gap of 0.1.
    assert mean == pytest.approx(1.5)
    assert covariance == pytest.approx(8)
    assert np.isnan(marginals)


@pytest.mark.parametrize("source", ["mnist", "cifar10"])
def test_images_of_which_there_are_no_files_are_asked_for_by_name(source):
    small = {"rows": 20, "rows_test": 5, "m": 4}
    with pytest.raises(BadInput, match="`data_dir` is required"):
        inspect.unwrap(make)(jax.random.key(0), source=source, **small)
