import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import hinge_loss, log_loss, mean_squared_error

from simbias import losses

RNG = np.random.default_rng(0)
F = jnp.asarray(RNG.normal(size=(7, 1)))
Y = jnp.asarray(RNG.normal(size=(7, 1)))
SIGNS = jnp.asarray(RNG.choice([-1.0, 1.0], size=(7, 1)))
ONES = jnp.ones(7)
ALL = [
    losses.half_mse,
    losses.mse,
    losses.logistic,
    losses.exponential,
    losses.hinge,
]


def test_mse_is_that_of_scikit_learn_and_half_mse_its_half():
    expected = mean_squared_error(Y, F)
    assert losses.mse(F, Y, ONES) == pytest.approx(expected)
    assert losses.half_mse(F, Y, ONES) == pytest.approx(expected / 2)


def test_logistic_and_hinge_are_those_of_scikit_learn():
    probability = jax.nn.sigmoid(F[:, 0])
    expected = log_loss(SIGNS[:, 0] > 0, probability)
    assert losses.logistic(F, SIGNS, ONES) == pytest.approx(expected)
    assert losses.hinge(F, SIGNS, ONES) == pytest.approx(
        hinge_loss(SIGNS[:, 0], F[:, 0])
    )


def test_exponential_is_a_mean_of_exponentials():
    expected = np.mean(np.exp(-SIGNS * F))
    assert losses.exponential(F, SIGNS, ONES) == pytest.approx(expected)


def test_cross_entropy_is_that_of_scikit_learn():
    f = jnp.asarray(RNG.normal(size=(9, 3)))
    labels = RNG.integers(0, 3, size=9)
    expected = log_loss(labels, jax.nn.softmax(f), labels=[0, 1, 2])
    found = losses.cross_entropy(f, jax.nn.one_hot(labels, 3), jnp.ones(9))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("loss", ALL)
def test_padding_changes_neither_value_nor_gradient(loss):
    weight = jnp.asarray([1.0, 1, 1, 1, 1, 0, 0])
    wild = F.at[5:].set(1e3)
    value, gradient = jax.value_and_grad(loss)(wild, SIGNS, weight)
    short = jax.value_and_grad(loss)(F[:5], SIGNS[:5], ONES[:5])
    assert value == pytest.approx(float(short[0]))
    np.testing.assert_allclose(gradient[:5], short[1], rtol=1e-14)
    np.testing.assert_array_equal(gradient[5:], 0)


def test_the_derivative_at_zero_sets_the_clock():
    zero, one = jnp.zeros((1, 1)), jnp.ones((1, 1))
    slopes = {
        losses.half_mse: -1,
        losses.mse: -2,
        losses.logistic: -0.5,
        losses.exponential: -1,
    }
    for loss, slope in slopes.items():
        assert jax.grad(loss)(zero, one, jnp.ones(1))[0, 0] == slope


@pytest.mark.slow
def test_the_logarithm_of_cross_entropy_is_that_of_any_targets():
    f = jnp.asarray(RNG.normal(size=(9, 3)))
    weight = jnp.asarray([1.0] * 7 + [0.0] * 2)
    hot = jax.nn.one_hot(RNG.integers(0, 3, size=9), 3)
    soft = jnp.asarray(RNG.dirichlet(np.ones(3), size=9))
    for y in (hot, soft):
        both = [
            jax.value_and_grad(loss)(f.at[7:].set(jnp.inf), y, weight)
            for loss in (losses.cross_entropy, losses.log_cross_entropy)
        ]
        (value, slope), (log, found) = both
        assert log == pytest.approx(np.log(value), rel=1e-13)
        np.testing.assert_allclose(found, slope / value, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(found[7:], 0)


@pytest.mark.slow
def test_two_outputs_are_one_of_the_logarithm_of_logistic():
    f = 3 * F
    pair = jnp.concatenate([f / 2, -f / 2], axis=1)
    y = jnp.concatenate([SIGNS > 0, SIGNS < 0], axis=1).astype(float)
    one = losses.log_logistic(f, SIGNS, ONES)
    assert losses.log_cross_entropy(pair, y, ONES) == pytest.approx(float(one))


@pytest.mark.slow
def test_the_logarithm_of_cross_entropy_goes_on_where_the_loss_underflows():
    f = jnp.asarray([[2000.0, 0.0, -5.0], [0.0, 1000.0, 0.0]])
    y, ones = jnp.eye(3)[jnp.asarray([0, 1])], jnp.ones(2)
    value, gradient = jax.value_and_grad(losses.log_cross_entropy)(f, y, ones)
    # Two outputs share the least margin of 1000: L = (2/2) e⁻¹⁰⁰⁰.
    assert value == pytest.approx(-1000, abs=1e-10)
    expected = [[0, 0, 0], [0.5, -1, 0.5]]
    np.testing.assert_allclose(gradient, expected, atol=1e-12)
    short = losses.log_cross_entropy(*(v.astype(jnp.float32) for v in (f, y, ones)))
    assert short == pytest.approx(-1000, rel=1e-6)
    with pytest.raises(ValueError, match="`log_cross_entropy` needs two outputs"):
        losses.log_cross_entropy(f[:, :1], y[:, :1], ones)
