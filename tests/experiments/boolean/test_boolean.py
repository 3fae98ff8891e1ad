"""Parities, equations modulo 2, Cantor sets, and the networks written down for them."""

import functools
import itertools
import math

import equinox as eqx
import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
from parity_equations import solved
from scipy.linalg import hadamard

import simbias
from simbias.core import Dataset
from simbias.datasets.boolean.cantor import cantor
from simbias.datasets.boolean.parity import parity
from simbias.ensemble.plan import make_plan
from simbias.experiments.boolean import cantor as cantor_page
from simbias.experiments.boolean import parity as parity_experiment
from simbias.experiments.boolean import parity_gradient, parity_sparse
from simbias.experiments.boolean._learning_times import learning_times
from simbias.experiments.boolean._published_start import cantor_by_hand, published_start
from simbias.measures.boolean.gradient_over_parities import GradientOverParities
from simbias.measures.boolean.parity_correlations import ParityCorrelations
from simbias.networks.dense.deep_linear import deep_linear
from simbias.networks.dense.mlp import Mlp
from simbias.numerics.binary_equations import binary_equations
from simbias.numerics.walsh_hadamard import cube, walsh_coefficients
from simbias.theory.approximation_curve import approximation_curve
from simbias.theory.full_binary_rank import full_binary_rank

KEY = jax.random.key(0)
# Nearly all the time of this file is compiling.
jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def draw(law, **arguments):
    """One program for all that is drawn."""
    return jit(functools.partial(law, **arguments))(KEY)


# The law of the parity.


@pytest.mark.parametrize("k", [0, 1, 3, 40])
def test_labels_are_the_product_of_the_chosen_bits(k):
    data = draw(parity, n=300, d=40, k=k)
    x, chosen = np.asarray(data.x), np.asarray(data.features[0]) > 0
    assert chosen.sum() == k
    assert set(np.unique(x)) == {-1.0, 1.0}
    np.testing.assert_array_equal(data.y[:, 0], np.prod(x[:, chosen], axis=1))


def test_signs_are_fair_and_independent_and_a_subset_does_not_depend_on_n():
    data, few = draw(parity, n=4000, d=40), draw(parity, n=10, d=40)
    np.testing.assert_array_equal(data.features, few.features)
    x = np.asarray(data.x)
    # 5 standard errors of a mean of 4000 signs, over 40 bits and 780 pairs.
    assert np.abs(x.mean(0)).max() < 5 / math.sqrt(4000)
    off = x.T @ x / 4000 - np.eye(40)
    assert np.abs(off).max() < 5 / math.sqrt(4000)


def test_fresh_rows_are_new_and_of_the_same_law():
    data = draw(parity, n=50, d=12)
    (x, y), (other, _) = data.fresh(jax.random.key(1), 50), data.fresh(KEY, 50)
    assert not np.array_equal(x, other)
    np.testing.assert_array_equal(y, data.fresh.label(x))


def test_noise_flips_its_share_of_labels_and_leaves_the_inputs():
    clean, noisy = draw(parity, n=4000, d=8), draw(parity, n=4000, d=8, flips=0.05)
    np.testing.assert_array_equal(clean.x, noisy.x)
    np.testing.assert_allclose(noisy.mean, 0.9 * clean.y, rtol=1e-15)
    flipped = np.mean(np.asarray(clean.y != noisy.y))
    assert abs(flipped - 0.05) < 5 * math.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"k": 11}, "k"),
        ({"k": -1}, "k"),
        ({"k": True}, "k"),
        ({"d": 0}, "d"),
        ({"n": 0}, "n"),
        ({"flips": 1.5}, "flips"),
        ({"flips": -0.1}, "flips"),
    ],
)
def test_a_parity_that_there_is_not_is_refused_by_name(wrong, name):
    with pytest.raises(simbias.BadInput, match=f"`{name}`"):
        parity(KEY, **wrong)


# The transform.


