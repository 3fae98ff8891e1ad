"""Large learning rates and initialisation scales: recursions and minimisers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize

from simbias.core import Buffer
from simbias.ensemble.padding import padded
from simbias.experiments.linear import catapult, diagonal_linear
from simbias.experiments.linear.catapult import Product
from simbias.experiments.linear.diagonal_linear import (
    DOUBLE,
    ERROR,
    EXCESS,
    FAR,
    KKT,
    Diagonal,
    minimiser,
)
from simbias.flows import Descent
from simbias.flows.gradient_flow import STIFF, GradientFlow
from simbias.losses import half_mse
from simbias.measures import KernelEigenvalues, TrainRisk
from simbias.verbs.simulate import solve

KEY = jax.random.key(0)


# Catapult


def recursion(f, kernel, rate, m, steps):
    """f and λ of every step, as the paper has them."""
    out = [(f, kernel)]
    for _ in range(steps):
        share = rate**2 * f**2 / m
        f, kernel = (
            f * (1 - rate * kernel + share),
            kernel + rate * f**2 / m * (rate * kernel - 4),
        )
        out.append((f, kernel))
    return np.array(out).T


def outputs(network: Product):
    return float(network(jnp.ones(1))[0])


def test_the_kernel_of_the_initial_network_is_one():
    data, network = catapult.make(KEY, m=50)
    found = KernelEigenvalues(1)(network, data)
    np.testing.assert_allclose(found, [jnp.sum(network.rows**2) / 50], rtol=1e-14)
    np.testing.assert_allclose(found, [1.0], rtol=1e-14)


@pytest.mark.parametrize("rate", [0.5, 1.5, 2.5, 3.0])
def test_descent_follows_the_recursion_up_to_rounding(rate):
    data, network = catapult.make(KEY, m=1000)
    times = tuple(float(t) for t in range(61))
    measures = {"square": TrainRisk(), "kernel": KernelEigenvalues(1)}
    flow = Descent(rate=rate, counts_steps=True)
    seen = solve(network, data, flow, half_mse, times, measures).records
    f, kernel = recursion(outputs(network), 1.0, rate, 1000, 60)
    np.testing.assert_allclose(seen["kernel"][:, 0], kernel, rtol=1e-12)
    # f is a sum of m terms that are much larger than itself in the end.
    error = np.abs(np.sqrt(seen["square"]) - np.abs(f))
    assert np.all(error < 1e-12 * np.abs(f).max())


def test_below_four_the_recursion_converges_and_above_it_diverges():
    rng = np.random.default_rng(0)
    for rate in rng.uniform(2.05, 3.95, 100):
        f, kernel = recursion(rng.normal(), 1.0, rate, 100, 5000)
        assert np.all(np.diff(kernel) <= 0)
        assert rate * kernel[-1] < 2
        assert abs(f[-1]) < 1e-2 * np.abs(f).max()
    with np.errstate(over="ignore", invalid="ignore"):
        for rate in rng.uniform(4.05, 6, 100):
            f, _ = recursion(rng.normal(), 1.0, rate, 100, 300)
            assert not np.isfinite(f[-1])


@pytest.mark.parametrize("rate", [0.3, 1.0, 1.7])
def test_the_lazy_drift_is_a_geometric_series(rate):
    m, f = 1e8, 0.7
    _, kernel = recursion(f, 1.0, rate, m, 500)
    law = (4 - rate) / (2 - rate) * f**2 / m
    np.testing.assert_allclose(1 - kernel[-1], law, rtol=1e-6)


# Diagonal linear networks


def potential(beta, alpha):
    """Q_α, as the paper has it."""
    z = beta / alpha**2
    q = 2 - jnp.sqrt(4 + z**2) + z * jnp.arcsinh(z / 2)
    return alpha**2 * jnp.sum(q)


def network_of(beta, alpha) -> Diagonal:
    """The network of a β on the path of the flow, where u∘v = α²."""
    z = np.arcsinh(beta / (2 * alpha**2)) / 2
    u, v = jnp.asarray(alpha * np.exp(z)), jnp.asarray(alpha * np.exp(-z))
    return Diagonal(u, v, Buffer(jnp.asarray(alpha)))


def exact(x, y, alpha):
    """The minimiser of Q_α with Xβ = y: 2α² sinh(Xᵀν), and ν by Newton's method."""
    least = np.linalg.pinv(x) @ y
    z = np.arcsinh(least / (2 * alpha**2))
    start = np.linalg.lstsq(x.T, z)[0]
    gap = lambda nu: x @ (2 * alpha**2 * np.sinh(x.T @ nu)) - y
    slope = lambda nu: (x * (2 * alpha**2 * np.cosh(x.T @ nu))) @ x.T
    nu = optimize.root(gap, start, jac=slope, tol=1e-14).x
    assert np.abs(gap(nu)).max() < 1e-9
    return 2 * alpha**2 * np.sinh(x.T @ nu)


