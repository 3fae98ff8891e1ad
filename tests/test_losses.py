import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import hinge_loss, log_loss, mean_squared_error

from simbias import losses

pytestmark = pytest.mark.usefixtures("hastily_compiled")

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
