import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from simbias.losses import half_mse, logistic
from simbias.networks.activations import ACTIVATIONS, LeakyRelu, negative_slope
from simbias.networks.two_layer import TwoLayer
from simbias.networks.two_layer_init import (
    INITIAL_LAWS,
    balanced,
    dominated,
    gaussian,
    standard,
    unbalanced,
)
from simbias.numerics import tiling

KEY = jax.random.key(0)


def test_the_output_is_the_sum_over_neurons():
    net = unbalanced(KEY, m=5, d=3, k=2, scale=1.0, activation="tanh", has_bias=True)
    x = jnp.asarray([0.3, -1.0, 2.0])
    expected = sum(
        net.a[j] * math.tanh(float(net.w[j] @ x + net.b[j])) for j in range(5)
    )
    np.testing.assert_allclose(net(x), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relu", [0, 0, 2]),
        ("leaky_relu", [-0.02, 0, 2]),
        ("gelu", [-2 * norm.cdf(-2), 0, 2 * norm.cdf(2)]),
        ("tanh", [-0.9640275801, 0, 0.9640275801]),
        ("erf", [-math.erf(2**0.5), 0, math.erf(2**0.5)]),
        ("identity", [-2, 0, 2]),
        ("quadratic", [4, 0, 4]),
    ],
)
def test_activations_are_what_their_names_say(name, expected):
    found = ACTIVATIONS[name](jnp.asarray([-2.0, 0.0, 2.0]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_kinks_are_known_by_the_slope():
    slopes = [
        negative_slope(ACTIVATIONS[n]) for n in ("relu", "leaky_relu", "identity")
    ]
    assert slopes == [0.0, 0.01, 1.0]
    assert negative_slope(ACTIVATIONS["gelu"]) is None
    assert negative_slope(LeakyRelu(0.3)) == 0.3


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("has_bias", [False, True])
def test_balanced_and_dominated_neurons_are_so(k, has_bias):
    for law in (balanced, dominated):
        net = law(KEY, m=200, d=4, k=k, scale=0.5, has_bias=has_bias)
        v = net.w if net.b is None else jnp.concatenate([net.w, net.b[:, None]], 1)
        gap = jnp.sum(net.a**2, axis=1) - jnp.sum(v**2, axis=1)
        if law is balanced:
            np.testing.assert_allclose(gap, 0, atol=1e-15)
        else:
            assert jnp.all(gap >= 0)


@pytest.mark.parametrize("law", [balanced, dominated, unbalanced])
def test_the_scale_convention_is_one_over_the_root_of_the_width(law):
    # Σ|aⱼ|² is of order λ² at every width: the 1/√m is in the law.
    sizes = [
        float(jnp.sum(law(KEY, m=m, d=4, scale=0.1).a ** 2)) for m in (100, 10_000)
    ]
    assert 0.7 < sizes[0] / sizes[1] < 1.4


def test_the_standard_law_is_that_of_torch():
    net = standard(KEY, m=4000, d=9, k=2, has_bias=True)
    for values, bound in ((net.w, 1 / 3), (net.b, 1 / 3), (net.a, 1 / math.sqrt(4000))):
        assert jnp.all(jnp.abs(values) <= bound)
        # Variance of a uniform law, bound²/3; four standard errors.
        error = 4 * bound**2 * math.sqrt(4 / 45 / values.size)
        assert abs(float(jnp.mean(values**2)) - bound**2 / 3) < error


def test_every_weight_of_the_gaussian_law_has_the_variance_that_it_says():
    net = gaussian(KEY, m=4000, d=9, k=2, has_bias=True)
    for values in (net.w, net.b, net.a):
        share = float(jnp.mean(values**2)) / (1e-5 / math.sqrt(4000))
        assert abs(share - 1) < 4 * math.sqrt(2 / values.size)


def test_vectors_in_the_ball_are_uniform():
    net = dominated(KEY, m=20_000, d=3, scale=1.0)
    radius = jnp.linalg.norm(net.w, axis=1) * math.sqrt(20_000)
    # P(radius ≤ ½) = (½)³; four standard errors.
    share = float(jnp.mean((radius <= 0.5).astype(float)))
    assert abs(share - 1 / 8) < 4 * math.sqrt(1 / 8 * 7 / 8 / 20_000)


@pytest.mark.parametrize("law", sorted(INITIAL_LAWS))
@pytest.mark.parametrize(
    "wrong", [{"m": 0}, {"d": -1}, {"k": 0}, {"scale": 0.0}, {"scale": float("nan")}]
)
def test_wrong_sizes_are_named(law, wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
        INITIAL_LAWS[law](KEY, **{"m": 3, "d": 2, **wrong})


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
@pytest.mark.parametrize(("k", "has_bias"), [(1, False), (1, True), (3, False)])
@pytest.mark.parametrize("most", [2**22, 64])
def test_gradient_by_hand_is_that_of_autodiff(name, k, has_bias, most, monkeypatch):
    # With 64 bytes the 37 neurons are cut into tiles of 16, the last one filled up.
    monkeypatch.setattr(tiling, "_TILE_BYTES", most)
    monkeypatch.setattr(tiling, "_BYTES_PER_TERM", 1)
    rng = np.random.default_rng(0)
    draw = lambda *shape: jnp.asarray(rng.standard_normal(shape))
    bias = draw(37) if has_bias else None
    network = TwoLayer(draw(37, 4), draw(37, k), bias, ACTIVATIONS[name])
    x, y, weight = draw(9, 4), draw(9, k), jnp.asarray([1.0] * 7 + [0.0] * 2)
    y = y if k == 3 else jnp.sign(y)
    for loss in (half_mse, logistic):
        of = lambda net: loss(jax.vmap(net)(x), y, weight)  # noqa: B023
        value, gradient = eqx.filter_value_and_grad(of)(network)
        by_hand = network.value_and_gradient(loss, x, y, weight)
        np.testing.assert_allclose(by_hand[0], value, rtol=1e-13)
        for mine, theirs in zip(
            jax.tree.leaves(by_hand[1]), jax.tree.leaves(gradient), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-13)