def test_the_transform_is_the_product_with_the_matrix_of_hadamard():
    values = np.random.default_rng(0).normal(size=(32, 3))
    found = jit(walsh_coefficients)(jnp.asarray(values))
    np.testing.assert_allclose(found, hadamard(32) @ values / 32, atol=1e-15)
    # Parseval.
    np.testing.assert_allclose(
        np.sum(np.asarray(found) ** 2, 0), np.mean(values**2, 0), rtol=1e-13
    )


def test_the_coefficient_of_a_parity_stands_at_its_number():
    x = cube(5)
    numbers = (0, 1, 6, 31)
    chosen = [[i for i in range(5) if number >> i & 1] for number in numbers]
    parities = np.stack([np.prod(x[:, bits], axis=1) for bits in chosen], axis=1)
    found = jit(walsh_coefficients)(jnp.asarray(parities))
    np.testing.assert_array_equal(found, np.eye(32)[:, numbers])
    np.testing.assert_array_equal(x[0], np.ones(5))


@pytest.mark.parametrize("d", [0, 15, True])
def test_a_cube_too_large_to_enumerate_is_refused_by_name(d):
    with pytest.raises(simbias.BadInput, match="`d` must be from 1 to 14"):
        cube(d)


def test_values_at_part_of_a_cube_are_refused_by_name():
    with pytest.raises(simbias.BadInput, match="`values`"):
        walsh_coefficients(jnp.ones(12))
    with pytest.raises(simbias.BadInput, match="`d` must be from 1 to 14"):
        parity_gradient.make(KEY, d=15)


# What the gradient knows of the parity.


def facts(d, law):
    data, _ = draw(parity_gradient.make, d=d)
    network = law(d)
    measure = GradientOverParities()
    return data, network, jit(measure)(network, data)


@pytest.mark.parametrize("depth", [1, 2])
def test_the_variance_over_parities_is_the_law_by_enumerating_all_of_them(depth):
    d = 3
    widths = (d, *[7] * depth, 1)
    data, network, found = facts(d, lambda _: published_start(KEY, widths, 0.1))
    flat, unravel = jax.flatten_util.ravel_pytree(network)
    chosen = np.linspace(0, flat.size - 1, 16).round().astype(int)

    def loss(flat, labels):
        return jnp.mean((jax.vmap(unravel(flat))(data.x)[:, 0] - labels) ** 2)

    x = np.asarray(data.x)
    every = [s for r in range(d + 1) for s in itertools.combinations(range(d), r)]
    labels = jnp.asarray(np.stack([np.prod(x[:, list(s)], axis=1) for s in every]))
    gradients = jit(jax.vmap(jax.grad(loss), (None, 0)))(flat, labels)[:, chosen]
    variance = np.var(np.asarray(gradients), axis=0)
    np.testing.assert_allclose(found[:, 0], variance, rtol=1e-10, atol=1e-16)
    value = lambda flat: jax.vmap(unravel(flat))(data.x)[:, 0]
    g = np.asarray(jit(jax.jacobian(value))(flat))[:, chosen]
    points, energy = len(x), np.mean(g**2, axis=0)
    law = 4 * (energy / points - (g[0] / points) ** 2)
    np.testing.assert_allclose(law, variance, rtol=1e-10, atol=1e-16)
    # Both lemmas: the one that the proof needs is an equality, the other is weaker.
    correlations = np.asarray(labels) @ g / points
    np.testing.assert_allclose(found[:, 1], energy / points, rtol=1e-10)
    np.testing.assert_allclose(
        np.mean(correlations**2, axis=0), energy / points, rtol=1e-10
    )
    assert np.all(np.mean(correlations, axis=0) ** 2 <= energy / points)


