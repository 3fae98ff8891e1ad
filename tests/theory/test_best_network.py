"""The best network of any width: closed forms, its condition, and bounds of others."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
import scipy

import simbias
from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.theory._patterns import patterns
from simbias.theory.best_network import best_network
from simbias.theory.least_norm_network import least_norm_network
from simbias.theory.minimum_norm import minimum_norm


def sample(x, y):
    with simbias.exact_numerics():
        x = jnp.asarray(np.asarray(x, float))
        return Dataset(x, jnp.asarray(np.asarray(y, float)[:, None]))


def random(seed=0, n=7, d=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def output(net, x):
    return np.maximum(x @ net.w.T, 0) @ net.a


def objective(w, a, x, y, decay):
    f = np.maximum(x @ w.T, 0) @ a
    return np.mean((f - y) ** 2) / 2 + decay / 2 * (np.sum(w**2) + np.sum(a**2))


@pytest.mark.parametrize("decay", [0.5, 1.0, 3.0])
def test_one_sample_is_soft_thresholding(decay):
    """½(2v − y)² + μ|v| is least at v = (|y| − μ/2)₊/2, with the sign of y."""
    found = best_network(sample([[2.0]], [-1.0]), decay)
    v = max(1 - decay / 2, 0) / 2
    assert output(found, np.array([[2.0]]))[0] == pytest.approx(-2 * v)
    value = (2 * v - 1) ** 2 / 2 + decay * v
    assert (found.bound, found.value) == pytest.approx((value, value), rel=1e-12)


@pytest.mark.parametrize("decay", [0.01, 0.3])
def test_orthogonal_samples_are_two_groups_that_shrink(decay):
    """f = (1 − nμ/(|x||y±|))₊ y on the samples of each sign of y, |x| all equal."""
    x, y = 3 * np.eye(4), np.array([1.0, 0.5, -2.0, -0.1])
    expected = np.zeros(4)
    for sign in (1, -1):
        own = sign * y > 0
        size = np.linalg.norm(y[own])
        expected[own] = max(1 - 4 * decay / (3 * size), 0) * y[own]
    found = best_network(sample(x, y), decay)
    np.testing.assert_allclose(output(found, x), expected, atol=1e-7)
    assert found.value - found.bound <= 1e-9 * found.value


@pytest.mark.parametrize(("n", "d"), [(7, 2), (8, 3)])
@pytest.mark.parametrize("has_bias", [False, True])
def test_the_value_is_that_of_a_network_and_meets_the_bound(n, d, has_bias):
    x, y = random(n=n, d=d - has_bias)
    found = best_network(sample(x, y), 0.02, has_bias=has_bias)
    rows = np.concatenate([x, np.ones((n, 1))], axis=1) if has_bias else x
    value = objective(found.w, found.a, rows, y, 0.02)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert 0 <= found.value - found.bound + 1e-12 <= 1e-8 * value
    # The condition of the dual, in directions that were not searched.
    u = np.random.default_rng(1).standard_normal((20000, d))
    r = (output(found, rows) - y) / n
    pull = np.maximum(u @ rows.T, 0) @ r / np.linalg.norm(u, axis=1)
    assert np.abs(pull).max() <= 0.02 * (1 + 1e-6)


@pytest.mark.parametrize("m", [1, 3, 12])
def test_no_trained_network_is_below_the_bound(m):
    x, y = random(seed=3)
    found = best_network(sample(x, y), 0.05)
    rng, least = np.random.default_rng(m), np.inf
    split = lambda v: (v[: 2 * m].reshape(m, 2), v[2 * m :])
    cost = lambda v: objective(*split(v), x, y, 0.05)
    for _ in range(6):
        end = scipy.optimize.minimize(cost, rng.standard_normal(3 * m), method="BFGS")
        least = min(least, end.fun)
    assert least >= found.bound - 1e-12
    if m == 12:
        assert least <= found.value * 1.02  # a wide one comes near


def test_in_general_position_there_are_as_many_patterns_as_cells():
    """2 Σ_{k<d} C(n − 1, k), Cover's count; all 2ⁿ for orthogonal inputs."""
    for n, d in ((5, 2), (6, 3), (7, 4)):
        cells = 2 * sum(math.comb(n - 1, k) for k in range(d))
        assert len(patterns(random(n=n, d=d)[0])) == cells
    assert len(patterns(np.eye(5))) == 32
    # A duplicate, a mirror image and a zero add nothing.
    x = random(n=5, d=2)[0]
    more = np.concatenate([x, 2 * x[:1], -x[1:2], np.zeros((1, 2))])
    found = patterns(more)
    assert len(found) == 10
    assert np.all(found[:, 5] == found[:, 0])
    assert np.all(found[:, 6] != found[:, 1])
    assert not found[:, 7].any()


def test_the_interpolator_of_least_norm_is_the_closed_form_on_orthogonal_inputs():
    x, y = 2 * np.eye(3), np.array([1.0, 2.0, -0.5])
    found = least_norm_network(sample(x, y))
    with simbias.exact_numerics():
        expected = float(minimum_norm(sample(x, y)).half_squared_norm)
    assert found.value == pytest.approx(expected, rel=1e-7)
    assert found.bound == pytest.approx(expected, rel=1e-6)


def test_the_least_norm_is_the_limit_of_no_decay():
    data = sample(*random(n=5))
    found, decay = least_norm_network(data), 1e-7
    near = best_network(data, decay)
    np.testing.assert_allclose(output(found, data.x), data.y[:, 0], atol=1e-7)
    assert near.bound / decay <= found.value * (1 + 1e-6)
    assert near.value / decay == pytest.approx(found.value, rel=1e-3)


def test_what_has_no_answer_is_refused():
    with pytest.raises(BadInput, match="`weight_decay` must be positive"):
        best_network(sample(*random()), 0.0)
    with pytest.raises(BadInput, match="labels that some network fits"):
        least_norm_network(sample([[1.0, 0.0], [1.0, 0.0]], [1.0, 2.0]))
    with pytest.raises(BadInput, match="fewer activation patterns"):
        best_network(sample(*random(n=40, d=20)), 0.1)
