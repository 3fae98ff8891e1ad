"""Linear regression: where descent ends, and what random samples look like."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from hasty import compiling_hastily

import simbias
from simbias.core import Dataset, Status
from simbias.experiments.linear import min_norm
from simbias.experiments.linear._errors import distance, leak
from simbias.experiments.linear._row_space import (
    Eigenvalues,
    LeastNorm,
    Outside,
    RidgeDistance,
    RowError,
)
from simbias.experiments.linear._ways import LARGEST, RATES, Ways
from simbias.losses import half_mse
from simbias.verbs.simulate import solve

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)


def small(n=5, d=9, **changes):
    return min_norm.make(KEY, n=n, d=d, **changes)


# Facts of the lecture


def test_the_gradient_of_a_square_is_the_lectures_formula():
    x, w, y = RNG.normal(size=7), RNG.normal(size=7), 0.3
    found = jax.grad(lambda w: (x @ w - y) ** 2)(jnp.asarray(w))
    np.testing.assert_allclose(found, 2 * x * (x @ w) - 2 * y * x, rtol=1e-13)
    # And of the whole sample; half of the mean is what is descended.
    data, _ = small()
    loss = lambda w: half_mse((data.x @ w)[:, None], data.y, data.weight)
    w = jnp.asarray(RNG.normal(size=9))
    expected = data.x.T @ (data.x @ w - data.y[:, 0]) / 5
    np.testing.assert_allclose(jax.grad(loss)(w), expected, rtol=1e-12)


def sag(f, strength=0.0):
    """Least of t f(u) + (1 − t) f(v) − f(tu + (1 − t)v) − strength t(1 − t)|u − v|²."""
    u, v = RNG.normal(size=(2, 2000, 4))
    t = RNG.uniform(size=2000)
    between = t[:, None] * u + (1 - t[:, None]) * v
    square = np.sum((u - v) ** 2, axis=1)
    chord = t * f(u) + (1 - t) * f(v)
    return np.min(chord - f(between) - strength * t * (1 - t) * square)


def test_the_four_facts_of_convexity():
    power = lambda w: np.sum(w**4, axis=-1)
    matrix, shift = RNG.normal(size=(4, 4)), RNG.normal(size=4)
    square = lambda w: np.sum(w**2, axis=-1)
    # x² is convex; a convex function of a linear one; sums with weights ≥ 0.
    assert sag(square) >= -1e-12
    assert sag(lambda w: power(w @ matrix)) >= -1e-9
    assert sag(lambda w: 0.3 * power(w) + 2 * np.abs(w @ shift)) >= -1e-9
    # With λ|x|² it is strongly convex, by λ; without it a plane is not.
    plane = lambda w: w @ shift
    assert sag(lambda w: plane(w) + 0.7 * square(w), strength=0.7) >= -1e-12
    assert sag(plane, strength=0.7) < -0.1
    # What is not convex is seen: a weight below 0.
    assert sag(lambda w: power(w) - 5 * square(w)) < -0.1


# Measures


def test_measures_of_the_span_agree_with_the_pseudo_inverse():
    data, network = small(start=1.0)
    x, y, w = np.asarray(data.x), np.asarray(data.y)[:, 0], np.asarray(network.product)
    inverse, w = np.linalg.pinv(x), w[0]
    outside = w - inverse @ x @ w
    values = np.linalg.eigvalsh(x @ x.T / 5)[::-1]
    np.testing.assert_allclose(Outside()(network, data), outside, atol=1e-13)
    np.testing.assert_allclose(Eigenvalues()(network, data), values, rtol=1e-12)
    np.testing.assert_allclose(values[0], LARGEST, rtol=1e-13)
    found = float(LeastNorm()(network, data))
    np.testing.assert_allclose(found, np.linalg.norm(inverse @ y), rtol=1e-12)
    error = np.linalg.norm(w - outside - inverse @ y)
    found = jnp.linalg.norm(RowError()(network, data))
    np.testing.assert_allclose(found, error, rtol=1e-12)
    ridge = np.linalg.solve(x.T @ x / 5 + 0.3 * np.eye(9), x.T @ y / 5)
    found = RidgeDistance((0.3,))(network, data)
    np.testing.assert_allclose(found, [np.linalg.norm(w - ridge)], rtol=1e-12)


def test_padding_moves_no_measure_of_the_span():
    data, network = small(start=1.0)
    grown = lambda v: jnp.pad(v, ((0, 3), (0, 0)), constant_values=2.0)
    weight = jnp.pad(data.weight, (0, 3))
    padded = Dataset(
        grown(data.x), grown(data.y), weight, grown(data.mean), data.features
    )
    for measure in (Outside(), LeastNorm(), RidgeDistance((0.1, 1.0))):
        np.testing.assert_allclose(
            measure(network, padded), measure(network, data), rtol=1e-12
        )
    norm = lambda data: jnp.linalg.norm(RowError()(network, data))
    np.testing.assert_allclose(norm(padded), norm(data), rtol=1e-12)


# Where descent ends


@pytest.mark.parametrize("start", [0.0, 1.0])
@pytest.mark.parametrize("way", ["flow", "gd_1.9", "sgd"])
def test_descent_ends_at_the_interpolator_next_to_its_start(way, start):
    data, network = small(n=4, d=40, start=start)
    run = solve(
        network, data, Ways(way), half_mse, (4.0,), {"w": lambda f, _: f.product[0]}
    )
    assert run.status is Status.REACHED_TIME
    inverse, w0 = np.linalg.pinv(data.x), np.asarray(network.product)[0]
    nearest = w0 + inverse @ (np.asarray(data.y)[:, 0] - data.x @ w0)
    np.testing.assert_allclose(run.records["w"][0], nearest, atol=1e-6)


def test_sign_descent_moves_every_weight_by_its_rate():
    data, network = small()
    weights = {"w": lambda f, _: f.product[0]}
    run = solve(network, data, Ways("sign"), half_mse, (0.01,), weights)
    gradient = data.x.T @ -data.y[:, 0]
    expected = -0.01 * np.sign(gradient)
    np.testing.assert_allclose(run.records["w"][0], expected, rtol=1e-12)


@pytest.fixture(scope="module")
def result():
    cell = {"n": 8, "d": 40, "exponent": 0.0, "flow.way": ("gd_2.1", "adam")}
    experiment = min_norm.experiment("smoke")
    cell = {**cell, "start": (0.0, 1.0)}
    with compiling_hastily():
        return simbias.simulate(dataclasses.replace(experiment, cell=cell))


def test_controls_leave_and_claims_without_members_do_not_apply(result):
    end = result.isel(time=[0, -1])
    assert float(leak(end).sel({"flow.way": "adam"}).isel(time=-1).min()) > 0.05
    grown = distance(end).sel({"flow.way": "gd_2.1"})
    assert float((grown.isel(time=-1) / grown.isel(time=0)).min()) > 1e10
    verdicts = [c.verdict for c in simbias.judge(min_norm, result)]
    # Nobody here converges, and there is no end of gradient descent.
    assert verdicts[:8] == ["not applicable"] * 8
    assert verdicts[8:11] == ["holds"] * 3
    assert verdicts[11] == "not applicable"


def test_a_member_that_failed_leaves_its_claims_undecided(result):
    is_first = xr.DataArray(np.arange(2) == 0, dims="seed")
    lost = result.where(~is_first)
    verdicts = {c.verdict for c in simbias.judge(min_norm, lost)}
    assert verdicts == {"undecided", "not applicable"}


def test_rates_are_those_of_the_lecture():
    assert RATES["gd"] * LARGEST == pytest.approx(1)
    assert RATES["gd_1.9"] * LARGEST == pytest.approx(1.9)
    assert RATES["gd_2.1"] * LARGEST == pytest.approx(2.1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n": 10, "d": 9}, "`n` must be at most d, got n=10 and d=9: X has rank 9"),
        ({"exponent": 40.0}, "`exponent` must leave X of rank n, got 40.0"),
        ({"exponent": -1.0}, "`exponent` must be finite and not negative"),
        ({"sigma": -1.0}, "`sigma` must be finite and not negative"),
        ({"start": float("nan")}, "`start` must be finite and not negative"),
        ({"n": 0}, "`n` must be a positive integer"),
        ({"n": 1, "d": 0}, "`d` must be a positive integer"),
    ],
)
def test_a_sample_that_nothing_interpolates_is_refused(changes, words):
    with pytest.raises(simbias.BadInput, match=words.replace("*", r"\*")):
        small(**changes)


def test_a_way_that_there_is_not_is_refused_by_name():
    experiment = min_norm.experiment("smoke", **{"flow.way": "gd_3"})
    with pytest.raises(simbias.BadInput, match=r"`cell.flow.way` must be one of"):
        simbias.simulate(experiment)
