"""The least loss of any width: 0 in general position, and the dual elsewhere."""

import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias.core import Dataset
from simbias.theory.best_network import best_network
from simbias.theory.least_loss import least_loss


def sample(x, y):
    with simbias.exact_numerics():
        return Dataset(jnp.asarray(x, float), jnp.asarray(y, float)[:, None])


def test_samples_of_different_lines_are_interpolated():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    assert least_loss(sample(x, y)) == 0
    # As many neurons as samples are enough.
    features = np.maximum(x @ rng.standard_normal((3, 30)), 0)
    assert np.linalg.matrix_rank(features) == 30


def test_two_labels_of_one_input_leave_half_their_distance():
    data = sample([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [1.0, 0.0, 2.0])
    assert least_loss(data) == pytest.approx((0.25 + 0.25 + 4) / 6)


def test_mirrored_inputs_leave_an_odd_part_that_is_not_linear():
    """f(x) − f(−x) is linear in x, and with a bias it is not."""
    x = np.array([[1.0, 0], [0, 1], [1, 1]])
    both, y = np.concatenate([x, -x]), np.array([0.0, 0, 1, 0, 0, -1])
    # The odd part 1 of three, along (1, 1, −1)/√3: Σ = 2 · 1/3.
    assert least_loss(sample(both, y)) == pytest.approx(2 / 3 / 12)
    assert least_loss(sample(both, y), has_bias=True) == 0


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_limit_of_the_best_network_without_decay(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((4, 2))
    x = np.concatenate([x, -2 * x, x[:1]])
    data = sample(x, rng.standard_normal(9))
    least, found = least_loss(data), best_network(data, 1e-7)
    assert 0.01 < least <= found.value
    assert found.bound <= found.value <= least + 1e-4
    assert found.bound >= least - 1e-9


def test_lines_that_are_nearly_one_are_two_and_inputs_may_all_be_zero():
    x, y = 1000 + np.arange(6.0)[:, None], np.array([1.0, -1, 1, -1, 1, -1])
    assert least_loss(sample(x, y), has_bias=True) == 0
    assert least_loss(sample(0 * x, y)) == pytest.approx(0.5)
