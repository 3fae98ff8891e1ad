"""Exponents of thresholds, times of alignment, kinks: planted answers are found."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.analysis.power_law import power_law
from simbias.core import Dataset
from simbias.experiments._noisy_teacher import noisy_teacher
from simbias.experiments.alignment._kink_histories import kinks_of, sample
from simbias.losses import half_mse
from simbias.networks.two_layer_init import balanced
from simbias.theory.alignment_law import aligned_share, alignment_time
from simbias.theory.early_limit import early_limit
from simbias.theory.early_phase import early_phase

KEY = jax.random.key(0)
SIZES = np.geomspace(10, 1000, 9)


def planted(rng, exponent, seeds=15):
    """Errors that rise to 1 at n* = 30 q^exponent, with noise in n* per seed."""
    q = np.array([1.0, 2.0, 4.0])
    log_n_star = np.log(30) + exponent * np.log(q) + rng.normal(0, 0.3, (seeds, 1))
    values = np.log(SIZES)[None, :, None] - log_n_star.T[:, None, :] + 1
    return xr.DataArray(values, {"q": q, "n": SIZES}, ("q", "n", "seed"))


# Exponents


def test_a_power_law_without_noise_is_found_exactly():
    values = planted(np.random.default_rng(0), 0.7).isel(seed=[0] * 6)
    found = power_law(values, 1.0, along="q", resamples=20)
    assert found.value == pytest.approx(0.7, rel=1e-9)
    assert found.low == pytest.approx(found.high, rel=1e-9)


def test_an_exponent_of_five_seeds_has_no_interval():
    values = planted(np.random.default_rng(0), 0.7, seeds=5)
    found = power_law(values, 1.0, along="q", resamples=20)
    assert found.value == pytest.approx(0.7, rel=1e-9)
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_samples_that_are_shared_along_the_axis_do_not_blur_the_exponent():
    # n* varies by 30 % from seed to seed, in the same way for every q.
    found = power_law(planted(np.random.default_rng(1), 1.2), 1.0, along="q")
    assert found.value == pytest.approx(1.2, abs=1e-9)
    assert found.high - found.low < 1e-9


def test_the_interval_of_an_exponent_holds_it_as_often_as_promised():
    rng, inside = np.random.default_rng(2), 0
    for _ in range(60):
        values = planted(rng, 0.5)
        values = values + rng.normal(0, 0.3, (3, 1, 15))
        found = power_law(values, 1.0, along="q", resamples=200)
        inside += found.low <= 0.5 <= found.high
    # 95 % of 60 is 57; a percentile bootstrap of medians may miss a few more.
    assert inside >= 51


def test_an_exponent_whose_thresholds_leave_the_grid_is_not_known():
    values = planted(np.random.default_rng(3), 4.0)
    found = power_law(values, 1.0, along="q", resamples=20)
    assert np.isnan(found.value)
    assert (found.low, found.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("along", ["d", "seed_of_nothing"])
def test_an_axis_that_is_not_there_is_refused(along):
    with pytest.raises(ValueError, match="`along` must be an axis"):
        power_law(planted(np.random.default_rng(0), 1.0), 1.0, along=along)


# Times


def test_the_first_passage_is_linear_between_records_and_nan_if_never():
    rows = [[0.0, 1.0, 0.0, 5.0], [2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0]]
    rows += [[-np.inf, 3.0, 4.0, 5.0], [np.nan, 0.0, 2.0, 0.0]]
    history = xr.DataArray(rows, {"time": [0.0, 1.0, 3.0, 4.0]}, ("member", "time"))
    found = first_passage(history, 1.5)
    np.testing.assert_allclose(found, [3.3, 0.0, np.nan, 1.0, 2.5])


def test_times_that_do_not_increase_are_refused():
    history = xr.DataArray([0.0, 1.0], {"time": [1.0, 1.0]}, ("time",))
    with pytest.raises(ValueError, match="must increase"):
        first_passage(history, 0.5)


@pytest.mark.parametrize("cosine", [0.9, 0.99])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_time_of_alignment_is_that_of_the_early_phase_at_any_size(cosine, sign):
    drive = np.array([[0.3, -0.4]])
    angle = 2.0
    base = np.arctan2(*(sign * drive[0, ::-1]))
    for size in (1e-2, 1e-30):
        w = size * np.array([[np.cos(base + angle), np.sin(base + angle)]])
        time = float(alignment_time(np.array([angle]), cosine, 0.5)[0])
        later, _ = early_phase(
            jnp.asarray(w), jnp.array([sign * size]), jnp.asarray(drive), time
        )
        turned = np.asarray(later)[0] @ (sign * drive[0] / 0.5)
        assert turned / np.linalg.norm(later) == pytest.approx(cosine, rel=1e-9)


@pytest.mark.parametrize("d", [2, 3, 7])
def test_the_share_that_is_aligned_is_that_of_random_directions(d):
    rng, n = np.random.default_rng(d), 40_000
    u = rng.normal(size=(n, d))
    start = np.arccos(u[:, 0] / np.linalg.norm(u, axis=1))
    times = np.array([0.0, 1.0, 3.0, 8.0])
    seen = [np.mean(alignment_time(start, 0.9, 0.5) <= t) for t in times]
    # Four standard errors of a share.
    np.testing.assert_allclose(aligned_share(times, 0.9, 0.5, d), seen, atol=0.01)


def test_neurons_that_leave_the_sample_die_and_dead_ones_stay():
    data = sample()
    net = balanced(KEY, m=60, d=2, scale=1.0)
    a = net.a[:, 0]
    found = early_limit(data, half_mse, net.w, a)
    # No target is negative: neurons with a < 0 lose every sample.
    np.testing.assert_array_equal(found.rate <= 0, (a < 0) | ~_sees(data, net.w))
    heights = np.asarray(data.x) @ found.direction.T
    assert heights[:, found.rate <= 0].max() < 1e-12
    dead = ~_sees(data, net.w)
    unit = np.asarray(net.w) / np.linalg.norm(net.w, axis=1, keepdims=True)
    np.testing.assert_allclose(found.direction[dead], unit[dead], atol=1e-12)


def test_a_neuron_dies_when_it_has_turned_to_the_edge_of_its_only_point():
    point = jnp.array([[0.0, 2.0]])
    data = Dataset(point, jnp.array([[3.0]]), jnp.ones(1), jnp.array([[3.0]]), point)
    # Angles with D, from which neurons with a < 0 turn to −D; at π/2 the point is lost.
    angle = np.array([0.3, -1.0, 1e-6])
    w = jnp.asarray(np.stack([np.sin(angle), np.cos(angle)], axis=1))
    found = early_limit(data, half_mse, w, -jnp.ones(3))
    np.testing.assert_array_equal(found.rate, 0)
    expected = alignment_time(np.pi - np.abs(angle), 0.0, 6.0)
    np.testing.assert_allclose(found.time, expected, rtol=1e-9)


def _sees(data, w):
    return (np.asarray(data.x) @ np.asarray(w).T > 0).any(axis=0)


# Kinks and samples


def test_kinks_are_where_the_slope_changes_and_copies_count_once():
    weights = np.array(
        [
            [1.0, -0.5, 2.0],  # at 0.5, slope changes by 2
            [2.0, -1.0, 1.0],  # the same place, by 2
            [-1.0, -0.2, -3.0],  # at −0.2, by −3
            [1.0, 2.0, 5.0],  # at −2, outside
            [1.0, -0.8, 1e-3],  # too weak
            [np.nan, np.nan, np.nan],  # padding
        ]
    )
    expected = [[-0.2, -3.0], [0.5, 4.0]]
    np.testing.assert_allclose(kinks_of(weights), expected)


def test_a_key_has_the_same_sample_for_every_network_and_every_size():
    small, _ = noisy_teacher(KEY, n=10, m=5, n_test=7)
    large, net = noisy_teacher(KEY, n=20, m=9, scale=1e-6, n_test=7)
    np.testing.assert_array_equal(small.x[:10], large.x[:10])
    assert small.test is not None
    assert large.test is not None
    np.testing.assert_array_equal(small.test.y, large.test.y)
    _, again = noisy_teacher(KEY, n=8, m=4, scale=1e-6, n_test=7)
    # A wider network has more neurons and the same first ones, up to 1/√m.
    np.testing.assert_allclose(again.w * 2, net.w[:4] * 3, rtol=1e-12)
