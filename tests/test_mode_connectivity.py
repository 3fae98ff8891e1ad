"""Orders of neurons, and the line between two networks."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.experiments import mode_connectivity, mode_connectivity_fork
from simbias.experiments.layers._matching import (
    in_place,
    inner_product,
    matched_by_activations,
    matched_by_weights,
    permuted,
)
from simbias.experiments.layers._paths import POINTS, Excess, Path, barrier
from simbias.losses import cross_entropy
from simbias.networks.dense.mlp import mlp

KEY = jax.random.key(0)


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape, jnp.float64)


def a_network(seed, hidden=2, m=6):
    return mlp(jax.random.key(seed), (5, *[m] * hidden, 3), law="torch")


def some_orders(seed, hidden=2, m=6):
    keys = jax.random.split(jax.random.key(seed), hidden)
    return jnp.stack([jax.random.permutation(k, m) for k in keys]).astype(jnp.int32)


# Orders


def test_no_order_of_neurons_changes_the_outputs():
    network, x = a_network(0, 3), normal(1, 20, 5)
    other = permuted(network, some_orders(2, 3))
    assert not np.allclose(network.weights[1], other.weights[1])
    before, after = (jax.vmap(f)(x) for f in (network, other))
    np.testing.assert_allclose(before, after, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_both_matchings_find_the_order_that_was_hidden(hidden):
    network, orders = a_network(0, hidden), some_orders(1, hidden)
    shuffled = permuted(network, orders)
    x = normal(2, 40, 5)
    by_activations = matched_by_activations(network, shuffled, x, jnp.ones(40))
    found = (by_activations, jax.jit(matched_by_weights)(network, shuffled))
    for mine in found:
        back = permuted(shuffled, mine)
        for a, b in zip(back.weights, network.weights, strict=True):
            np.testing.assert_array_equal(a, b)


def test_of_one_hidden_layer_the_matching_by_weights_is_the_best_of_all():
    one, two = a_network(0, 1, 4), a_network(1, 1, 4)
    value = lambda order: inner_product(one, permuted(two, jnp.asarray([order])))
    best = max(float(value(p)) for p in itertools.permutations(range(4)))
    found = inner_product(one, permuted(two, matched_by_weights(one, two)))
    assert float(found) == pytest.approx(best, rel=1e-12)


def test_matching_by_weights_ends_where_no_layer_alone_gains():
    one, two = a_network(0, 2, 4), a_network(1, 2, 4)
    found = matched_by_weights(one, two)
    value = lambda orders: float(inner_product(one, permuted(two, orders)))
    best = value(found)
    assert best >= value(in_place(two))
    for layer, order in itertools.product((0, 1), itertools.permutations(range(4))):
        assert value(found.at[layer].set(jnp.asarray(order, jnp.int32))) <= best + 1e-12


def test_pairs_are_matched_together_as_they_are_alone():
    ones = [a_network(i) for i in range(3)]
    twos = [a_network(i + 3) for i in range(3)]
    stack = lambda networks: jax.tree.map(lambda *v: jnp.stack(v), *networks)
    together = jax.jit(jax.vmap(matched_by_weights))(stack(ones), stack(twos))
    alone = jax.jit(matched_by_weights)
    for i, (one, two) in enumerate(zip(ones, twos, strict=True)):
        np.testing.assert_array_equal(together[i], alone(one, two))


def test_rows_of_padding_do_not_decide_a_matching():
    one, two, x = a_network(0), a_network(1), normal(2, 40, 5)
    weight = (jnp.arange(40) < 25).astype(x.dtype)
    padded = matched_by_activations(one, two, x, weight)
    alone = matched_by_activations(one, two, x[:25], jnp.ones(25))
    np.testing.assert_array_equal(padded, alone)


# The line


def test_the_barrier_is_the_height_above_the_chord():
    alpha = xr.DataArray(POINTS, dims="alpha", coords={"alpha": POINTS})
    # 4α(1 − α) has its top between, on the twelfth of 24 steps.
    assert float(barrier(1 + 2 * alpha + 4 * alpha * (1 - alpha))) == pytest.approx(1)
    assert float(barrier(1 + 2 * alpha)) == pytest.approx(0, abs=1e-15)
    assert float(barrier(alpha**2)) == 0
    assert np.isnan(barrier(alpha.where(alpha < 0.5)))


@pytest.fixture(scope="module")
def pair():
    return mode_connectivity.make(KEY, n=60, n_test=30, m=8)


def test_paths_are_those_of_networks_put_together_by_hand(pair):
    data, networks = pair
    found = Path(1, ("none", "activations"))(networks, data)
    one, two = networks.networks
    order = matched_by_activations(one, two, data.x, data.weight)
    test, k = data.test, 7
    for i, end in enumerate((two, permuted(two, order))):
        mixed = jax.tree.map(lambda a, b: (1 - POINTS[k]) * a + POINTS[k] * b, one, end)
        out, y = jax.vmap(mixed)(test.x), test.y[:, :10]
        wrong = np.mean(np.asarray(jnp.argmax(out, 1) != jnp.argmax(y, 1)))
        loss = cross_entropy(out, y, jnp.ones(30))
        np.testing.assert_allclose(found[i, 1, :, k], [loss, wrong], rtol=1e-12)


def test_a_path_ends_at_the_same_losses_however_it_is_matched(pair):
    data, networks = pair
    found = Path()(networks, data)
    for end in (0, -1):
        for i in (1, 2):
            np.testing.assert_allclose(found[i, ..., end], found[0, ..., end])


def test_averaged_outputs_have_no_barrier_and_orders_change_nothing(pair):
    data, networks = pair
    found = Excess()(networks, data)
    assert float(found[0]) < 1e-12
    assert float(found[1]) < 1e-12


# Forks


@pytest.mark.parametrize(("fork", "is_same"), [(0, True), (7, True), (-1, False)])
def test_networks_share_their_start_unless_they_are_apart(fork, is_same):
    _, three = mode_connectivity_fork.make(KEY, n=60, n_test=30, m=8, fork=fork)
    first, second, other = (np.asarray(f.weights[1]) for f in three.networks)
    assert np.array_equal(first, second) == is_same
    assert not np.array_equal(first, other)


def test_other_labels_have_nothing_to_do_with_the_digits():
    data, _ = mode_connectivity_fork.make(KEY, n=1000, n_test=30, m=8)
    first, second, other = (
        np.asarray(data.y)[:, i : i + 10].argmax(axis=1) for i in (0, 10, 20)
    )
    np.testing.assert_array_equal(first, second)
    # A tenth by chance: five standard errors.
    assert abs(np.mean(first == other) - 0.1) < 5 * 0.3 / np.sqrt(1000)


def test_a_batch_that_two_networks_cannot_share_is_refused():
    flow = simbias.Descent(rate=0.1, batch=33, sampling="replacement")
    experiment = mode_connectivity.experiment("smoke", m=8, seeds=1, flow=flow)
    with pytest.raises(simbias.BadInput, match="multiple of 2, the networks"):
        simbias.simulate(experiment)
