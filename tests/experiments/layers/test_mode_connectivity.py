"""Orders of neurons, and the line between two networks."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.analysis.barrier import barrier
from simbias.experiments import (
    mode_connectivity,
    mode_connectivity_fork,
    mode_connectivity_teacher,
)
from simbias.flows.descent import Descent
from simbias.losses import cross_entropy
from simbias.measures.pairs._matching import (
    in_place,
    inner_product,
    matched_by_activations,
    matched_by_weights,
    permuted,
)
from simbias.measures.pairs.weight_path import POINTS, WeightPath
from simbias.networks.dense.mlp import mlp

KEY = jax.random.key(0)
# One program for each shape, however often it is called.
by_weights, by_activations = map(jax.jit, (matched_by_weights, matched_by_activations))


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape, jnp.float64)


def a_network(seed, hidden=3, m=6):
    return mlp(jax.random.key(seed), (5, *[m] * hidden, 3), law="torch")


def some_orders(seed, hidden=3, m=6):
    keys = jax.random.split(jax.random.key(seed), hidden)
    return jnp.stack([jax.random.permutation(k, m) for k in keys]).astype(jnp.int32)


# Orders


def test_no_order_of_neurons_changes_the_outputs():
    network, x = a_network(0), normal(1, 20, 5)
    other = permuted(network, some_orders(2))
    assert not np.allclose(network.weights[1], other.weights[1])
    before, after = (jax.vmap(f)(x) for f in (network, other))
    np.testing.assert_allclose(before, after, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("hidden", [1, 3])
def test_both_matchings_find_the_order_that_was_hidden(hidden):
    network, orders = a_network(0, hidden), some_orders(1, hidden)
    shuffled = permuted(network, orders)
    x = normal(2, 40, 5)
    activations = by_activations(network, shuffled, x, jnp.ones(40))
    for mine in (activations, by_weights(network, shuffled)):
        back = permuted(shuffled, mine)
        for a, b in zip(back.weights, network.weights, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.fixture(scope="module")
def all_orders():
    """Of six neurons."""
    return jnp.asarray(list(itertools.permutations(range(6))), jnp.int32)


def values(one, two, orders):
    """⟨one, π(two)⟩ for each π."""
    value = lambda order: inner_product(one, permuted(two, order))
    return np.asarray(jax.jit(jax.vmap(value))(orders))


def test_of_one_hidden_layer_the_matching_by_weights_is_the_best_of_all(all_orders):
    one, two = a_network(0, 1), a_network(1, 1)
    best = values(one, two, all_orders[:, None]).max()
    found = inner_product(one, permuted(two, by_weights(one, two)))
    assert float(found) == pytest.approx(best, rel=1e-12)


def test_matching_by_weights_ends_where_no_layer_alone_gains(all_orders):
    one, two = a_network(0), a_network(1)
    found = by_weights(one, two)
    one_changed = [
        jnp.tile(found, (len(all_orders), 1, 1)).at[:, layer].set(all_orders)
        for layer in range(3)
    ]
    orders = jnp.concatenate([found[None], in_place(two)[None], *one_changed])
    best, *others = values(one, two, orders)
    assert max(others) <= best + 1e-12


def test_pairs_are_matched_together_as_they_are_alone():
    ones = [a_network(i) for i in range(3)]
    twos = [a_network(i + 3) for i in range(3)]
    stack = lambda networks: jax.tree.map(lambda *v: jnp.stack(v), *networks)
    together = jax.jit(jax.vmap(matched_by_weights))(stack(ones), stack(twos))
    for i, (one, two) in enumerate(zip(ones, twos, strict=True)):
        np.testing.assert_array_equal(together[i], by_weights(one, two))


def test_rows_of_padding_do_not_decide_a_matching():
    one, two, x = a_network(0, 1), a_network(1, 1), normal(2, 40, 5)
    weight = (jnp.arange(40) < 25).astype(x.dtype)
    padded = by_activations(one, two, x, weight)
    alone = by_activations(one, two, x[:25], jnp.ones(25))
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
    make = lambda key: mode_connectivity.make(key, n=60, n_test=30, m=8)
    return jax.jit(make)(KEY)


@pytest.fixture(scope="module")
def path(pair):
    data, networks = pair
    return np.asarray(jax.jit(WeightPath())(networks, data))


def test_paths_are_those_of_networks_put_together_by_hand(pair, path):
    data, networks = pair
    one, two = networks.networks
    order = by_activations(one, two, data.x, data.weight)
    test, k = data.test, 7
    for i, end in ((0, two), (2, permuted(two, order))):
        mixed = jax.tree.map(lambda a, b: (1 - POINTS[k]) * a + POINTS[k] * b, one, end)
        out, y = jax.vmap(mixed)(test.x), test.y[:, :10]
        wrong = np.mean(np.asarray(jnp.argmax(out, 1) != jnp.argmax(y, 1)))
        loss = cross_entropy(out, y, jnp.ones(30))
        np.testing.assert_allclose(path[i, 1, :, k], [loss, wrong], rtol=1e-12)


def test_a_path_ends_at_the_same_losses_however_it_is_matched(path):
    for end in (0, -1):
        for i in (1, 2):
            np.testing.assert_allclose(path[i, ..., end], path[0, ..., end])


def test_averaged_outputs_have_no_barrier(pair):
    # The loss is convex in them.
    data, both = pair
    mine, theirs = (jax.vmap(f)(data.x) for f in both.networks)
    y = data.y[:, : mine.shape[1]]
    at = lambda a: cross_entropy((1 - a) * mine + a * theirs, y, data.weight)
    loss = np.array([at(a) for a in POINTS])
    assert (loss - (1 - POINTS) * loss[0] - POINTS * loss[-1]).max() < 1e-12


# Forks


@jax.jit
def with_fork(fork):
    return mode_connectivity_fork.make(KEY, n=1000, n_test=30, m=8, fork=fork)


@pytest.mark.parametrize(("fork", "is_same"), [(0, True), (7, True), (-1, False)])
def test_networks_share_their_start_unless_they_are_apart(fork, is_same):
    _, three = with_fork(fork)
    first, second, other = (np.asarray(f.weights[1]) for f in three.networks)
    assert np.array_equal(first, second) == is_same
    assert not np.array_equal(first, other)


def test_other_labels_have_nothing_to_do_with_the_digits():
    data, _ = with_fork(0)
    first, second, other = (
        np.asarray(data.y)[:, i : i + 10].argmax(axis=1) for i in (0, 10, 20)
    )
    np.testing.assert_array_equal(first, second)
    # A tenth by chance: five standard errors.
    assert abs(np.mean(first == other) - 0.1) < 5 * 0.3 / np.sqrt(1000)


def test_a_batch_that_two_networks_cannot_share_is_refused():
    flow = simbias.Descent(rate=0.1, batch=33, sampling="replacement")
    # Of the experiments with such networks the one that loads no images.
    make = mode_connectivity_teacher.experiment
    experiment = make("smoke", m=4, seeds=1, flow=flow, final={})
    with pytest.raises(simbias.BadInput, match="multiple of 2, the networks"):
        simbias.simulate(experiment)


@pytest.mark.long
@pytest.mark.parametrize("fork", [-1, 0, (0, 4)])
def test_any_forks_are_judged_and_drawn_as_what_they_are(fork):
    small = {"n": 20, "n_test": 20, "m": 4, "fork": fork, "seeds": 2}
    flow = Descent(rate=0.1, batch=6, sampling="replacement")
    module, times = mode_connectivity_fork, (0.0, 0.2, 0.4)
    ds = simbias.simulate(module.experiment("smoke", flow=flow, times=times, **small))
    said = {c.statement: c.verdict for c in simbias.check(module, ds)}
    has_two = fork == (0, 4)
    verdict = said["barrier of the training loss: earliest fork − latest"]
    assert (verdict != "not applicable") == has_two
    if has_two:
        # Four steps were taken: what parts at step 4 has not parted.
        path = ds["path"].isel(time=-1).sel(matching="none", fork=4)
        assert float(abs(path - path.isel(alpha=0)).max()) < 1e-5
    (figure,) = simbias.draw(module, ds).values()
    start = "two starts" if fork == -1 else "fork at 0"
    assert figure.axes[2].get_title(loc="left") == f"test error, {start}"