def sample(n=5, d=12, **changes):
    data, network = diagonal_linear.make(KEY, n=n, d=d, **changes)
    return data, network, np.asarray(data.x), np.asarray(data.y)[:, 0]


@pytest.mark.parametrize("alpha", [0.05, 0.5, 2.0])
def test_the_gradient_of_the_potential_is_the_one_of_the_kkt_condition(alpha):
    beta = np.random.default_rng(0).normal(size=7)
    found = jax.grad(potential)(jnp.asarray(beta), alpha)
    np.testing.assert_allclose(found, np.arcsinh(beta / (2 * alpha**2)), rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 2.0])
def test_the_residual_is_zero_at_the_minimiser_of_the_potential_alone(alpha):
    data, _, x, y = sample()
    beta = exact(x, y, alpha)
    seen = minimiser(network_of(beta, alpha), data)
    assert seen[KKT] < 1e-9
    assert seen[DOUBLE] > 1e-5
    # All other interpolators have a larger potential, and a residual.
    outside = np.linalg.svd(x)[2][len(x) :]
    for step in np.random.default_rng(1).normal(size=(20, len(outside))):
        other = beta + 0.1 * step @ outside
        assert potential(other, alpha) > potential(beta, alpha)
        assert minimiser(network_of(other, alpha), data)[KKT] > 1e-4


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1.0])
def test_the_flow_ends_at_the_minimiser(alpha):
    data, network, x, y = sample(alpha=alpha)
    flow = GradientFlow(STIFF, rtol=1e-9)
    end = solve(network, data, flow, half_mse, (1e4,), {}).network
    beta = np.asarray(end.u**2 - end.v**2)
    np.testing.assert_allclose(beta, exact(x, y, alpha), atol=1e-6)


def test_the_bound_is_below_the_least_norm_and_near_it_for_small_scales():
    data, _, x, y = sample()
    both = np.hstack([x, -x])
    least = optimize.linprog(np.ones(24), A_eq=both, b_eq=y, bounds=(0, None)).fun
    for alpha in (1.0, 0.1, 1e-2, 1e-3):
        beta = exact(x, y, alpha)
        excess = np.abs(beta).sum() / least - 1
        bound = float(minimiser(network_of(beta, alpha), data)[EXCESS])
        assert -1e-9 < excess <= bound
    assert bound < 0.05


def test_from_a_large_scale_the_distance_falls_like_its_fourth_power():
    data, _, x, y = sample()
    least = np.linalg.pinv(x) @ y
    outside = np.eye(12) - np.linalg.pinv(x) @ x
    alpha = 4.0
    law = np.linalg.norm(outside @ least**3) / (24 * alpha**4)
    seen = minimiser(network_of(exact(x, y, alpha), alpha), data)
    np.testing.assert_allclose(seen[FAR], law / np.linalg.norm(least), rtol=0.01)
    teacher = np.asarray(data.features[0])
    error = np.sum((least - teacher) ** 2) / np.sum(teacher**2)
    np.testing.assert_allclose(seen[ERROR], error, rtol=1e-3)


def test_padding_does_not_change_the_numbers():
    data, _, x, y = sample()
    network = network_of(exact(x, y, 0.3), 0.3)
    np.testing.assert_allclose(
        minimiser(network, padded(data, 9)), minimiser(network, data), atol=1e-12
    )