def test_a_linear_function_has_the_variance_known_by_hand():
    # f = w·x: g = x_i, E g² = 1 and g(1) = 1.
    d = 4
    _, _, found = facts(d, lambda d: deep_linear(KEY, (d, 1), law="lecun"))
    np.testing.assert_allclose(found[:, 0], 4 * (2.0**-d - 4.0**-d), rtol=1e-12)
    # Of d dictators one has the correlation 1.
    np.testing.assert_allclose(found[:, 2], 4 * (1 / d - 1 / d**2), rtol=1e-12)


@pytest.mark.parametrize("d", [5, 6])
def test_no_parity_of_fewer_bits_correlates_and_a_majority_does(d):
    data, network = draw(parity_gradient.make, d=d)
    own, fewer, votes = jit(ParityCorrelations())(network, data)
    k = 2 * ((d + 1) // 2 // 2) + ((d + 1) // 2) % 2
    odd = k - 1 + k % 2
    assert (own, fewer) == (1, 0)
    expected = math.comb(odd - 1, (odd - 1) // 2) / 2 ** (odd - 1)
    assert float(votes) == pytest.approx(expected, rel=1e-12)


# Equations modulo 2.


def _all_solutions(lhs, rhs):
    m, d = lhs.shape
    every = np.array(list(itertools.product([0, 1], repeat=d)))
    return every[np.all((every @ lhs.T) % 2 == rhs, axis=1)]


def test_elimination_finds_what_trying_all_finds():
    rng = np.random.default_rng(1)
    solve = jit(jax.vmap(binary_equations))
    for m, d in ((3, 4), (4, 4), (7, 4)):
        lhs = rng.integers(0, 2, (60, m, d))
        rhs = rng.integers(0, 2, (60, m))
        found = solve(jnp.asarray(lhs, bool), jnp.asarray(rhs, bool))
        for i in range(60):
            known = _all_solutions(lhs[i], rhs[i])
            assert bool(found.is_consistent[i]) == (len(known) > 0)
            assert bool(found.is_unique[i]) == (len(known) == 1)
            if len(known):
                assert len(known) == 2 ** (d - int(found.rank[i]))
                unknowns = np.asarray(found.unknowns[i]).astype(int)
                assert unknowns.tolist() in known.tolist()


def test_more_unknowns_than_fit_a_word_are_refused_by_name():
    with pytest.raises(simbias.BadInput, match="`lhs` must have at most 31"):
        binary_equations(jnp.zeros((2, 32), bool), jnp.zeros(2, bool))


def test_the_probability_of_full_rank_is_that_of_counting():
    assert full_binary_rank(20, 10) == pytest.approx(0.999025, abs=5e-7)
    assert full_binary_rank(3, 4) == 0
    # All 2⁶ matrices of 3 × 2.
    every = itertools.product([0, 1], repeat=6)
    full = sum(
        len(_all_solutions(np.reshape(m, (3, 2)), np.zeros(3))) == 1 for m in every
    )
    assert full_binary_rank(3, 2) == full / 64
    with pytest.raises(simbias.BadInput, match="`m`"):
        full_binary_rank(0, 2)


def test_one_flip_in_a_system_is_enough_to_lose_the_subset():
    d = 6
    data = draw(parity, n=100 * 2 * d, d=d, flips=0.0)
    share = jit(solved)
    assert share(data)[0] > 0.95
    y = data.y.at[:: 2 * d].multiply(-1)
    spoilt = Dataset(data.x, y, data.weight, data.mean, data.features)
    # Some systems have a solution none the less: it is not I.
    assert share(spoilt)[0] == 0


# Networks written down by hand.


def parity_by_hand(is_relevant):
    """χ_I by |I| + 1 ReLUs without a bias at the output; the other neurons are 0.

    With s the number of −1 among the bits of I, s = (|I| − Σ_{i ∈ I} xᵢ)/2,

        χ_I(x) = (−1)ˢ = 1 − 2 (s)₊ + 4 Σ_{0<j<|I|} (−1)^{j+1} (s − j)₊

    and the 1 is the ReLU of a constant.

    Args:
        is_relevant: 1 for the bits of I, 0 for the others.
    """
    d = is_relevant.shape[0]
    size = jnp.sum(is_relevant)
    j = jnp.arange(d, dtype=is_relevant.dtype)
    slopes = jnp.where(j == 0, -2, -4 * jnp.cos(jnp.pi * j))
    slopes = jnp.where(j < size, jnp.round(slopes), 0)
    in_use = (slopes != 0)[:, None]
    rows = jnp.where(in_use, -is_relevant[None, :] / 2, 0)
    w = jnp.concatenate([rows, jnp.zeros_like(rows[:1])])
    b = jnp.append(jnp.where(in_use[:, 0], size / 2 - j, 0), 1.0)
    a = jnp.append(slopes, 1.0)[None, :]
    return Mlp((w, a), (b, None))


@pytest.mark.parametrize("k", [0, 1, 2, 5, 9])
def test_the_parity_network_is_right_on_the_whole_cube_with_k_plus_one_neurons(k):
    d = 9
    data = draw(parity, n=1, d=d, k=k)
    network = parity_by_hand(data.features[0])
    x = jnp.asarray(cube(d))
    np.testing.assert_allclose(
        jit(jax.vmap(network))(x), data.fresh.label(x), atol=1e-12, rtol=0
    )
    assert int(np.sum(np.asarray(network.weights[1]) != 0)) <= k + 1


def _in_cantor(x, levels):
    """Digits in base three of every coordinate, as the definition has it."""
    x, inside = (x + 1) / 2, np.ones(x.shape[0], bool)
    for _ in range(levels):
        x = 3 * x
        digit = np.floor(x)
        inside &= np.all(digit != 1, axis=1)
        x = x - digit
    return inside


@pytest.mark.parametrize("levels", [1, 2, 3, 4, 5, 6])
def test_the_cantor_network_is_right_wherever_all_coordinates_agree(levels):
    network = cantor_by_hand(2, levels)
    x = np.random.default_rng(2).uniform(-1, 1, 20_000)
    points = np.stack([x, x], axis=1)
    f = jit(jax.vmap(network))(jnp.asarray(points))[:, 0]
    np.testing.assert_array_equal(np.asarray(f) > 0, _in_cantor(points, levels))
    hidden = network.weights[:-1]
    assert len(hidden) == (1 if levels == 2 else levels)
    assert max(w.shape[0] for w in hidden) <= 6


# The Cantor set.


@pytest.mark.parametrize("degree", [-2.0, 0.0, 2.0, 100.0])
def test_rows_lie_where_their_labels_say_and_gaps_have_the_odds_of_the_curve(degree):
    n, levels = 20_000, 4
    data = draw(cantor, n=n, d=3, levels=levels, degree=degree)
    x, is_positive = np.asarray(data.x), np.asarray(data.y[:, 0]) > 0
    np.testing.assert_array_equal(_in_cantor(x, levels), is_positive)
    law = approximation_curve(levels, degree)
    for j in range(levels + 1):
        seen = np.mean(~_in_cantor(x, j) | is_positive)
        # Five standard errors.
        assert abs(seen - law[j]) < 5 * math.sqrt(law[j] * (1 - law[j]) / n) + 1e-12
    assert np.abs(x.mean(0)).max() < 5 * 0.8 / math.sqrt(n)


def test_the_curve_of_even_gaps_is_known_by_hand():
    expected = [1.5 - 2 ** (-j / 5) for j in range(6)]
    np.testing.assert_allclose(approximation_curve(5, 0.0), expected, rtol=1e-15)
    np.testing.assert_allclose(approximation_curve(3, 500.0), [0.5, 0.5, 0.5, 1])
    with pytest.raises(simbias.BadInput, match="`levels`"):
        approximation_curve(0, 0.0)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"levels": 0}, "levels"),
        ({"d": 0}, "d"),
        ({"n": -1}, "n"),
        ({"degree": math.inf}, "degree"),
    ],
)
def test_a_cantor_set_that_there_is_not_is_refused_by_name(wrong, name):
    with pytest.raises(simbias.BadInput, match=f"`{name}`"):
        cantor(KEY, **wrong)
    if name in ("levels", "d"):
        with pytest.raises(simbias.BadInput, match=f"`{name}`"):
            cantor_by_hand(**{"d": 2, "levels": 2, **wrong})


