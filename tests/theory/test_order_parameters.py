"""Equations of overlaps: means over Gaussians, the population flow, SGD at d = 400."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf

from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.order_parameters import (
    _velocity,
    committee_loss,
    order_parameters,
)
from simbias.theory.population import population_loss

RNG = np.random.default_rng(0)
W, V = RNG.normal(size=(2, 5)), RNG.normal(size=(3, 5))
ROWS = np.concatenate([W, V])


@pytest.mark.slow
def test_velocities_are_means_over_gaussian_inputs():
    h = np.random.default_rng(1).normal(size=(2_000_000, 5)) @ ROWS.T
    phi, slope = erf(h / 2**0.5), (2 / np.pi) ** 0.5 * np.exp(-(h**2) / 2)
    error = phi[:, 2:].sum(1) - phi[:, :2].sum(1)
    rate = 0.7
    with exact_numerics():
        found = np.array(_velocity(jnp.array(ROWS @ ROWS.T), 2, rate))
    for i in range(2):
        for j in range(5):
            term = rate * slope[:, i] * h[:, j] * error
            if j < 2:
                term = term + rate * slope[:, j] * h[:, i] * error
                term = term + rate**2 * slope[:, i] * slope[:, j] * error**2
            assert abs(found[i, j] - term.mean()) < 4 * term.std() / len(h) ** 0.5
    np.testing.assert_array_equal(found[2:, 2:], 0)


def test_the_loss_is_that_of_the_population():
    with exact_numerics():
        one = lambda rows: (jnp.array(rows), jnp.ones((len(rows), 1)), "erf")
        expected = population_loss(one(W), one(V))
        found = committee_loss(jnp.array(ROWS @ ROWS.T), 2)
    assert float(found) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.slow
def test_at_a_small_rate_they_follow_the_population_flow_of_the_first_layer():
    rate, times = 1e-6, jnp.array([0.0, 0.5, 2.0])
    with exact_numerics():
        found = order_parameters(jnp.array(ROWS @ ROWS.T), 2, rate, times / rate)
        # Explicit midpoint rule for w' = −∇L with output weights 1.
        w, h = jnp.array(W), 1e-3
        one = lambda rows: (rows, jnp.ones((len(rows), 1)), "erf")
        pull = jax.jit(jax.grad(lambda w: population_loss(one(w), one(jnp.array(V)))))
        for _ in range(2000):
            w = w - h * pull(w - h / 2 * pull(w))
    rows = np.concatenate([w, V])
    np.testing.assert_allclose(found[-1], rows @ rows.T, atol=2e-5)


@pytest.mark.slow
def test_sgd_in_400_dimensions_follows_them():
    d, rate, steps = 400, 0.5, 4000
    rng = np.random.default_rng(2)
    w, v = rng.normal(size=(2, d)) / d**0.5, np.zeros((2, d))
    v[0, 0] = v[1, 1] = 1.0
    start = np.concatenate([w, v])
    for _ in range(steps):
        x = rng.normal(size=d)
        h = w @ x
        error = erf(v @ x / 2**0.5).sum() - erf(h / 2**0.5).sum()
        slope = (2 / np.pi) ** 0.5 * np.exp(-(h**2) / 2)
        w += rate / d * error * slope[:, None] * x
    with exact_numerics():
        times = jnp.array([0.0, steps / d])
        found = order_parameters(jnp.array(start @ start.T), 2, rate, times)[-1]
    rows = np.concatenate([w, v])
    assert np.max(np.abs(found - rows @ rows.T)) < 5 / d**0.5
    assert np.max(np.abs(found - start @ start.T)) > 0.3
