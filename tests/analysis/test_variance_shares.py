"""Shares of the variance: closed forms, missing cells, coverage."""

import itertools

import numpy as np
import pytest
import xarray as xr

from simbias.analysis.variance_shares import HIGHER, SEED, variance_shares

SIZES = {"a": 4, "b": 3, "c": 2}
CELLS = [*itertools.product(*map(range, SIZES.values()))]
LEVELS = {k: [str(cell[i]) for cell in CELLS] for i, k in enumerate(SIZES)}


def _of(means, *, seeds=10, noise=0.0, shared=0.0, rng=None):
    rng = rng or np.random.default_rng(0)
    y = np.asarray(means, float)[:, None] + noise * rng.normal(size=(len(means), seeds))
    y = y + shared * rng.normal(size=(1, seeds))
    return xr.DataArray(y, dims=("cell", "seed"))


def _share(found, name):
    return float(found["share"].sel(source=name))


def test_a_full_design_without_noise_has_the_shares_of_sobol():
    # Var a = 5/4, var b = 2/3 · 4, and (−1)^c b has variance 2/3 of its own.
    means = [a + 2 * b + (-1) ** c * (b - 1) for a, b, c in CELLS]
    found = variance_shares(_of(means), LEVELS)
    parts = {"a": 5 / 4, "b": 8 / 3, "b × c": 2 / 3}
    for name in found["source"].values:
        expected = parts.get(str(name), 0.0) / sum(parts.values())
        assert _share(found, name) == pytest.approx(expected, abs=1e-12), name
    assert float(found["share"].sum()) == pytest.approx(1)


def test_a_product_of_three_factors_is_of_higher_order():
    means = [(-1) ** c * (a - 1.5) * (b - 1) for a, b, c in CELLS]
    found = variance_shares(_of(means), LEVELS)
    assert _share(found, HIGHER) == pytest.approx(1)


def test_noise_alone_belongs_to_the_seed():
    found = variance_shares(_of([0.0] * 24, noise=1.0, shared=0.5), LEVELS)
    assert _share(found, SEED) == pytest.approx(1, abs=0.15)
    assert float(found["share"].sum()) == pytest.approx(1)


def test_cells_that_few_seeds_fill_are_left_out():
    means = [3.0 * c for _, _, c in CELLS]
    y = _of(means)
    y[3, :6] = np.nan
    y[7] = np.nan
    y[8, 2] = np.nan
    found = variance_shares(y, LEVELS)
    assert (int(found["cells"]), int(found["missing"])) == (22, 2)
    # The factors overlap a little where cells are missing.
    assert _share(found, "c") == pytest.approx(1, abs=0.02)
    assert _share(found, "a × b") == pytest.approx(0, abs=1e-12)
    assert _share(found, HIGHER) == pytest.approx(0, abs=1e-12)
    assert float(found["share"].sum()) == pytest.approx(1)


def test_effects_that_cannot_be_told_apart_share_what_both_explain():
    # Only cells with a = b: each of them explains all, and each gets half.
    y = _of([float(a) if a == b else np.nan for a, b, _ in CELLS])
    found = variance_shares(y, {k: LEVELS[k] for k in "ab"})
    assert _share(found, "a") == pytest.approx(0.5)
    assert _share(found, "b") == pytest.approx(0.5)


@pytest.mark.parametrize("seeds", [1, 3])
def test_few_seeds_or_cells_have_no_shares(seeds):
    found = variance_shares(_of([0.0] * 24, seeds=seeds, noise=1.0), LEVELS)
    assert np.isnan(found["share"].values).all()
    y = _of([0.0] * 24, noise=1.0)
    y[5:] = np.nan
    assert np.isnan(variance_shares(y, LEVELS)["share"].values).all()


def test_a_factor_without_a_level_for_each_cell_is_refused():
    with pytest.raises(ValueError, match="'a' for each of 24 cells, got 2"):
        variance_shares(_of([0.0] * 24), {"a": ["0", "1"]})


@pytest.mark.slow
def test_intervals_hold_the_shares_of_the_law():
    rng = np.random.default_rng(1)
    means = np.array([a / 2 + b * c for a, b, c in CELLS])
    truth = variance_shares(_of(means), LEVELS)["share"]
    # Without noise the seed has no share; with it, one of variance 1 + ¼.
    whole = means.var() + 1.25
    truth = truth * means.var() / whole
    truth.loc[{"source": SEED}] = 1.25 / whole
    hits, trials = 0.0, 200
    for _ in range(trials):
        y = _of(means, noise=1.0, shared=0.5, rng=rng)
        found = variance_shares(y, LEVELS)
        hits = hits + ((found["low"] <= truth) & (truth <= found["high"])).values
    # 0.95 less three errors of 200 trials; sources with a share are skewed.
    assert (np.array(hits) / trials > 0.90).all(), np.array(hits) / trials