def test_the_network_by_hand_is_no_wider_or_deeper_than_those_trained():
    _, trained = eqx.filter_eval_shape(cantor_page.make, KEY, depth=5)
    known = cantor_by_hand(5, cantor_page.LEVELS)
    assert len(known.weights) == len(trained.weights)
    for w, v in zip(known.weights, trained.weights, strict=True):
        assert w.shape[0] <= v.shape[0]


# The start, and times.


def test_the_published_start_is_the_normal_law_cut_at_two_deviations():
    network = draw(published_start, widths=(100, 200, 1), bias=0.1)
    z = 10 * np.asarray(network.weights[0]).ravel()
    assert np.abs(z).max() < 2
    # Variance of the cut law: 1 − 2·2φ(2)/(2Φ(2) − 1).
    density = math.exp(-2) / math.sqrt(2 * math.pi)
    variance = 1 - 4 * density / math.erf(math.sqrt(2))
    assert z.var() == pytest.approx(variance, rel=0.03)
    np.testing.assert_array_equal(network.biases[0], np.full(200, 0.1))


def test_a_member_that_is_right_at_the_start_counts_as_after_one_step():
    import xarray as xr

    rows = [[0.95, 1.0, 1.0], [0.5, 0.9, 1.0], [0.5, 0.5, 0.5]]
    times = {"time": [0.0, 1.0, 2.0]}
    seen = xr.DataArray(rows, dims=("seed", "time"), coords=times)
    found = learning_times(xr.Dataset({"accuracy": seen}), 0.01)
    np.testing.assert_array_equal(found, [0.01, 1.0, np.nan])


