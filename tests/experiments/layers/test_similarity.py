"""Likeness of activations, and the assignment that matches neurons."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.cross_decomposition import CCA

import simbias
from simbias.core import Buffer
from simbias.experiments import layer_similarity
from simbias.experiments.layers._side_by_side import (
    SideBySide,
    shared_cross_entropy,
    side_by_side,
)
from simbias.losses import cross_entropy
from simbias.measures.pairs.accuracy_of_each import AccuracyOfEach
from simbias.networks.dense.mlp import mlp
from simbias.numerics import similarity
from simbias.numerics.linear_assignment import linear_assignment

# One program for each, however often it is called.
alone = jax.jit(linear_assignment)
together = jax.jit(jax.vmap(linear_assignment))
cka = jax.jit(similarity.cka)
svcca = jax.jit(similarity.svcca, static_argnames="share")
matched_correlation = jax.jit(similarity.matched_correlation)


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape, jnp.float64)


ONE = jnp.ones(60)


# The assignment


@pytest.mark.parametrize("m", [1, 5, 40])
def test_assignments_of_a_batch_cost_what_those_of_scipy_do(m):
    cost = normal(m, 9, m, m)
    # Some with ties, one where all is equal, some far from zero.
    cost = cost.at[:3].set(jnp.round(cost[:3])).at[3].set(1.0)
    cost = cost.at[4].add(1e6)
    found = together(cost)
    for one, mine in zip(np.asarray(cost), np.asarray(found), strict=True):
        assert sorted(mine) == list(range(m))
        rows, columns = linear_sum_assignment(one)
        total = one[np.arange(m), mine].sum()
        assert total == pytest.approx(one[rows, columns].sum(), rel=1e-12, abs=1e-12)


def test_an_assignment_alone_is_the_one_in_a_batch():
    cost = normal(1, 9, 40, 40)
    for one, found in zip(cost, together(cost), strict=True):
        np.testing.assert_array_equal(alone(one), found)


def test_costs_that_are_not_finite_leave_every_row_in_its_place():
    cost = np.asarray(normal(0, 9, 5, 5)).copy()
    cost[0, 1, 2] = np.nan
    found = together(jnp.asarray(cost))
    np.testing.assert_array_equal(found[0], np.arange(5))
    for one, mine in zip(cost[1:], found[1:], strict=True):
        assert mine.tolist() == linear_sum_assignment(one)[1].tolist()


# Indices


def test_svcca_with_all_directions_is_the_canonical_correlation_of_sklearn():
    x = normal(0, 60, 3)
    y = x @ normal(1, 3, 4) + normal(2, 60, 4)
    left, right = CCA(n_components=3, tol=1e-12, max_iter=100_000).fit_transform(x, y)
    pairs = zip(np.asarray(left).T, np.asarray(right).T, strict=True)
    expected = np.mean([np.corrcoef(a, b)[0, 1] for a, b in pairs])
    found = svcca(x, y, ONE, share=1.0)
    # sklearn's power iteration stops at 1e-12 of the squared step.
    assert found == pytest.approx(expected, rel=1e-5)


def test_svcca_leaves_out_the_directions_that_hold_little():
    x = normal(0, 60, 3)
    shared = jnp.concatenate([10 * x[:, :1], 0.01 * x[:, 1:]], axis=1)
    other = jnp.concatenate([10 * x[:, :1], 0.01 * normal(1, 60, 2)], axis=1)
    assert svcca(shared, other, ONE) == pytest.approx(1, abs=1e-4)
    assert svcca(shared, other, ONE, share=1.0) < 0.9


def test_cka_is_the_formula_of_gram_matrices():
    x, y = normal(0, 60, 3), normal(1, 60, 5)
    gram = lambda v: (v - v.mean(0)) @ (v - v.mean(0)).T
    k, other = gram(np.asarray(x)), gram(np.asarray(y))
    expected = np.sum(k * other) / np.sqrt(np.sum(k**2) * np.sum(other**2))
    assert cka(x, y, ONE) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("index", [cka, svcca, matched_correlation])
def test_rows_of_padding_count_for_nothing(index):
    x, y = normal(0, 60, 4), normal(1, 60, 4)
    put = lambda v: jnp.concatenate([v, 1e3 * normal(2, 7, 4)])
    weight = jnp.concatenate([ONE, jnp.zeros(7)])
    padded = index(put(x), put(y), weight)
    assert padded == pytest.approx(float(index(x, y, ONE)), rel=1e-12)


@pytest.mark.parametrize("index", [cka, svcca])
def test_activations_that_do_not_vary_are_like_none(index):
    assert jnp.isnan(index(jnp.ones((60, 3)), normal(0, 60, 3), ONE))


def test_matched_correlation_is_the_best_over_all_permutations():
    x, y = normal(0, 60, 4), normal(1, 60, 4)
    table = np.corrcoef(x.T, y.T)[:4, 4:]
    best = max(
        table[range(4), list(p)].mean() for p in itertools.permutations(range(4))
    )
    assert matched_correlation(x, y, ONE) == pytest.approx(best, rel=1e-12)
    dead = y.at[:, 0].set(1.0)
    assert jnp.isfinite(matched_correlation(x, dead, ONE))


def test_svcca_of_as_many_neurons_as_samples_is_refused():
    with pytest.raises(simbias.BadInput, match="more samples than neurons, got 60"):
        svcca(normal(0, 60, 60), normal(1, 60, 3), ONE)


# Networks side by side


def a_pair(fork=0):
    one, two = (mlp(jax.random.key(i), (4, 5, 10)) for i in (0, 1))
    return one, two, side_by_side(one, two, fork=fork)


def test_each_of_several_networks_descends_on_rows_of_its_own():
    one, two, both = a_pair()
    x, y = normal(0, 12, 4), jnp.eye(10)[jnp.arange(12) % 10]
    y = jnp.concatenate([y, y[::-1]], axis=1)
    weight = jnp.ones(12)

    def shared(networks):
        out, _ = SideBySide(networks, both.step, both.fork).on_sample(x, weight)
        return shared_cross_entropy(out, y, weight)

    def alone(network, rows, columns):
        out = jax.vmap(network)(x[rows])
        return cross_entropy(out, y[rows, columns], weight[rows])

    @jax.jit
    def gradients(one, two):
        first = jax.grad(alone)(one, slice(0, 6), slice(0, 10))
        second = jax.grad(alone)(two, slice(6, 12), slice(10, 20))
        return jax.grad(shared)((one, two)), (first, second)

    found, expected_ones = gradients(one, two)
    for mine, expected in zip(
        jax.tree.leaves(found), jax.tree.leaves(expected_ones), strict=True
    ):
        np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-15)


def test_before_the_fork_all_networks_see_the_same_rows():
    one, _, _ = a_pair()
    twins = side_by_side(one, one, fork=2)
    x, weight = normal(0, 12, 4), jnp.ones(12)
    for step in range(3):
        assert int(twins.step.value) == step
        out, twins = twins.on_sample(x, weight)
        first, second = out[:6, :10], out[6:, 10:]
        if step < 2:
            np.testing.assert_array_equal(out[:6, 10:], first)
            np.testing.assert_array_equal(out[6:], 0)
        else:
            np.testing.assert_allclose(second, jax.vmap(one)(x[6:]), rtol=1e-12)
            np.testing.assert_array_equal(out[:6, 10:], 0)
    assert isinstance(twins.fork, Buffer)


def test_a_batch_that_cannot_be_shared_is_refused():
    _, _, both = a_pair()
    with pytest.raises(simbias.BadInput, match="`batch` must be a multiple of 2"):
        both.on_sample(normal(0, 7, 4), jnp.ones(7))


@pytest.fixture(scope="module")
def three_networks():
    make = lambda key: layer_similarity.make(key, n=40, n_test=200, m=8)
    return jax.jit(make)(jax.random.key(0))


def test_every_network_has_an_accuracy_of_its_own(three_networks):
    data, three = three_networks
    found = jax.jit(AccuracyOfEach())(three, data)
    assert found.shape == (2, 3)
    right = np.argmax(jax.vmap(three.networks[1])(data.x), 1) == np.argmax(
        data.y[:, 10:20], 1
    )
    assert found[0, 1] == pytest.approx(right.mean())
    # The third learns odd or even.
    label = np.argmax(data.y[:, :10], 1)
    np.testing.assert_array_equal(np.argmax(data.y[:, 20:], 1), label % 2)


def test_no_index_sees_a_rotation_and_all_are_one_of_the_same():
    then, now = normal(3, 60, 12), normal(4, 60, 12)
    turn, _ = jnp.linalg.qr(normal(5, 12, 12))
    for index in (svcca, cka):
        assert float(index(now, now, ONE)) == pytest.approx(1, abs=1e-12)
        plain, turned = index(then, now, ONE), index(3 * then @ turn, now, ONE)
        assert float(turned) == pytest.approx(float(plain), abs=1e-12)
    # Any invertible map, for the canonical correlation.
    mapped = now + now @ turn / 2
    assert float(svcca(mapped, now, ONE, share=1.0)) == pytest.approx(1, abs=1e-12)
    permuted = matched_correlation(now[:, ::-1], now, ONE)
    assert float(permuted) == pytest.approx(1, abs=1e-12)


def test_independent_columns_have_the_correlation_of_chance():
    # E tr(PQ) = pq/(n − 1) of projections on p and on q dimensions.
    n, p, q = 400, 50, 100
    squared = lambda one, two: similarity.svcca(
        one, two, jnp.ones(n), share=1.0, is_squared=True
    )
    seen = jax.jit(jax.vmap(squared))(normal(6, 8, n, p), normal(7, 8, n, q))
    # Eight draws: six standard errors of 0.006.
    assert float(jnp.mean(seen)) * (n - 1) / q == pytest.approx(1, abs=0.04)
