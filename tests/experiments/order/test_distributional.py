"""The law of the rectangle, the force on an erf neuron, and the order of its turns."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.datasets.moments.rectangular import rectangular
from simbias.errors import BadInput
from simbias.experiments.order import distributional
from simbias.networks.activations import erf
from simbias.theory.erf_neuron import erf_neuron_force, optimum, path

MEANS, DEVIATIONS = np.array([1.5, 2.0, 1.0]), np.array([1.0, 2.0, 1.0])
WEIGHTS = np.array([0.8, 0.3, -0.4])


@pytest.mark.parametrize("within", ["rectangle", "gaussian"])
def test_the_law_has_the_moments_it_says(within):
    data = rectangular(jax.random.key(0), n=40_000, within=within)
    noise = np.asarray(data.x * data.y)
    mean = np.array([*MEANS, 0, 0, 0])
    deviation = np.array([*DEVIATIONS, 1, 1, 1])
    # Five standard errors.
    np.testing.assert_allclose(noise.mean(axis=0), mean, atol=5 * 2 / 200)
    unit = (noise - mean) / deviation
    np.testing.assert_allclose(unit.T @ unit / 40_000, np.eye(6), atol=5 / 100)
    excess = np.mean(unit**4, axis=0) - 3
    expected = [-1.2, -1.2, 0, 0, 0, 0] if within == "rectangle" else [0] * 6
    np.testing.assert_allclose(excess, expected, atol=5 * 96**0.5 / 200)
    assert abs(float(data.y.mean())) < 5 / 200


def test_features_are_the_best_directions_of_round_and_of_gaussian_classes():
    first, second = rectangular(jax.random.key(0)).features
    best = np.array([1.5, 0.5, 1.0, 0, 0, 0])
    np.testing.assert_allclose(first[:3], MEANS / np.linalg.norm(MEANS), rtol=1e-14)
    np.testing.assert_allclose(second, best / np.linalg.norm(best), rtol=1e-14)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"within": "disc"}, "`within`"),
        ({"d": 2}, "`d` must be 3"),
        ({"d": 1, "means": (1.0,), "deviations": ()}, "`d` must be 2"),
        ({"means": (0.0, 0.0)}, "`means`"),
        ({"deviations": (1.0, 0.0)}, "`deviations`"),
        ({"deviations": (1.0, -2.0)}, "`deviations`"),
    ],
)
def test_a_law_that_is_none_is_refused_by_name(options, name):
    with pytest.raises(BadInput, match=name):
        inspect.unwrap(rectangular)(jax.random.key(0), **options)


@pytest.mark.parametrize("sides", [0, 1, 2])
def test_the_force_is_the_mean_of_the_gradient_on_many_rows(sides):
    rng = np.random.default_rng(sides)
    rows = 400_000
    noise = rng.normal(size=(rows, 3))
    noise[:, :sides] = rng.uniform(-(3**0.5), 3**0.5, (rows, sides))
    x = MEANS + DEVIATIONS * noise
    h = x @ WEIGHTS
    f, slope = np.asarray(erf(jnp.asarray(h))), np.sqrt(2 / np.pi) * np.exp(-(h**2) / 2)
    each = ((1 - f) * slope)[:, None] * x
    error = 5 * each.std(axis=0) / rows**0.5
    found = erf_neuron_force(WEIGHTS, MEANS, DEVIATIONS, sides=sides)
    assert np.all(np.abs(found - each.mean(axis=0)) < error)


def test_at_the_origin_only_the_means_act():
    found = erf_neuron_force(np.zeros(3), MEANS, DEVIATIONS)
    np.testing.assert_allclose(found, np.sqrt(2 / np.pi) * MEANS, rtol=1e-13)


def test_gaussian_classes_leave_the_neuron_where_its_direction_is_the_second():
    direction = MEANS / DEVIATIONS**2
    found = erf_neuron_force(0.7 * direction, MEANS, DEVIATIONS, sides=0)
    # Both terms of Stein are along the mean.
    np.testing.assert_allclose(found / found[0], MEANS / MEANS[0], rtol=1e-12)


def test_gaussian_classes_never_show_the_third_direction():
    w = path((0.0, 1.0, 10.0, 100.0), tuple(MEANS), tuple(DEVIATIONS), 0)[1:]
    np.testing.assert_allclose(w[:, 0] / w[:, 2], 1.5, rtol=1e-5)


def test_the_optimum_is_where_nothing_pulls_and_leans_on_the_bounded_input():
    third = optimum(tuple(MEANS), tuple(DEVIATIONS))
    size = np.linspace(1, 6, 501)
    pull = [erf_neuron_force(s * third, MEANS, DEVIATIONS) for s in size]
    assert np.linalg.norm(pull, axis=1).min() < 1e-4
    assert third[0] / third[2] > 2 > MEANS[0] / MEANS[2]


def test_the_force_with_three_sides_is_refused():
    with pytest.raises(BadInput, match="`sides`"):
        erf_neuron_force(WEIGHTS, MEANS, DEVIATIONS, sides=3)


@pytest.fixture(scope="module")
def small():
    return simbias.simulate(distributional.experiment("smoke"))


def test_a_small_run_turns_from_the_mean_to_the_covariance(small):
    found = distributional.peaks(small)["time"].sel(within="rectangle")
    early, late = (found.sel(predictor=k) for k in ("mean", "covariance"))
    assert (late > 5 * early).all()
    exact = distributional.exact_overlaps(small.sel(within="rectangle")).isel(time=-1)
    seen = small["overlaps"].sel(within="rectangle").isel(time=-1)
    assert abs(seen - exact).max() < 0.05


def test_a_peak_is_the_largest_record_after_the_start():
    time = [0.0, 1.0, 2.0, 3.0]
    values = [[9.0, 0.1, 0.7, 0.3], [9.0, 0.1, np.nan, 0.3]]
    ds = xr.Dataset({"overlaps": (("seed", "time"), values)}, {"time": time})
    found = distributional.peaks(ds)
    np.testing.assert_array_equal(found["time"], [2.0, np.nan])
    np.testing.assert_array_equal(found["overlap"], [0.7, np.nan])


def test_a_start_of_negative_size_is_refused():
    with pytest.raises(BadInput, match="`scale`"):
        inspect.unwrap(distributional.make)(jax.random.key(0), scale=-1.0)