@pytest.mark.parametrize(("d", "expected"), [(8, -0.5), (16, -1.5)])
def test_what_a_neuron_sees_of_a_parity_shrinks_as_the_first_layer_law_says(
    d, expected
):
    # E χ_T(x) 1[w·x + b > 0] over all x, T of one and of two bits, at d and at 4d by
    # the law of the other bits' sum; weights and bias are those of torch.
    bits = 1 if expected == -0.5 else 2
    rng = np.random.default_rng(0)

    def size(d):
        w, b = rng.uniform(-1, 1, (20_000, d)) / d**0.5, rng.uniform(-1, 1, 20_000)
        rest = np.sqrt(np.sum(w[:, bits:] ** 2, axis=1))
        total = 0
        for signs in itertools.product((-1, 1), repeat=bits):
            shift = b / d**0.5 + w[:, :bits] @ np.array(signs)
            total = total + np.prod(signs) * scipy.stats.norm.cdf(shift / rest)
        return np.sqrt(np.mean((total / 2**bits) ** 2))

    slope = np.log(size(4 * d) / size(d)) / np.log(4)
    assert slope == pytest.approx(expected, abs=0.12)


def test_every_size_of_the_grid_is_checked_with_the_ends_of_the_numbers():
    experiment = parity_sparse.experiment("smoke", k=(2, 9), d=(8, 16))
    with pytest.raises(ValueError, match="`k` must be a whole number from 0 to d = 8"):
        make_plan(experiment)


@pytest.mark.parametrize(
    ("module", "cell", "named"),
    [
        (parity_gradient, {"d": 2}, "`d` must be from 3 to 14"),
        (parity_gradient, {"d": 15}, "`d` must be from 1 to 14"),
        (parity_experiment, {"d": 0}, "`d` must be a positive integer"),
    ],
)
def test_sizes_out_of_range_are_named_before_anything_runs(module, cell, named):
    with pytest.raises(ValueError, match=named):
        make_plan(module.experiment("smoke", **cell))
