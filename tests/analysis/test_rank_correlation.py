"""Spearman's correlation, against scipy's."""

import numpy as np
import pytest
import scipy
import xarray as xr

from simbias.analysis.rank_correlation import rank_correlation


def test_it_is_that_of_scipy_with_ties_too():
    table = np.random.default_rng(0).integers(0, 5, (4, 9)).astype(float)
    seen = rank_correlation(xr.DataArray(table, dims=("seed", "k")), "k")
    assert seen.dims == ("seed",)
    law = [scipy.stats.spearmanr(row, np.arange(9)).statistic for row in table]
    np.testing.assert_allclose(seen, law, atol=1e-12)


def test_what_is_not_known_is_nan():
    table = np.array([[1.0, 2, 3, 4], [1, np.nan, 3, 4], [2, 2, 2, 2], [4, 3, 2, 1]])
    seen = rank_correlation(xr.DataArray(table, dims=("seed", "k")), "k")
    np.testing.assert_allclose(seen, [1, np.nan, np.nan, -1])


@pytest.mark.parametrize(("shape", "dim"), [((4, 2), "k"), ((4, 9), "j")])
def test_an_axis_that_is_short_or_not_there_is_named(shape, dim):
    with pytest.raises(ValueError, match=f"{dim}"):
        rank_correlation(xr.DataArray(np.zeros(shape), dims=("seed", "k")), dim)
