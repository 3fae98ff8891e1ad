"""Students of a small teacher, and the loss between two of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias.experiments import mode_connectivity_teacher as teacher
from simbias.experiments.layers._side_by_side import side_by_side
from simbias.experiments.layers._students import (
    shared_half_mse,
    student,
    taught,
)
from simbias.measures.pairs.gaussian_path import GaussianPath, gaussian_risk
from simbias.measures.pairs.weight_path import POINTS
from simbias.theory.arc_cosine import arc_cosine, over_pairs

KEY = jax.random.key(0)


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape, jnp.float64)


def a_student(seed):
    """Of six neurons, with output weights of both signs."""
    network = student(jax.random.key(seed), m=6, d=4, is_output_trained=True)
    w, a = 3 * network.weights[0], normal(seed + 10, 1, 6)
    return type(network)((w, a), network.biases)


@pytest.fixture(scope="module")
def pair():
    return taught(KEY, n=8, d=4, neurons=3), side_by_side(a_student(1), a_student(2))


@pytest.fixture(scope="module")
def found(pair):
    return jax.jit(GaussianPath())(pair[1], pair[0])


def test_moments_and_risk_are_means_over_gaussian_inputs(pair):
    data, networks = pair
    x = np.random.default_rng(0).standard_normal((200_000, 4))
    w, a = networks.networks[0].weights
    hidden = np.maximum(x @ np.asarray(w).T, 0)
    # Five standard errors of a mean of 2e5.
    products = hidden[:, :, None] * hidden[:, None, :]
    error = products.std(0) / np.sqrt(len(x))
    assert np.all(np.abs(products.mean(0) - over_pairs(arc_cosine, w, w)) < 5 * error)
    wrong = hidden @ np.asarray(a[0]) - np.maximum(x[:, :3], 0).sum(1)
    risk = gaussian_risk(w, a[0], data.features)
    error = 0.5 * np.std(wrong**2) / np.sqrt(len(x))
    assert abs(0.5 * np.mean(wrong**2) - risk) < 5 * error


def test_the_teacher_has_no_loss_and_neither_has_one_with_a_neuron_split():
    v = jnp.eye(3, 4, dtype=jnp.float64)
    assert float(gaussian_risk(v[::-1], jnp.ones(3), v)) < 1e-15
    split = jnp.concatenate([v, v[:1]])
    shares = jnp.array([0.25, 1.0, 1.0, 0.75])
    assert float(gaussian_risk(split, shares, v)) < 1e-15


def test_a_path_is_that_of_networks_put_together_by_hand(pair, found):
    data, networks = pair
    one, two = networks.networks
    k = 7
    mixed = jax.tree.map(lambda a, b: (1 - POINTS[k]) * a + POINTS[k] * b, one, two)
    by_hand = gaussian_risk(mixed.weights[0], mixed.weights[1][0], data.features)
    assert float(found[0, k]) == pytest.approx(float(by_hand), rel=1e-12)


def test_an_order_changes_no_end_of_the_path(found):
    for end in (0, -1):
        np.testing.assert_allclose(found[:, end], found[0, end], rtol=1e-12)


def test_a_student_with_its_neurons_shuffled_is_matched_without_a_barrier():
    one = a_student(1)
    w, a = one.weights
    order = jnp.array([3, 5, 0, 1, 4, 2])
    other = type(one)((w[order], a[:, order]), one.biases)
    data = taught(KEY, n=8, d=4, neurons=3)
    path = jax.jit(GaussianPath())(side_by_side(one, other), data)
    np.testing.assert_allclose(path[1:], path[0, 0], rtol=1e-12)
    # A line in the order as it is leaves the function.
    assert float(jnp.ptp(path[0])) > 0.1 * float(path[0, 0])


def test_each_student_descends_on_rows_of_its_own_at_the_rate_given():
    target, own = normal(1, 8, 1), normal(2, 8, 1)
    is_first = (jnp.arange(8)[:, None] < 4).astype(own.dtype)

    def shared(f):
        shown = jnp.concatenate([f * is_first, f * (1 - is_first)], axis=1)
        return shared_half_mse(shown, jnp.tile(target, (1, 2)), jnp.ones(8))

    # Half the mean over its four rows has the gradient (f − y)/4.
    np.testing.assert_allclose(jax.grad(shared)(own), (own - target) / 4, rtol=1e-12)


def test_fresh_rows_are_what_the_teacher_says_of_them():
    data = taught(KEY, n=8, d=4, neurons=3)
    assert data.fresh is not None
    x, y = data.fresh(jax.random.key(5), 20)
    expected = np.maximum(np.asarray(x)[:, :3], 0).sum(1)
    for column in y.T:
        np.testing.assert_allclose(column, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"neurons": 5}, "`neurons` must be at most d"),
        ({"neurons": 0}, "`neurons` must be a positive integer"),
        ({"d": 0}, "`d` must be a positive integer"),
        ({"m": 0}, "`m` must be a positive integer"),
        ({"n": 0}, "`n` must be a positive integer"),
    ],
)
def test_sizes_that_are_none_are_refused_by_name(changes, message):
    with pytest.raises(simbias.BadInput, match=message):
        teacher.make(KEY, **changes)
