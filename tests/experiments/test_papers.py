"""Published systems: their laws, measures and oracles, and published outputs."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize
from tree import ROOT

from simbias.core import Dataset, Status
from simbias.datasets.separable.hinted import hinted
from simbias.datasets.separable.orthogonally_separable import orthogonally_separable
from simbias.datasets.separable.symmetric_separable import symmetric_separable
from simbias.datasets.separable.xor_clusters import xor_clusters
from simbias.experiments import xor_clusters as wide
from simbias.experiments import xor_four_neurons as four
from simbias.experiments.neuron_groups._on_their_own import on_their_own
from simbias.experiments.neuron_groups._phases import DIRECTIONS, rates, sample
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import log_logistic, logistic
from simbias.measures.clusters.direction_groups import DirectionGroups
from simbias.measures.clusters.embedding_distance import EmbeddingDistance
from simbias.measures.neurons.angular_deviation import AngularDeviation
from simbias.measures.neurons.neuron_weights import NeuronWeights
from simbias.measures.risk.linearity_defect import LinearityDefect
from simbias.measures.risk.margin import Margin
from simbias.networks.two_layer import TwoLayer
from simbias.networks.two_layer_init import balanced
from simbias.stops.margin_above import MarginAbove
from simbias.theory.early_limit import early_limit
from simbias.theory.extremal_vectors import extremal_vectors
from simbias.theory.max_margin import max_margin
from simbias.theory.xor_certificate import xor_certificate
from simbias.verbs.simulate import solve

KEY = jax.random.key(0)
REFERENCE = ROOT / "tests" / "reference"


def load(name):
    with np.load(REFERENCE / name) as file:
        arrays = dict(file)
    x, y = jnp.asarray(arrays["X"]), jnp.asarray(arrays["y"])[:, None]
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.eye(2)), arrays


def neurons(w, a):
    return TwoLayer(jnp.asarray(w, jnp.float64), jnp.asarray(a, jnp.float64)[:, None])


# XOR-like clusters: the law


def test_every_cluster_has_the_same_noise_and_it_stays_inside_the_clip():
    data = xor_clusters(KEY, n=4000, angle=1.0, sigma=0.1, clip=0.2)
    e, u = np.asarray(data.features)
    np.testing.assert_allclose(e @ u, math.cos(1.0), rtol=1e-12)
    clusters = np.asarray(data.x).reshape(4, 1000, 2)
    z = clusters - np.array([e, -e, u, -u])[:, None, :]
    radius = np.linalg.norm(z, axis=2)
    assert radius.max() < 0.2
    np.testing.assert_allclose(radius, radius[[0, 0, 0, 0]], rtol=1e-9)
    # r²/2σ² is exponential, cut at 2: mean 1 − 2/(e² − 1), 5 standard errors of 1000.
    expected = 2 * 0.1**2 * (1 - 2 / math.expm1(2.0))
    assert abs((radius[0] ** 2).mean() / expected - 1) < 5 / math.sqrt(1000)
    np.testing.assert_array_equal(data.y[:, 0], np.repeat([-1.0, 1.0], 2000))


def test_a_right_angle_and_reflections_make_the_sample_symmetric_in_both_axes():
    data = xor_clusters(KEY, n=80, sigma=0.1, is_reflected=True)
    order = lambda x: x[np.lexsort(np.round(x, 9).T)]
    for label in (-1, 1):
        x = np.asarray(data.x)[np.asarray(data.y)[:, 0] == label]
        for mirror in ([1, -1], [-1, 1]):
            np.testing.assert_allclose(order(x * mirror), order(x), atol=1e-12)


@pytest.mark.parametrize(("n", "is_reflected"), [(10, False), (12, True)])
def test_a_size_that_does_not_split_into_clusters_is_refused(n, is_reflected):
    with pytest.raises(ValueError, match="`n` must be a multiple of"):
        xor_clusters(KEY, n=n, is_reflected=is_reflected)


@pytest.mark.parametrize(
    ("angle", "value", "directions"),
    [
        (math.pi / 2, 1 / 4, [0, 1, 0.5, -0.5]),
        (math.pi / 3, math.sqrt(3) / 8, [-1 / 6, 5 / 6, 0.5, -0.5]),
    ],
)
def test_point_clusters_have_the_known_landscape(angle, value, directions):
    data = xor_clusters(KEY, n=4, angle=angle, sigma=1e-9, clip=1e-8)
    found = extremal_vectors(data)
    # The scale of half_mse; logistic has half of it, 1/8 and √3/16.
    largest = np.abs(found.value) > (1 - 1e-6) * np.abs(found.value).max()
    np.testing.assert_allclose(np.abs(found.value[largest]), value, rtol=1e-6)
    x, y = found.direction[largest].T
    angles = np.sort(np.arctan2(y, x) / np.pi % 2)
    np.testing.assert_allclose(angles, np.sort(np.array(directions) % 2), atol=1e-6)


# Measures of condensed networks


def condensed(seed=0, spread=0.0):
    """Neurons on the features, several per direction and sign of a."""
    rng = np.random.default_rng(seed)
    angle = np.repeat([0, np.pi / 2, np.pi, -np.pi / 2], 5)
    angle = angle + spread * rng.uniform(-1, 1, angle.size)
    size = rng.uniform(0.5, 2, angle.size)
    w = size[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    return neurons(w, size * np.repeat([-1.0, 1.0, -1.0, 1.0], 5))


def test_a_condensed_network_is_one_of_four_neurons():
    data = xor_clusters(KEY, n=40)
    net = condensed()
    assert float(EmbeddingDistance()(net, data)) < 1e-14
    sums = DirectionGroups()(net, data)
    mass = np.linalg.norm(net.w, axis=1).reshape(4, 5) ** 2
    heavy = np.linalg.norm(np.asarray(sums), axis=1)
    # Groups: a > 0 near +e₁, +e₂, −e₁, −e₂, then a < 0.
    np.testing.assert_allclose(heavy[[4, 1, 6, 3]], mass.sum(1), rtol=1e-12)
    np.testing.assert_allclose(heavy[[0, 2, 5, 7]], 0, atol=0)
    assert float(AngularDeviation(quantile=1.0)(net, data)) < 1e-7


def test_the_distance_to_the_embedding_is_of_the_order_of_the_spread():
    data = xor_clusters(KEY, n=40)
    small, large = (
        float(EmbeddingDistance()(condensed(spread=s), data)) for s in (0.01, 0.1)
    )
    assert 0 < small < 0.01
    assert small < large < 0.2
    nothing = jax.tree.map(jnp.zeros_like, condensed())
    assert math.isnan(float(EmbeddingDistance()(nothing, data)))


@pytest.mark.long  # `simbias check xor_clusters` claims the same
def test_four_neurons_of_their_own_follow_a_condensed_network_and_no_other():
    data, net = xor_clusters(KEY, n=40), condensed()
    net = neurons(net.w / 10, net.a[:, 0] / 10)
    flow, times = ReluFlow(rtol=1e-7), (0.0, 5.0, 20.0)
    measures = {"sums": DirectionGroups(), "off": EmbeddingDistance()}
    run = solve(net, data, flow, logistic, times, measures)
    sums, off = run.records["sums"], run.records["off"]
    follow = lambda v: on_their_own(v, off, data, flow, 60 + np.array(times))
    # Forty times `rtol`, see docs/exact_flow.md.
    assert follow(sums).max() < 4e-6
    # Groups that grow twice as fast are half their size away.
    twice = sums * np.array([1.0, 1.0, 2.0])[:, None, None]
    np.testing.assert_allclose(follow(twice), [0, 0, 0.5], atol=4e-6)


@pytest.mark.parametrize("is_mass_weighted", [False, True])
def test_the_quantile_of_the_angles_agrees_with_sorting(is_mass_weighted):
    data, net = xor_clusters(KEY, n=8), condensed(spread=0.3)
    measure = AngularDeviation(quantile=0.5, is_mass_weighted=is_mass_weighted)
    w = np.asarray(net.w)
    angle = np.abs(np.arctan2(np.abs(w).min(1), np.abs(w).max(1)))
    order = np.argsort(angle)
    mass = (w**2).sum(1) if is_mass_weighted else np.ones(len(w))
    below = np.cumsum(mass[order]) / mass.sum()
    expected = angle[order][np.argmax(below >= 0.5 - 1e-9)]
    np.testing.assert_allclose(measure(net, data), expected, rtol=1e-9)


def test_the_deviation_from_the_group_does_not_see_where_the_group_points():
    data, net = xor_clusters(KEY, n=8), condensed()
    c, s = math.cos(0.2), math.sin(0.2)
    turned = neurons(net.w @ jnp.array([[c, s], [-s, c]]), net.a[:, 0])
    assert float(AngularDeviation(centre="groups")(turned, data)) < 1e-7
    np.testing.assert_allclose(AngularDeviation()(turned, data), 0.2, rtol=1e-9)


# Published numbers


def test_the_certificate_of_proposition_5_7_is_the_published_one():
    found = xor_certificate()
    assert found.holds
    # The outputs of the published notebook.
    assert found.needed == pytest.approx(29.56022297436964, rel=1e-12)
    assert found.available == pytest.approx(29.629449461515534, rel=1e-12)
    # Ten times the noise is too much for the argument.
    assert not xor_certificate(noise=0.1).holds
    with pytest.raises(ValueError, match="`noise` must lie in"):
        xor_certificate(noise=0.5)


@pytest.mark.parametrize("start", list(four.SCALES))
def test_descent_on_the_published_schedule_gives_the_published_four_neurons(start):
    data, reference = load("xor_four_neurons.npz")
    i = list(four.SCALES).index(start)
    times = four.epoch_times()[reference["epochs"]]
    run = solve(
        four.four_neurons(start),
        data,
        four.published_descent(),
        logistic,
        tuple(map(float, times)),
        {"weights": NeuronWeights()},
    )
    assert run.status is Status.REACHED_TIME
    assert run.stats["accepted"] == four.EPOCHS
    w = run.records["weights"][..., :2]
    scales = np.linalg.norm(w, axis=2)
    np.testing.assert_allclose(scales, reference["scales"][i], rtol=1e-6)
    turn = w[..., 1] * four.HALF_AXES[:, 0] - w[..., 0] * four.HALF_AXES[:, 1]
    angles = np.arctan2(np.abs(turn), np.sum(w * four.HALF_AXES, axis=2))
    # The reference holds six digits of sums of 224 terms that cancel.  At the end its
    # own gradient, sigmoid(f) − y in floating point, is known to three: 2.4e-8 rad.
    expected = reference["angles"][i]
    np.testing.assert_allclose(angles[:-1], expected[:-1], rtol=6e-6, atol=1e-16)
    np.testing.assert_allclose(angles[-1], expected[-1], atol=3e-8)


def test_descent_gives_the_published_scales_of_the_wide_network():
    data, reference = load("xor_wide.npz")
    times = tuple(float(e) * wide.RATE for e in reference["epochs"])
    run = solve(
        neurons(reference["W0"], reference["a0"]),
        data,
        wide.published_descent(),
        logistic,
        times,
        {"weights": NeuronWeights()},
    )
    scales = np.sqrt(np.sum(run.records["weights"][..., :2] ** 2, axis=(1, 2)))
    np.testing.assert_allclose(scales, reference["scales"], rtol=1e-12)


# The early limit


@pytest.mark.parametrize("extremum", list(DIRECTIONS))
def test_mirror_classes_have_two_directions_of_largest_growth_and_others_one(extremum):
    data = sample(extremum)
    found = extremal_vectors(data)
    value = np.abs(found.value)
    assert (value > (1 - 1e-9) * value.max()).sum() == DIRECTIONS[extremum]
    on_plane = np.abs(np.asarray(data.x) @ found.direction[0]).min() < 1e-9
    assert on_plane == (extremum == "kink")
    # The next one is slower by far.
    assert rates(extremum)[1] < 0.8 * rates(extremum)[0]


@pytest.mark.parametrize("extremum", list(DIRECTIONS))
def test_the_early_limit_is_that_of_eulers_method_for_one_neuron_at_a_time(extremum):
    data = sample(extremum)
    net = balanced(KEY, m=30, d=2, scale=1.0)
    limit = early_limit(data, logistic, net.w, net.a[:, 0])
    # The largest and the second rate are the extrema of |G|.
    assert limit.fastest == pytest.approx(rates(extremum)[0], rel=1e-9)
    assert 0 < limit.prominent().sum() < 30
    # Euler's method for ln‖w‖ and the angle; on a hyperplane it chatters by one step.
    x, pull = np.asarray(data.x), np.asarray(data.y)[:, 0] / (2 * len(data.x))
    sign = np.sign(np.asarray(net.a)[:, 0])
    angle = np.arctan2(*np.asarray(net.w).T[::-1])
    grown, step, time = np.zeros(30), 5e-3, 125.0
    for _ in range(round(time / step)):
        u = np.stack([np.cos(angle), np.sin(angle)])
        drive = sign * (np.where(x @ u > 0, pull[:, None], 0).T @ x).T
        grown += step * np.sum(drive * u, axis=0)
        angle += step * (drive[1] * u[0] - drive[0] * u[1])
    turn = u[0] * limit.direction[:, 1] - u[1] * limit.direction[:, 0]
    np.testing.assert_allclose(turn, 0, atol=step)
    size = np.linalg.norm(net.w, axis=1) * np.exp(grown - limit.rate * time)
    np.testing.assert_allclose(size, limit.amplitude, rtol=5 * step)


def test_a_start_that_is_not_balanced_or_not_in_the_plane_is_refused():
    data, net = sample("cell"), balanced(KEY, m=3, d=2)
    with pytest.raises(ValueError, match="`a` must be balanced"):
        early_limit(data, logistic, net.w, 2 * net.a[:, 0])
    wide = Dataset(jnp.ones((4, 3)), data.y[:4], jnp.ones(4), data.y[:4], jnp.eye(3))
    with pytest.raises(ValueError, match="`data` must have two inputs"):
        early_limit(wide, logistic, net.w, net.a[:, 0])


# Margins


def separable(points, labels):
    x, y = jnp.asarray(points, jnp.float64), jnp.asarray(labels, jnp.float64)[:, None]
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.eye(x.shape[1]))


@pytest.mark.parametrize("label", [None, 1.0, -1.0])
@pytest.mark.parametrize("law", [symmetric_separable, orthogonally_separable])
def test_the_largest_margin_is_that_of_sequential_programming(law, label):
    data = law(KEY, n=12, d=4)
    found = max_margin(data, label)
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]
    rows = y[:, None] * x if label is None else x[y == label]
    other = minimize(
        lambda u: u @ u / 2,
        rows.mean(0) / np.min(rows @ rows.mean(0) + 10),
        jac=lambda u: u,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda u: rows @ u - 1,
            "jac": lambda _: rows,
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert other.success
    np.testing.assert_allclose(found.u, other.x, atol=1e-6)
    # Karush, Kuhn and Tucker: feasible, and tight on the support vectors.
    slack = rows @ found.u - 1
    assert slack.min() > -1e-12
    support = found.support if label is None else found.support[y == label]
    np.testing.assert_allclose(slack[support > 0], 0, atol=1e-12)
    assert found.margin == pytest.approx(1 / np.linalg.norm(found.u))


def test_data_that_no_hyperplane_separates_have_no_margin():
    with pytest.raises(ValueError, match="`data` must be linearly separable"):
        max_margin(separable([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, -1, -1]))
    with pytest.raises(ValueError, match="`label` must occur"):
        max_margin(separable([[1, 0]], [1]), -1.0)


def test_the_hinted_points_have_the_margin_they_say():
    found = max_margin(hinted(KEY, hint=20.0, margin=0.1))
    assert found.margin == pytest.approx(0.1)
    np.testing.assert_allclose(found.u, [10, 0], atol=1e-12)


def test_symmetric_data_are_their_own_mirror_image_and_keep_the_margin():
    data = symmetric_separable(KEY, n=40, d=3, margin=0.3)
    np.testing.assert_array_equal(data.x[20:], -data.x[:20])
    np.testing.assert_array_equal(data.y[20:], -data.y[:20])
    assert float(jnp.min(data.y[:, 0] * data.x[:, 0])) >= 0.3
    with pytest.raises(ValueError, match="`n` must be even"):
        symmetric_separable(KEY, n=5)


def test_orthogonally_separable_inputs_are_acute_in_a_class_and_obtuse_across():
    data = orthogonally_separable(KEY, n=30, d=4)
    same = np.asarray(data.y @ data.y.T) > 0
    np.testing.assert_array_equal(np.asarray(data.x @ data.x.T) > 0, same)


def test_the_logarithm_of_the_loss_is_that_and_goes_on_where_the_loss_underflows():
    f, y = jnp.array([[0.3], [-2.0], [50.0]]), jnp.array([[1.0], [-1.0], [1.0]])
    weight = jnp.array([1.0, 1.0, 0.0])
    expected = jnp.log(logistic(f, y, weight))
    np.testing.assert_allclose(log_logistic(f, y, weight), expected, rtol=1e-14)
    # Far out ln L = −min margin + ln(1/n) and the gradient is that of the minimum.
    far, one = jnp.array([[2000.0], [-1000.0], [3000.0]]), jnp.ones(3)
    np.testing.assert_allclose(log_logistic(far, y, one), -1000 - np.log(3), rtol=1e-14)
    gradient = jax.grad(log_logistic)(far, y, one)
    np.testing.assert_allclose(gradient, [[0.0], [1.0], [0.0]], atol=1e-12)


def test_margin_and_defect_of_one_and_of_two_opposite_neurons():
    data = separable([[2.0, 1.0], [-1.0, 3.0]], [1, -1])
    one = neurons([[1.0, 0.0]], [1.0])
    two = neurons([[1.0, 0.0], [-1.0, 0.0]], [1.0, -1.0])
    assert float(Margin()(two, data)) == 1.0
    assert float(Margin()(one, data)) == 0.0
    assert float(LinearityDefect()(two, data)) == 0.0
    # f = (2, 0) and f(−x) = (0, 1): rms(2, 1)/rms(2, 0).
    assert float(LinearityDefect()(one, data)) == pytest.approx(math.sqrt(5) / 2)
    # Padding adds nothing, also where the squares of the outputs underflow.
    more = lambda v, fill: jnp.pad(v, ((0, 1), (0, 0)), constant_values=fill)
    weight = jnp.pad(data.weight, (0, 1))
    padded = Dataset(
        more(data.x, 3), more(data.y, 0), weight, more(data.mean, 0), data.features
    )
    tiny = neurons([[1e-100, 0.0]], [1e-100])
    got = float(LinearityDefect()(tiny, padded))
    assert got == pytest.approx(math.sqrt(5) / 2)


def test_a_member_rests_once_its_margin_is_large_enough():
    data = separable([[2.0, 1.0], [-1.0, 3.0]], [1, -1])
    two = neurons([[1.0, 0.0], [-1.0, 0.0]], [1.0, -1.0])
    assert bool(MarginAbove(1.0)(two, data))
    assert not bool(MarginAbove(1.1)(two, data))
