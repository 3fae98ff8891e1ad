"""Means over Gaussian inputs against quadrature and samples; gradients."""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from simbias.losses import half_mse
from simbias.networks import PopulationStudent, TwoLayer
from simbias.networks.activations import LeakyRelu, erf, identity, quadratic
from simbias.theory.population import (
    gaussian_products,
    population_distance,
    population_loss,
)

PHIS = (0.0, 0.3, 1.0, "erf", "quadratic")


def phi(kind, h):
    if kind == "erf":
        return scipy.special.erf(h / 2**0.5)
    return h**2 if kind == "quadratic" else np.where(h > 0, h, kind * h)


@pytest.mark.parametrize("kinds", [*itertools.product(PHIS, PHIS)], ids=str)
def test_products_agree_with_quadrature_in_polar_coordinates(kinds):
    """In the plane of u and v, by Gauss's rules along the radius and the angle."""
    u, v = np.array([[1.3, -0.4]]), np.array([[0.2, 0.9]])
    radius, share = np.polynomial.laguerre.laggauss(60)  # r²/2 ~ Exp(1)
    edges = [np.arctan2(w[0, 0], -w[0, 1]) % np.pi for w in (u, v)]
    edges = np.sort([*edges, *np.add(edges, np.pi)])
    edges = [*edges, edges[0] + 2 * np.pi]
    node, weight = np.polynomial.legendre.leggauss(60)
    total = 0.0
    for low, high in itertools.pairwise(edges):
        angle = (low + high) / 2 + (high - low) / 2 * node
        x = np.sqrt(2 * radius)[:, None, None] * np.stack(
            [np.cos(angle), np.sin(angle)], -1
        )
        value = phi(kinds[0], x @ u[0]) * phi(kinds[1], x @ v[0])
        total += np.einsum("r,a,ra->", share, weight, value) * (high - low) / 2
    found = gaussian_products(jnp.array(u), jnp.array(v), *kinds)
    # Gauss's rule is exact for products of degree 2 along the radius, not for erf.
    is_exact = not any(isinstance(kind, str) for kind in kinds)
    expected = total / (2 * np.pi)
    np.testing.assert_allclose(found, [[expected]], rtol=1e-4, atol=1e-4)
    if is_exact:
        np.testing.assert_allclose(found, [[expected]], rtol=1e-9)


def test_loss_is_the_mean_over_many_inputs():
    rng = np.random.default_rng(0)
    w, a = rng.normal(size=(7, 4)), rng.normal(size=(7, 2))
    v, b = rng.normal(size=(3, 4)), rng.normal(size=(3, 2))
    x = rng.normal(size=(1_000_000, 4))
    apart = np.maximum(x @ w.T, 0) @ a - (x @ v.T) @ b
    squares = np.sum(apart**2, axis=1)
    error = squares.std() / 1000
    arrays = [jnp.array(one) for one in (w, a, v, b)]
    student, teacher = (*arrays[:2], 0.0), (*arrays[2:], 1.0)
    found = population_distance(student, teacher)
    assert abs(found - squares.mean()) < 4 * error
    noisy = population_loss(student, teacher, 0.3)
    np.testing.assert_allclose(noisy, found / 2 + 2 * 0.09 / 2, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("activation", [jax.nn.relu, LeakyRelu(0.2), erf, quadratic])
def test_gradient_agrees_with_differences_also_for_parallel_neurons(activation):
    rng = np.random.default_rng(1)
    w = rng.normal(size=(4, 3))
    w[1], w[2] = 2 * w[0], -w[0]  # angles 0 and π, where that of arccos is NaN
    network = PopulationStudent(
        jnp.array(w),
        jnp.array(rng.normal(size=(4, 1))),
        TwoLayer(
            jnp.array(rng.normal(size=(2, 3))),
            jnp.array([[1.0], [-1.0]]),
            activation=identity,
        ),
        jnp.asarray(0.1),
        activation,
    )
    empty = (jnp.zeros((1, 3)), jnp.zeros((1, 1)), jnp.ones(1))
    _, gradient = network.value_and_gradient(half_mse, *empty)
    for name in ("w", "a"):
        base = np.array(getattr(network, name))
        for index in np.ndindex(base.shape):
            values = []
            for h in (1e-5, -1e-5):
                moved = base.copy()
                moved[index] += h
                parts = {name: jnp.array(moved)}
                other = dataclasses.replace(network, **parts)
                values.append(float(other.value_and_gradient(half_mse, *empty)[0]))
            expected = (values[0] - values[1]) / 2e-5
            # The gradient of ReLU bends like θ² at parallel neurons.
            assert getattr(gradient, name)[index] == pytest.approx(expected, abs=1e-4)


def test_bad_input():
    teacher = TwoLayer(jnp.ones((1, 2)), jnp.ones((1, 1)))
    ones = jnp.ones((2, 2)), jnp.ones((2, 1)), teacher
    with pytest.raises(ValueError, match="`activation` must be relu"):
        PopulationStudent(*ones, jnp.asarray(0.0), jnp.tanh)
    with pytest.raises(ValueError, match="`phi` must be a slope"):
        gaussian_products(ones[0], teacher.w, "tanh")
    other = dataclasses.replace(teacher, a=jnp.ones((1, 2)))
    with pytest.raises(ValueError, match="as many outputs"):
        PopulationStudent(*ones[:2], other, jnp.asarray(0.0))
    other = dataclasses.replace(teacher, b=jnp.ones(1))
    with pytest.raises(ValueError, match="no bias"):
        PopulationStudent(*ones[:2], other, jnp.asarray(0.0))
    network = PopulationStudent(*ones, jnp.asarray(0.0))
    with pytest.raises(ValueError, match="half_mse"):
        network.value_and_gradient(lambda p, y, w: p.sum(), *ones[:2], jnp.ones(2))
