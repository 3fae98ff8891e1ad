"""Slab data, the network and the measures of the randomised inputs, attacks."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from sklearn.metrics import roc_auc_score

from simbias.analysis.ensemble_auc import ensemble_auc
from simbias.attacks import projected_ascent
from simbias.core import Dataset
from simbias.datasets.shortcuts.slabs import slabs
from simbias.flows.descent import Descent
from simbias.losses import cross_entropy, logistic
from simbias.measures._randomised import area_under_curve
from simbias.measures.randomised.adversarial_accuracy import AdversarialAccuracy
from simbias.measures.randomised.decision_plane import DecisionPlane
from simbias.measures.randomised.feature_dependence import FeatureDependence
from simbias.measures.randomised.randomised_logits import RandomisedLogits
from simbias.measures.randomised.randomised_scores import RandomisedScores
from simbias.measures.randomised.universal_perturbation import UniversalPerturbation
from simbias.measures.risk.train_sign_accuracy import TrainSignAccuracy
from simbias.networks.adversarial import Adversarial
from simbias.networks.dense.mlp import Mlp
from simbias.networks.dense.mlp_init import softmax_pair, torch_default
from simbias.stops.train_accuracy_above import TrainAccuracyAbove

KEY = jax.random.key(0)
N = 20_000


# Nearly all the time of this file is compiling.
jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@functools.partial(jit, static_argnames=("simple", "others"))
def compiled(noise, *, simple, others):
    return slabs(KEY, n=N, d=4, n_test=1000, simple=simple, others=others, noise=noise)


@functools.cache
def draw(simple=2, others=3, noise=0.0):
    """A linear and three 3-slab coordinates, or a 5-slab and three 7-slab ones."""
    return compiled(jnp.float64(noise), simple=simple, others=others)


def coordinates(data):
    """z, and y > 0."""
    return np.asarray(data.x @ data.features.T), np.asarray(data.y[:, 0] > 0)


def linear(w, b=0.0):
    w = jnp.asarray(w, jnp.float64)
    return Mlp((w[None, :],), (jnp.full(1, b),))


# The law.


@pytest.mark.parametrize(
    ("k", "negative", "positive"),
    [
        (3, {(0, 0.8 / 3): 1}, {(1.4 / 3, 1): 1}),
        (5, {(0, 0.12): 3 / 4, (0.76, 1): 1 / 4}, {(0.32, 0.56): 1}),
        (
            7,
            {(0, 0.4 / 7): 1 / 2, (4 / 7, 4.8 / 7): 1 / 2},
            {(1.8 / 7, 2.6 / 7): 7 / 8, (6.2 / 7, 1): 1 / 8},
        ),
    ],
)
def test_slabs_lie_where_the_published_code_puts_them_with_its_odds(
    k, negative, positive
):
    z, is_positive = coordinates(draw() if k == 3 else draw(5, 7))
    z = z[:, 0 if k == 5 else 1]
    for law, column in ((negative, z[~is_positive]), (positive, z[is_positive])):
        count = column.size
        seen = 0.0
        for (low, high), share in law.items():
            inside = (abs(column) >= low - 1e-12) & (abs(column) <= high + 1e-12)
            seen += inside.mean()
            # Five standard errors.
            band = 5 * np.sqrt(share * (1 - share) / count)
            assert abs(inside.mean() - share) <= band
            # Signs are fair, and the slab is filled evenly.
            assert abs(np.sign(column[inside]).mean()) < 5 / np.sqrt(inside.sum())
            middle = (abs(column[inside]) - low) / (high - low)
            assert abs(middle.mean() - 0.5) < 5 / np.sqrt(12 * inside.sum())
        assert seen == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("k", "second"), [(5, 0.1984), (7, 0.19864)])
def test_neither_mean_nor_square_of_a_coordinate_sees_the_class(k, second):
    z, is_positive = coordinates(draw(5, 7))
    z = z[:, 0 if k == 5 else 1]
    for column in (z[is_positive], z[~is_positive]):
        band = 5 * 0.35 / np.sqrt(column.size)  # the standard deviation of z² is ≤ 0.35
        np.testing.assert_allclose((column**2).mean(), second, atol=band)
        assert abs(column.mean()) < band


def test_classes_are_balanced_and_coordinates_independent_given_the_class():
    z, is_positive = coordinates(draw())
    assert abs(is_positive.mean() - 0.5) < 2.5 / np.sqrt(N)
    for column in (z[is_positive], z[~is_positive]):
        for power in (1, 2):
            correlation = np.corrcoef(column.T**power) - np.eye(4)
            assert abs(correlation).max() < 5 / np.sqrt(len(column))


def test_the_linear_coordinate_has_its_margin_and_its_noise():
    for noise in (0.0, 0.1):
        z, is_positive = coordinates(draw(noise=noise))
        margin = np.where(is_positive, 1, -1) * z[:, 0]
        is_noise = margin < 0.1 - 1e-12
        assert abs(is_noise.mean() - noise) <= 5 * np.sqrt(noise * (1 - noise) / N)
        assert margin.max() <= 1 + 1e-12
        assert margin.min() >= (-0.1 if noise else 0.1) - 1e-12
        # The best linear classifier.
        best = 1 - noise / 2
        assert abs((margin > 0).mean() - best) <= 5 * np.sqrt(best * (1 - best) / N)


def test_the_features_are_an_orthogonal_matrix_or_the_identity():
    q = draw().features
    np.testing.assert_allclose(q @ q.T, np.eye(4), atol=1e-14)
    assert abs(np.asarray(q)).max() < 0.999


def test_a_larger_sample_contains_the_smaller_and_keeps_the_test():
    plain = functools.partial(slabs, KEY, d=4, n_test=1, is_rotated=False)
    small, large = jit(lambda: (plain(n=1), plain(n=9)))()
    np.testing.assert_array_equal(small.x, large.x[:1])
    np.testing.assert_array_equal(small.test.x, large.test.x)
    assert np.array_equal(small.features, np.eye(4))


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"simple": 4}, "simple"),
        ({"others": 6}, "others"),
        ({"noise": -0.1}, "noise"),
        ({"noise": 1.5}, "noise"),
        ({"noise": 0.1, "simple": 5}, "noise"),
        ({"margin": 0.2}, "margin"),
        ({"margin": 0.0}, "margin"),
        ({"d": 0}, "d"),
    ],
)
def test_a_wrong_value_of_the_law_is_named(wrong, name):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        getattr(slabs, "__wrapped__", slabs)(KEY, **wrong)


# The network.


def test_the_network_is_its_formula():
    net = torch_default(KEY, d=3, m=5, depth=2, k=2, activation="tanh")
    net = dataclasses.replace(net, factor=1.5)
    x = np.array([0.3, -1.0, 2.0])
    h = x
    for w, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
        h = np.tanh(w @ h + b)
    expected = 1.5 * (net.weights[-1] @ h + net.biases[-1])
    np.testing.assert_allclose(net(jnp.asarray(x)), expected, rtol=1e-14)
    assert not net.has_kinks
    assert torch_default(KEY, d=3, m=5).has_kinks


def test_the_initial_law_is_that_of_torch():
    net = torch_default(KEY, d=9, m=300, depth=2)
    for w, b, inputs in zip(net.weights, net.biases, (9, 300, 300), strict=True):
        assert abs(w).max() <= inputs**-0.5
        # Variance of a uniform law; five standard errors.
        values = np.concatenate([np.ravel(w), b]) * inputs**0.5
        assert abs((values**2).mean() - 1 / 3) < 5 * np.sqrt(4 / 45 / values.size)


def test_layers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="layer 1 must have weights"):
        Mlp((jnp.ones((5, 3)), jnp.ones((1, 4))), (jnp.ones(5), jnp.ones(1)))
    with pytest.raises(ValueError, match="one array per layer"):
        Mlp((), ())


def test_one_logit_learns_as_the_difference_of_two():
    data = jax.tree.map(lambda v: v[:40], dataclasses.replace(draw(), test=None))
    one_hot = jnp.concatenate([data.y < 0, data.y > 0], axis=1).astype(jnp.float64)
    pair = torch_default(KEY, d=4, m=6, k=2)
    one = softmax_pair(KEY, d=4, m=6)
    flow = Descent(rate=0.3, batch=16, optimiser="momentum", weight_decay=0.01)

    @functools.partial(jit, static_argnums=2)
    def trained(net, y, loss):
        part = dataclasses.replace(data, y=y, mean=y)
        state = flow.init(net, part, loss, jax.random.key(7))
        step = lambda _, s: flow.step(s, part, loss, jnp.float64(1e9))
        return jax.vmap(jax.lax.fori_loop(0, 40, step, state).network)(data.x)

    expected = jnp.diff(trained(pair, one_hot, cross_entropy), axis=1)
    np.testing.assert_allclose(trained(one, data.y, logistic), expected, rtol=1e-9)
    # They did move.
    assert abs(expected - jnp.diff(jax.vmap(pair)(data.x), axis=1)).max() > 0.1


# The measures.


def test_the_area_under_the_curve_is_that_of_scikit_learn_with_ties_and_padding():
    rng = np.random.default_rng(0)
    score, label = np.round(rng.normal(size=300), 1), rng.random(300) < 0.3
    weight = (rng.random(300) < 0.8).astype(float)
    area = jit(area_under_curve)
    found = area(*map(jnp.asarray, (score, label, weight)))
    expected = roc_auc_score(label[weight > 0], score[weight > 0])
    assert float(found) == pytest.approx(expected, rel=1e-14)
    nothing = area(jnp.asarray(score), jnp.zeros(300, bool), jnp.asarray(weight))
    assert np.isnan(nothing)


def test_the_ensemble_has_the_area_of_the_mean_logit():
    rng = np.random.default_rng(0)
    values, label = rng.normal(size=(2, 3, 50)), np.where(rng.random(50) < 0.5, 1, -1)
    logits = xr.DataArray(values, dims=("randomised", "seed", "sample"))
    expected = [roc_auc_score(label > 0, v.mean(0)) for v in values]
    np.testing.assert_allclose(ensemble_auc(logits, label), expected, rtol=1e-14)
    values[0, 1, 2] = np.nan
    assert np.isnan(ensemble_auc(logits, label)[0])
    with pytest.raises(ValueError, match="`labels` must be one per sample"):
        ensemble_auc(logits, label[1:])
    with pytest.raises(ValueError, match="must have an axis 'seed'"):
        ensemble_auc(logits.isel(seed=0), label)


@jit
def randomised(net, data):
    scores, logits = RandomisedScores()(net, data), RandomisedLogits()(net, data)
    return scores[:, 0], scores[:, 1], logits


def test_a_network_of_the_simple_feature_alone_is_blind_to_the_others():
    data = draw()
    auc, accuracy, logits = randomised(linear(data.features[0]), data)
    assert auc[0] == auc[2] == accuracy[0] == accuracy[2] == 1
    # Four standard errors for 1000 samples.
    assert abs(auc[1] - 0.5) < 4 / np.sqrt(3 * 1000)
    assert abs(accuracy[1] - 0.5) < 2 / np.sqrt(1000)
    np.testing.assert_allclose(logits[2], logits[0], atol=1e-14)
    # The values are exchanged, none is new.
    np.testing.assert_allclose(np.sort(logits[1]), np.sort(logits[0]), atol=1e-14)


def test_a_network_of_other_features_is_blind_to_the_simple_one():
    data = draw()
    auc, _, logits = randomised(linear(data.features[2] + data.features[3]), data)
    assert float(auc[0]) == pytest.approx(float(auc[1]), abs=1e-12)
    np.testing.assert_allclose(logits[1], logits[0], atol=1e-14)
    # All of the rest comes from one sample.
    np.testing.assert_allclose(np.sort(logits[2]), np.sort(logits[0]), atol=1e-14)


def test_a_simple_part_of_two_features_is_their_span():
    data = draw()
    mixed = jnp.stack([data.features[0] + data.features[1], data.features[1] * 3])
    skew = dataclasses.replace(data, features=mixed)
    net = torch_default(KEY, d=4, m=5)
    found = jit(RandomisedLogits(2))
    np.testing.assert_allclose(found(net, skew), found(net, data), rtol=1e-9)


def test_measures_of_randomised_inputs_name_what_is_missing():
    data = draw()
    with pytest.raises(ValueError, match="`simple` must be at most"):
        jax.eval_shape(RandomisedScores(9), linear(data.features[0]), data)
    two = Mlp((jnp.ones((2, 4)),), (jnp.ones(2),))
    with pytest.raises(ValueError, match="a network of one output"):
        jax.eval_shape(RandomisedScores(), two, data)


def test_the_dependence_on_independent_inputs_is_the_share_of_the_variance():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(N, 3)))
    y = jnp.asarray(np.sign(rng.normal(size=(N, 1))))
    part = Dataset(x, y, jnp.ones(N), y, jnp.eye(3))
    data = dataclasses.replace(part, test=part)
    found = jit(FeatureDependence())(linear([3.0, 4.0, 0.0], b=1.0), data)
    np.testing.assert_allclose(found[:, 1], [0.36, 0.64, 0], atol=0.03)
    assert found[2, 1] == 0
    # Both numbers are of the order and the shares alone, not of the scale.
    small = jit(FeatureDependence())(linear([3e-3, 4e-3, 0.0], b=1e-3), data)
    np.testing.assert_allclose(small, found, rtol=1e-9)


def test_the_plane_shows_the_boundary_of_a_known_network():
    data = draw()
    # z₀ + z₂ > 0: no other coordinate matters, so every share is 0 or 1.
    net = linear(data.features[0] + data.features[2])
    found = jit(DecisionPlane(points=6))(net, data)
    z = DecisionPlane(points=6).coords()["simple_value"]
    above = z[:, None] + z[None, :]
    is_off = abs(above) > 1e-9
    np.testing.assert_array_equal(found[is_off], (above > 0)[is_off])


# Attacks.


@pytest.mark.parametrize(
    ("norm", "worst"), [("l2", [-0.3, 0.4]), ("linf", [-0.5, 0.5])]
)
def test_the_ascent_on_a_linear_network_is_the_closed_form(norm, worst):
    x = jnp.asarray([[1.0, 2.0], [0.5, -1.0], [3.0, 3.0]])
    y, weight = jnp.asarray([[1.0], [-1.0], [1.0]]), jnp.asarray([1.0, 1.0, 0.0])
    net = linear([3.0, -4.0])
    ascent = functools.partial(projected_ascent, radius=0.5, norm=norm, steps=7)
    found = jit(lambda *data: ascent(jax.vmap(net), logistic, *data))(x, y, weight)
    # Padding stays.
    expected = np.outer([1, -1, 0], worst)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    robust = Adversarial(net, radius=0.5, norm=norm, steps=7)
    value, gradient = robust.value_and_gradient(logistic, x, y, weight)
    at = lambda net: logistic(jax.vmap(net)(x + expected), y, weight)
    there, slope = eqx.filter_value_and_grad(at)(net)
    assert float(value) == pytest.approx(float(there), rel=1e-12)
    np.testing.assert_allclose(gradient.inner.weights[0], slope.weights[0], rtol=1e-12)


def test_attacks_on_the_linear_coordinate_break_what_is_within_reach():
    data = draw()
    net = linear(data.features[0])
    found = jit(AdversarialAccuracy(radius=0.3, rows=1000))(net, data)
    # Of |z₀| ~ U(0.1, 1); four standard errors.
    assert abs(found[0] - 7 / 9) < 4 * np.sqrt(7 / 9 * 2 / 9 / 1000)
    assert found[1] == pytest.approx(1)
    # Nothing moves the inputs of a network that is the same everywhere.
    same = linear(0 * data.features[0], b=1.0)
    assert np.isnan(jit(AdversarialAccuracy(radius=0.3, rows=1000))(same, data)[1])
    moved = jit(UniversalPerturbation(radius=0.3))(net, data)
    # One direction breaks one class.
    assert abs(moved[0] - 8 / 9) < 4 * np.sqrt(8 / 9 * 1 / 9 / 1000)
    assert moved[1] == pytest.approx(1)
    far = jit(UniversalPerturbation(radius=5.0))(net, data)
    assert abs(far[0] - 0.5) < 2 / np.sqrt(1000)
    # By the sign of the label both, as far as an attack on each input alone.
    each = UniversalPerturbation(radius=0.3, is_signed=True)
    np.testing.assert_allclose(jit(each)(net, data), found, rtol=1e-12)
    all_of_them = UniversalPerturbation(radius=1.01, is_signed=True)
    assert jit(all_of_them)(net, data)[0] == 0


def test_samples_at_which_the_network_is_flat_add_nothing_to_the_direction():
    data, rest = draw(), jnp.full(1, 0.0)
    weights = (data.features[:1], jnp.ones((1, 1)))
    half = Mlp(weights, (rest, jnp.full(1, -0.01)))
    found = jit(UniversalPerturbation(radius=0.3))(half, data)
    # Everything that is not flat points one way.
    assert found[1] == pytest.approx(1)
    assert 0 <= found[0] <= 1


# The stop.


def test_a_member_rests_once_enough_real_samples_are_right():
    x = jnp.arange(-4.0, 6.0)[:, None]
    y = jnp.where(x > 0.5, 1.0, -1.0)
    weight = jnp.asarray([1.0] * 8 + [0.0] * 2)
    data = Dataset(x, y, weight, y, jnp.ones((1, 1)))
    # Wrong at x = 1 only, and on the padding.
    net = linear([1.0], b=-1.5)
    padded = dataclasses.replace(data, y=y.at[8:].set(-1.0))
    assert bool(TrainAccuracyAbove(7 / 8)(net, padded))
    assert not bool(TrainAccuracyAbove(0.9)(net, padded))
    assert float(TrainSignAccuracy()(net, padded)) == 7 / 8
    with pytest.raises(ValueError, match="`level` must be at most 1"):
        TrainAccuracyAbove(1.5)
