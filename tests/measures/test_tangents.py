"""The tangent kernel against closed forms, and what it says of a small step."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset
from simbias.ensemble.padding import padded
from simbias.introspection import tangents
from simbias.measures import KernelEigenvalues, KernelRates, TangentKernel
from simbias.networks import balanced, mlp

KEY = jax.random.key(0)


def sample(n=6, d=3):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(n, d)))
    y = x[:, :1]
    return Dataset(x, y, jnp.ones(n), y, x[:1])


@pytest.mark.slow
def test_a_linear_network_has_the_kernel_of_the_inputs():
    data = sample()
    net = mlp(KEY, (3, 2), has_bias=False)
    kernel = TangentKernel()(net, data)
    expected = np.stack([data.x @ data.x.T] * 2)
    np.testing.assert_allclose(kernel, expected, rtol=1e-13, atol=1e-13)
    with_bias = TangentKernel()(mlp(KEY, (3, 2)), data)
    np.testing.assert_allclose(with_bias, expected + 1, rtol=1e-13, atol=1e-13)


def two_layer_parts(net, x):
    h = np.asarray(x @ net.w.T)
    a, gate = np.asarray(net.a[:, 0]), h > 0
    first = (x @ x.T) * ((gate * a**2) @ gate.T)
    second = np.maximum(h, 0) @ np.maximum(h, 0).T
    return np.asarray(first), second


@pytest.mark.slow
def test_a_two_layer_network_has_the_kernel_of_both_layers_or_of_those_trained():
    data, net = sample(), balanced(KEY, m=50, d=3, scale=2.0)
    first, second = two_layer_parts(net, data.x)
    for given in (data, padded(data, 8)):
        found = TangentKernel(rows=6)(net, given)
        np.testing.assert_allclose(found[0], first + second, rtol=1e-12)
    fixed = dataclasses.replace(net, frozen=("a",))
    np.testing.assert_allclose(TangentKernel()(fixed, data)[0], first, rtol=1e-12)
    padding = TangentKernel()(net, padded(data, 8))
    assert not np.any(padding[:, 6:])
    assert not np.any(padding[:, :, 6:])


@pytest.mark.slow
def test_large_networks_give_the_same_kernel_a_gradient_at_a_time(monkeypatch):
    data, net = sample(), mlp(KEY, (3, 5, 2), activation="tanh")
    whole = tangents.tangent_kernel(net, data.x)
    monkeypatch.setattr(tangents, "_AT_ONCE", 0)
    parts = tangents.tangent_kernel(net, data.x)
    np.testing.assert_allclose(parts, whole, rtol=1e-12)
    np.testing.assert_allclose(whole, np.swapaxes(whole, 1, 2), rtol=1e-12)


@pytest.mark.slow
def test_the_kernel_tells_what_a_small_step_of_descent_changes():
    data, net = sample(), mlp(KEY, (3, 5, 1), activation="tanh")
    values = lambda net: jax.vmap(net)(data.x)[:, 0]
    loss = lambda net: jnp.mean((values(net) - data.y[:, 0]) ** 2) / 2
    gradient = jax.tree.map(jnp.negative, jax.grad(loss)(net))
    change = jax.jvp(values, (net,), (gradient,))[1]
    kernel = tangents.tangent_kernel(net, data.x)[0]
    expected = -kernel @ (values(net) - data.y[:, 0]) / len(data.x)
    np.testing.assert_allclose(change, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.slow
def test_eigenvalues_are_those_of_the_kernel_and_their_vectors_have_them_as_rates():
    data, net = sample(), balanced(KEY, m=50, d=3, scale=2.0)
    kernel = sum(two_layer_parts(net, data.x)) / 6
    values, vectors = np.linalg.eigh(kernel)
    for given in (data, padded(data, 8)):
        found = KernelEigenvalues(4)(net, given)
        np.testing.assert_allclose(found, values[::-1][:4], rtol=1e-11)
    rates = tangents.tangent_rates(net, data.x, jnp.asarray(vectors))
    np.testing.assert_allclose(rates, values, rtol=1e-9)
    assert jnp.isnan(tangents.tangent_rates(net, data.x, jnp.zeros((6, 1)))[0])


def coordinates(x):
    return x[:2]


def test_rates_of_given_functions_do_not_see_padding():
    data, net = sample(), mlp(KEY, (3, 1), has_bias=False)
    v = np.asarray(data.x[:, :2])
    kernel = np.asarray(data.x @ data.x.T)
    expected = np.diag(v.T @ kernel @ v) / np.diag(v.T @ v) / 6
    for given in (data, padded(data, 8)):
        found = KernelRates(coordinates)(net, given)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_change_of_a_kernel_is_relative_to_the_start():
    data, net = padded(sample(), 8), balanced(KEY, m=20, d=3, scale=2.0)
    twice = jax.tree.map(lambda v: 2 * v, net)
    assert tangents.kernel_change(net, data, net, data) == 0
    # Homogeneous of degree two: the kernel of doubled weights is four times as large.
    moved = tangents.kernel_change(twice, data, net, data)
    assert moved == pytest.approx(3, rel=1e-12)
    dead = jax.tree.map(jnp.zeros_like, net)
    assert jnp.isnan(tangents.kernel_change(net, data, dead, data))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda net: TangentKernel(rows=0), "`rows`"),
        (lambda net: TangentKernel(rows=7)(net, sample()), "`rows`"),
        (lambda net: KernelEigenvalues(count=0), "`count`"),
        (lambda net: KernelEigenvalues(count=7)(net, sample()), "`count`"),
        (lambda net: KernelRates(coordinates)(net, sample()), "one output"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call(mlp(KEY, (3, 2)))
