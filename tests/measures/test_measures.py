import dataclasses
import functools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.linear_model import LinearRegression

import simbias.measures
from simbias.core import AbstractMeasure, Dataset
from simbias.ensemble.padding import padded
from simbias.introspection.outputs import classes
from simbias.losses import half_mse, logistic
from simbias.measures._ols import ols
from simbias.measures.clusters._clusters import single_linkage
from simbias.measures.clusters.cluster_masses import ClusterMasses
from simbias.measures.clusters.effective_width import EffectiveWidth
from simbias.measures.clusters.effective_width_entropy import EffectiveWidthEntropy
from simbias.measures.neurons.alignment import Alignment
from simbias.measures.neurons.balancedness import Balancedness
from simbias.measures.neurons.cosine_histogram import CosineHistogram
from simbias.measures.neurons.dead_neurons import DeadNeurons
from simbias.measures.neurons.group_sums import GroupSums
from simbias.measures.neurons.negative_live_mass import NegativeLiveMass
from simbias.measures.neurons.neuron_cosine import NeuronCosine
from simbias.measures.neurons.order_parameters import OrderParameters
from simbias.measures.neurons.parameter_norm import ParameterNorm
from simbias.measures.patterns.activation_patterns import ActivationPatterns
from simbias.measures.patterns.pattern_classes import PatternClasses
from simbias.measures.patterns.sliding_fraction import SlidingFraction
from simbias.measures.risk.distance_to_ols import DistanceToOls
from simbias.measures.risk.excess_risk import ExcessRisk
from simbias.measures.risk.test_risk import TestRisk
from simbias.measures.risk.train_loss import TrainLoss
from simbias.measures.risk.train_risk import TrainRisk
from simbias.measures.risk.train_sign_accuracy import TrainSignAccuracy
from simbias.measures.risk.two_group_excess import TwoGroupExcess
from simbias.measures.risk.two_group_gap import TwoGroupGap
from simbias.networks.activations import ACTIVATIONS
from simbias.networks.two_layer import TwoLayer
from simbias.registry import component, modules
from simbias.theory.two_group import two_group_fit

MODULES = modules(simbias.measures)
# A sum of this many float64 numbers of order one, in another order.
ROUNDING = {"rtol": 1e-10, "atol": 1e-12}


def law(rng, n, d, k, noise=0.3):
    x = rng.normal(size=(n, d))
    mean = x @ np.arange(1.0, d * k + 1).reshape(d, k) / d
    y = mean + noise * rng.normal(size=(n, k))
    features = np.arange(1.0, d * k + 1).reshape(d, k).T / d
    # A direction that tells nothing, for measures that look at two.
    features = np.concatenate([features, np.eye(1, d)])
    return Dataset(*map(jnp.asarray, (x, y, np.ones(n), mean, features)))


@functools.cache
def sample(seed=0, n=11, d=3, k=1):
    rng = np.random.default_rng(seed)
    train, test = law(rng, n, d, k), law(rng, 2 * n, d, k)
    return dataclasses.replace(train, test=test)


def network(seed=0, m=12, d=3, k=1, has_bias=False, activation="relu"):
    rng = np.random.default_rng(100 + seed)
    w, a = rng.normal(size=(m, d)), rng.normal(size=(m, k))
    return neurons(w, a, rng.normal(size=m) if has_bias else None, activation)


def neurons(w, a, b=None, activation="relu"):
    a = jnp.asarray(a, jnp.float64)
    return TwoLayer(
        jnp.asarray(w, jnp.float64),
        a[:, None] if a.ndim == 1 else a,
        None if b is None else jnp.asarray(b, jnp.float64),
        ACTIVATIONS[activation],
    )


def points(x, y):
    x, y = jnp.asarray(x, jnp.float64), jnp.asarray(y, jnp.float64)[:, None]
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.eye(x.shape[1]))


def permuted(net, order):
    b = None if net.b is None else net.b[order]
    return dataclasses.replace(net, w=net.w[order], a=net.a[order], b=b)


# Nearly all the time of this file is compiling: not optimising saves a third of it.
@functools.partial(
    jax.jit,
    static_argnums=0,
    compiler_options={"xla_backend_optimization_level": 0},
)
def value(measure, net, data):
    return measure(net, data)


least_squares = jax.jit(ols, static_argnames="has_intercept")


def single(tree):
    """The same in float32."""
    cast = lambda v: v.astype(jnp.float32) if eqx.is_inexact_array(v) else v
    return jax.tree.map(cast, tree)


# Every measure, whoever adds it; some are of other networks or samples than these, and
# are tested where their theme is.
ELSEWHERE = (
    "boolean",
    "clones",
    "components",
    "filters",
    "information",
    "kernel",
    "layers",
    "linear",
    "pairs",
    "plane",
    "rank",
    "rest",
    "sensitivity",
    "spectrum",
)
THEMES = {name: module.__name__.split(".")[-2] for name, module in MODULES.items()}
# Of several outputs: tests/validation/test_targets.py.
OF_SEVERAL = ("class_accuracy", "wrong_labels_fitted")
OF_THESE = sorted(
    name for name in MODULES if THEMES[name] not in ELSEWHERE and name not in OF_SEVERAL
)


@pytest.fixture(params=OF_THESE)
def measure(request):
    return component(MODULES[request.param])()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_file_holds_the_final_measure_it_is_named_after(name):
    cls = component(MODULES[name])
    assert cls.__name__ == "".join(part.capitalize() for part in name.split("_"))
    assert cls.__bases__ == (AbstractMeasure,)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_what_a_measure_is_set_to_is_part_of_the_program(name):
    # It may then be a size, and equal ones share a program.
    fields = dataclasses.fields(component(MODULES[name]))
    assert [f.name for f in fields if not f.metadata.get("static")] == []


# All with a bias: neurons are then active on the zeros of the padding.


def test_a_measure_is_finite_and_has_the_axes_it_names(measure):
    found = value(measure, network(has_bias=True), sample())
    assert found.ndim == len(measure.dims)
    assert np.all(np.isfinite(found))
    for axis, coordinate in measure.coords().items():
        assert len(coordinate) == found.shape[measure.dims.index(axis)]


def test_a_measure_does_not_see_padding(measure):
    net, data = network(has_bias=True), sample()
    expected, found = value(measure, net, data), value(measure, net, padded(data, 16))
    np.testing.assert_allclose(found, expected, **ROUNDING)


def test_a_measure_of_many_members_is_the_measure_of_each(measure):
    nets = [network(i, has_bias=True) for i in range(3)]
    samples = [sample(i) for i in range(3)]
    stack = lambda trees: jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
    together = value(jax.vmap(measure), stack(nets), stack(samples))
    alone = [value(measure, *both) for both in zip(nets, samples, strict=True)]
    np.testing.assert_allclose(together, np.stack(alone), **ROUNDING)


def test_a_measure_does_not_depend_on_the_order_of_the_neurons(measure):
    net, data = network(has_bias=True), sample()
    order = np.random.default_rng(0).permutation(12)
    shuffled = TwoLayer(net.w[order], net.a[order], net.b[order])
    found, expected = value(measure, shuffled, data), value(measure, net, data)
    if "neuron" in measure.dims:
        expected = jnp.take(expected, order, axis=measure.dims.index("neuron"))
    if isinstance(measure, OrderParameters):  # neurons, then teachers
        rows = np.concatenate([order, np.arange(12, len(expected))])
        expected = expected[rows][:, rows]
    np.testing.assert_allclose(found, expected, **ROUNDING)


def test_a_measure_keeps_single_precision(measure):
    net, data = network(has_bias=True), sample()
    found = value(measure, single(net), single(data))
    assert found.dtype in (jnp.float32, jnp.int32)
    # 1e-5 is a hundred roundings of float32.
    np.testing.assert_allclose(found, value(measure, net, data), rtol=1e-5, atol=1e-5)


# Risks.


def test_train_risk_is_the_mean_square_without_a_half():
    net, data = network(k=2), sample(k=2)
    residual = np.stack([net(x) for x in data.x]) - data.y
    expected = np.mean(np.sum(residual**2, axis=1))
    np.testing.assert_allclose(value(TrainRisk(), net, data), expected, **ROUNDING)
    np.testing.assert_allclose(
        value(TrainLoss(half_mse), net, data), expected / 2, **ROUNDING
    )


def test_train_loss_is_the_loss_it_is_given():
    net, data = network(), sample()
    data = dataclasses.replace(data, y=jnp.sign(data.y))
    margin = data.y[:, 0] * jax.vmap(net)(data.x)[:, 0]
    expected = np.mean(np.log1p(np.exp(-margin)))
    np.testing.assert_allclose(
        value(TrainLoss(logistic), net, data), expected, **ROUNDING
    )


def test_train_accuracy_is_the_weight_of_the_samples_that_are_right():
    data = dataclasses.replace(
        points([[1], [2], [-1], [-3]], [1, -1, -1, 1]),
        weight=jnp.asarray([1.0, 2.0, 3.0, 2.0]),
    )
    net = neurons([[1.0], [-1.0]], [1.0, -1.0])
    np.testing.assert_allclose(value(TrainSignAccuracy(), net, data), 0.5)


def test_an_output_of_zero_is_of_the_class_that_is_not_positive():
    one, three = [[0.0], [2.0], [-1.0]], [[0.0, 2, 1], [3.0, 3, 1]]
    assert classes(jnp.asarray(one)).tolist() == [0, 1, 0]
    assert classes(jnp.asarray(three)).tolist() == [1, 0]


def test_the_law_itself_has_no_excess_risk_and_the_test_risk_of_its_noise():
    data = sample(n=200)
    beta = data.features[0]
    net = neurons([beta, -beta], [1, -1])
    assert value(ExcessRisk(), net, data) < 1e-28
    noise = np.mean((data.test.y - data.test.mean) ** 2)
    np.testing.assert_allclose(value(TestRisk(), net, data), noise, **ROUNDING)


@pytest.mark.parametrize("measure", [TestRisk(), ExcessRisk()])
def test_a_test_measure_without_a_test_sample_says_so(measure):
    with pytest.raises(ValueError, match=r"`data\.test` is None"):
        value(measure, network(), dataclasses.replace(sample(), test=None))


# Least squares.


@pytest.mark.parametrize("has_intercept", [False, True])
def test_least_squares_agrees_with_scikit_learn(has_intercept):
    data = sample(n=30, k=2)
    weight = jnp.asarray(np.arange(30) % 3, jnp.float64)
    found = least_squares(
        dataclasses.replace(data, weight=weight), has_intercept=has_intercept
    )
    model = LinearRegression(fit_intercept=has_intercept).fit(
        data.x, data.y, sample_weight=weight
    )
    expected = np.asarray(model.coef_).T
    if has_intercept:
        expected = np.concatenate([expected, model.intercept_[None, :]])
    np.testing.assert_allclose(found, expected, **ROUNDING)


@pytest.mark.parametrize("has_copies", [False, True])
def test_least_squares_of_too_few_inputs_has_the_least_norm(has_copies):
    data = sample(n=4, d=7)
    if has_copies:
        data = jax.tree.map(lambda v: jnp.concatenate([v, v]), data)
    found = least_squares(padded(data, 16), has_intercept=False)
    np.testing.assert_allclose(found, np.linalg.pinv(data.x) @ data.y, **ROUNDING)


def test_least_squares_through_three_points_is_the_published_line():
    data = points([[-0.75], [-0.5], [0.125]], [1.1, 0.1, 0.8])
    found = least_squares(data, has_intercept=True)[:, 0]
    # Five published digits.
    np.testing.assert_allclose(found, [-0.06154, 0.64359], atol=5e-6)


def test_the_regression_line_is_at_distance_zero_and_nothing_at_distance_one():
    data = sample()
    beta = least_squares(data, has_intercept=False)[:, 0]
    line = neurons([beta, -beta], [1, -1])
    assert value(DistanceToOls(), line, data) < 1e-14
    nothing = dataclasses.replace(line, a=0 * line.a)
    np.testing.assert_allclose(value(DistanceToOls(), nothing, data), 1, **ROUNDING)
    slope = least_squares(data, has_intercept=True)[:, 0]
    line = neurons([slope[:3]], [1], [slope[3]], activation="identity")
    assert value(DistanceToOls(has_intercept=True), line, data) < 1e-14
    assert value(DistanceToOls(), line, data) > 1e-3


def test_two_regressions_have_no_gap_and_other_networks_the_difference():
    # So little noise that no sample lies between β*·x = 0 and the regressions' own.
    rng = np.random.default_rng(3)
    data = law(rng, 24, 3, 1, noise=1e-6)
    data = dataclasses.replace(data, test=law(rng, 50, 3, 1, noise=1e-6))
    fit = two_group_fit(data, data.features[0])[..., 0]
    two = neurons([fit[0], -fit[1]], [1, -1])
    one = least_squares(data, has_intercept=False)[:, 0]
    one, nothing = neurons([one, -one], [1, -1]), dataclasses.replace(two, a=0 * two.a)
    for measure, risk in (
        (TwoGroupGap(), TrainRisk()),
        (TwoGroupExcess(), ExcessRisk()),
    ):
        own = value(risk, two, data)
        assert own > 1e-14
        assert abs(value(measure, two, padded(data, 30))) < 1e-6 * own
        for other in (one, nothing):
            expected = value(risk, other, data) - own
            np.testing.assert_allclose(value(measure, other, data), expected, rtol=1e-6)
    assert value(TwoGroupGap(), one, data) > 0


# Directions.


def test_the_cosine_of_a_neuron_is_one_along_the_line_and_nan_for_zero():
    data = points([[1, 0], [-2, 0], [0, 1], [0, -3]], [1, -2, 1, -3])  # y = (1, 1)·x
    net = neurons([[2, 2], [-1, -1], [1, 0], [0, 0]], [1, 1, 1, 1])
    expected = [1, -1, math.sqrt(0.5), np.nan]
    np.testing.assert_allclose(value(NeuronCosine(), net, data), expected, **ROUNDING)
    expected = [math.sqrt(0.5), -math.sqrt(0.5), 0, np.nan]
    np.testing.assert_allclose(
        value(NeuronCosine(feature=1), net, data), expected, **ROUNDING
    )


def test_a_hidden_bias_is_one_more_coordinate_of_the_direction():
    data = points([[-0.75], [-0.5], [0.125]], [1.1, 0.1, 0.8])
    line = [-0.0615384615, 0.6435897436]
    net = neurons([[line[0]], [1], [0]], [1, 1, 1], [line[1], 0, 1])
    found = value(NeuronCosine(), net, data)
    size = math.hypot(*line)
    expected = [1, line[0] / size, line[1] / size]
    # Ten digits of the line.
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(value(NeuronCosine(feature=0), net, data)[1:], [1, 0])


def test_each_output_has_its_own_regression_direction():
    data = sample(k=2)
    alone = Dataset(data.x, data.y[:, 1:], data.weight, data.y[:, 1:], data.features)
    net = network()
    np.testing.assert_allclose(
        value(NeuronCosine(output=1), net, data),
        value(NeuronCosine(), net, alone),
        **ROUNDING,
    )


@pytest.mark.parametrize(
    "measure",
    [
        NeuronCosine(),
        Alignment(threshold=0.5),
        EffectiveWidth(),
        EffectiveWidthEntropy(),
        ClusterMasses(),
        CosineHistogram(is_mass_weighted=True),
        ActivationPatterns(),
    ],
)
def test_directions_and_shares_do_not_see_the_scale_of_the_weights(measure):
    net, data = single(network()), single(sample())
    # 1e-30 squared is zero in float32; a power of two so that nothing is rounded.
    tiny = dataclasses.replace(net, w=net.w * 2.0**-100, a=net.a * 2.0**-90)
    np.testing.assert_array_equal(value(measure, tiny, data), value(measure, net, data))


@pytest.mark.parametrize("is_mass_weighted", [False, True])
def test_the_histogram_agrees_with_numpy(is_mass_weighted):
    net, data = network(m=500), sample()
    measure = CosineHistogram(bins=13, is_mass_weighted=is_mass_weighted)
    mass = np.linalg.norm(net.w, axis=1) * np.abs(net.a[:, 0])
    weights = mass if is_mass_weighted else np.ones(500)
    expected, edges = np.histogram(
        value(NeuronCosine(), net, data), bins=13, range=(-1, 1), weights=weights
    )
    found = value(measure, net, data)
    np.testing.assert_allclose(found, expected / weights.sum(), **ROUNDING)
    centres = (edges[1:] + edges[:-1]) / 2
    np.testing.assert_allclose(measure.coords()["cosine"], centres, atol=1e-15)


def test_the_histogram_has_its_ends_in_the_last_bins_and_leaves_out_zeros():
    net = neurons([[1, 0], [1, 0], [-1, 0], [0, 0]], [1, 1, 1, 1])
    data = points([[1, 0], [0, 1]], [1, 0])
    found = value(CosineHistogram(bins=4), net, data)
    np.testing.assert_allclose(found, [1 / 3, 0, 0, 2 / 3], **ROUNDING)


def test_the_histogram_may_have_a_single_bin():
    found = value(CosineHistogram(bins=1), network(), sample())
    np.testing.assert_allclose(found, [1.0])


def test_alignment_is_the_share_of_mass_along_the_line():
    data = points([[1, 0], [0, 1]], [1, 0])
    degrees = np.deg2rad([0, 180, 8, 9])  # cos 8° = 0.9903, cos 9° = 0.9877
    w = np.stack([np.cos(degrees), np.sin(degrees)], axis=1)
    net = neurons(w * np.array([[1], [2], [1], [1]]), [1, -1, 3, 2])
    np.testing.assert_allclose(value(Alignment(), net, data), 6 / 8, **ROUNDING)
    found = value(Alignment(is_mass_weighted=False), net, data)
    np.testing.assert_allclose(found, 3 / 4, **ROUNDING)


def test_the_share_of_random_neurons_along_a_line_is_that_of_the_sphere():
    net, data = network(m=40_000, d=2), sample(d=2)
    found = value(Alignment(is_mass_weighted=False), net, data)
    # Three standard deviations of a binomial share.
    assert abs(found - 2 * math.acos(0.99) / math.pi) < 3 * math.sqrt(0.09 / 40_000)


# Clusters.


def three_clusters():
    """Three directions; 4, 3, 5 copies of different sizes; masses 0.5, 0.3, 0.2."""
    rng = np.random.default_rng(1)
    axes = np.array([[1, 2, 0], [0, -1, 1], [-1, -2, 0.0]])
    w, a = [], []
    for axis, copies, mass in zip(axes, (4, 3, 5), (0.5, 0.3, 0.2), strict=True):
        sizes = rng.uniform(0.5, 2, copies)
        parts = rng.dirichlet(np.ones(copies)) * mass
        unit = axis / np.linalg.norm(axis)
        w += [size * unit for size in sizes]
        a += list(parts / sizes * rng.choice([-1, 1], copies))
    order = rng.permutation(12)
    return neurons(np.array(w)[order], np.array(a)[order])


def test_copies_of_three_directions_are_three_clusters_with_their_masses():
    net, data = three_clusters(), sample()
    shares = np.array([0.5, 0.3, 0.2])
    assert value(EffectiveWidth(), net, data) == 3
    found = value(ClusterMasses(count=5), net, data)
    np.testing.assert_allclose(found, [*shares, 0, 0], **ROUNDING)
    expected = np.exp(-np.sum(shares * np.log(shares)))
    found = value(EffectiveWidthEntropy(), net, data)
    np.testing.assert_allclose(found, expected, **ROUNDING)


def test_a_cluster_counts_when_it_is_heavier_than_the_share():
    net, data = three_clusters(), sample()
    counts = [value(EffectiveWidth(share=s), net, data) for s in (0.21, 0.51)]
    assert counts == [2, 0]


def test_light_neurons_do_not_bridge_two_clusters():
    degrees = np.deg2rad([0, 0.8, 1.6])
    w = np.stack([np.cos(degrees), np.sin(degrees)], axis=1)
    data = sample(d=2)
    assert value(EffectiveWidth(), neurons(w, [1, 1, 1]), data) == 1
    assert value(EffectiveWidth(), neurons(w, [1, 1e-4, 1]), data) == 2


def test_opposite_directions_are_two_clusters():
    net, data = neurons([[1, 2], [-1, -2]], [3, -3]), sample(d=2)
    assert value(EffectiveWidth(), net, data) == 2


def test_a_network_of_zeros_has_no_directions():
    net, data = neurons(np.zeros((3, 2)), [0, 0, 0]), sample(d=2)
    measures = (EffectiveWidth(), EffectiveWidthEntropy(), Alignment())
    for measure in (*measures, ClusterMasses(), CosineHistogram()):
        assert np.all(np.isnan(value(measure, net, data)))


@pytest.mark.parametrize(
    ("m", "d", "angle"), [(700, 2, 1.0), (700, 3, 5.0), (60, 5, 30.0)]
)
def test_single_linkage_agrees_with_scipy(m, d, angle):
    # 700 neurons take two blocks of rows.
    u = np.random.default_rng(d).normal(size=(m, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    is_member = np.random.default_rng(1).random(m) < 0.7
    labels = jax.jit(single_linkage, static_argnums=2)(u, is_member, angle)
    labels = np.asarray(labels)[is_member]
    distance = np.arccos(np.clip(u @ u.T, -1, 1))[np.ix_(is_member, is_member)]
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "single")
    theirs = fcluster(tree, np.deg2rad(angle), "distance")
    pairs = len(set(zip(labels, theirs, strict=True)))
    assert pairs == len(set(labels)) == len(set(theirs)) > 1


def test_a_long_chain_of_neighbours_is_one_cluster():
    degrees = np.deg2rad(np.random.default_rng(0).permutation(300) * 0.9)
    u = np.stack([np.cos(degrees), np.sin(degrees)], axis=1)
    labels = single_linkage(jnp.asarray(u), jnp.ones(300, bool), 1.0)
    np.testing.assert_array_equal(labels, 0)


# Conserved and counted.


def drift(net, data, quantity):
    """d/dt of `quantity` along θ' = −∇L."""
    loss = TrainLoss(half_mse)
    velocity = jax.tree.map(jnp.negative, eqx.filter_grad(loss)(net, data))
    return jax.jvp(lambda net: quantity(net, data), (net,), (velocity,))[1]


@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "identity"])
@pytest.mark.parametrize("has_bias", [False, True])
def test_gradient_flow_of_a_homogeneous_network_conserves_balancedness(
    activation, has_bias
):
    net = network(k=2, activation=activation, has_bias=has_bias)
    rate = drift(net, sample(k=2), Balancedness())
    np.testing.assert_allclose(rate, 0, atol=1e-13)


def test_gradient_flow_of_a_tanh_network_does_not_conserve_balancedness():
    rate = drift(network(activation="tanh"), sample(), Balancedness())
    assert np.max(np.abs(rate)) > 1e-2


def test_gradient_flow_of_a_quadratic_network_conserves_twice_a_squared_minus_w():
    def quantity(net, data):
        return value(Balancedness(), net, data) + jnp.sum(net.a**2, axis=1)

    rate = drift(network(activation="quadratic"), sample(), quantity)
    np.testing.assert_allclose(rate, 0, atol=1e-12)


def test_a_neuron_is_dead_when_no_real_sample_reaches_it():
    data = padded(points([[1, 0], [0, 1]], [1, 1]), 8)
    # Alive, dead, on the edge, and dead although its bias is positive at padding.
    net = neurons([[1, -1], [-1, -1], [0, 0], [-1, -1]], [1] * 4, [0, 0, 0, 0.5])
    np.testing.assert_allclose(value(DeadNeurons(), net, data), 3 / 4)


def test_negative_live_mass_leaves_out_the_dead():
    data = points([[1, 0], [0, 1]], [1, 1])
    net = neurons([[1, 0], [0, 2], [-1, 0]], [3, -1, -7])
    np.testing.assert_allclose(value(NegativeLiveMass(), net, data), 2 / 5, **ROUNDING)
    only_positive = neurons([[1, 0], [-1, 0]], [3, -7])
    assert value(NegativeLiveMass(), only_positive, data) == 0
    assert np.isnan(value(NegativeLiveMass(), neurons([[-1, 0]], [1]), data))
    on_the_edge = neurons([[1, 0], [3e-15, -1]], [3, -7])
    assert value(NegativeLiveMass(), on_the_edge, data) == 0


def test_activation_patterns_agree_with_numpy():
    net, data = network(m=2000), sample(n=40)
    active = np.asarray(data.x @ net.w.T > 0)
    expected = len(np.unique(active, axis=1).T)
    assert value(ActivationPatterns(), net, data) == expected


def test_neurons_all_around_the_plane_see_two_patterns_per_line():
    # n lines in general position cut the plane in 2n sectors (Cover 1965).
    angles = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    net = neurons(np.stack([np.cos(angles), np.sin(angles)], 1), np.ones(20_000))
    assert value(ActivationPatterns(), net, sample(n=12, d=2)) == 24


def test_the_minimum_norm_interpolator_of_two_orthogonal_points_is_the_published_one():
    data = points([[-0.5, 1], [2, 1]], [-1, 1])
    sums = np.array([[0.4, 0.2], [0.4, -0.8]])
    root = np.sqrt(np.linalg.norm(sums, axis=1, keepdims=True))
    net = neurons(np.array([[1], [-1]]) * sums / root, root[:, 0] * [1, -1])
    assert value(TrainRisk(), net, data) < 1e-30
    np.testing.assert_allclose(value(GroupSums(), net, data), sums, **ROUNDING)
    np.testing.assert_allclose(value(Balancedness(), net, data), 0, atol=1e-15)
    # Seven published digits.
    np.testing.assert_allclose(value(ParameterNorm(), net, data), 1.341641, atol=5e-7)


def test_group_sums_with_a_bias_add_up_to_the_slope_and_offset_of_a_linear_network():
    net = network(activation="identity", has_bias=True)
    total = jnp.sum(value(GroupSums(), net, sample()), axis=0)
    x = jnp.array([0.3, -0.2, 0.7])
    np.testing.assert_allclose(net(x)[0], total[:3] @ x + total[3], **ROUNDING)


@pytest.mark.parametrize("measure", [GroupSums(), NegativeLiveMass()])
def test_a_measure_of_signs_refuses_several_outputs(measure):
    with pytest.raises(ValueError, match="one output"):
        value(measure, network(k=2), sample(k=2))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: EffectiveWidth(angle=0.0), "angle"),
        (lambda: EffectiveWidthEntropy(angle=90.0), "angle"),
        (lambda: ClusterMasses(share=1.0), "share"),
        (lambda: ClusterMasses(count=0), "count"),
        (lambda: CosineHistogram(bins=0), "bins"),
        (lambda: Alignment(threshold=1.0), "threshold"),
        (lambda: value(NeuronCosine(feature=2), network(), sample()), "feature"),
        (lambda: value(NeuronCosine(output=1), network(), sample()), "output"),
        (lambda: value(TwoGroupGap(feature=2), network(), sample()), "feature"),
        (lambda: value(TwoGroupExcess(feature=2), network(), sample()), "feature"),
    ],
)
def test_a_field_that_cannot_be_meant_is_refused_by_name(make, field):
    with pytest.raises(ValueError, match=f"`{field}`"):
        make()


def test_a_neuron_slides_where_it_lies_on_the_hyperplane_of_a_real_sample():
    data = padded(points([[1, 0], [0, 1], [3, 4]], [1, 1, 1]), 8)
    net = neurons([[0, 2], [4, -3], [1, 1], [1e-6, 1], [1e-12, 1]], [1] * 5)
    np.testing.assert_allclose(value(SlidingFraction(), net, data), 3 / 5)
    wide = SlidingFraction(tolerance=1e-5)
    np.testing.assert_allclose(value(wide, net, data), 4 / 5)


def test_classes_tell_apart_pattern_sliding_and_sign_but_not_size():
    data = points([[1, 0], [0, 1]], [1, 1])
    w = [[1, 1], [2, 1], [0, 1], [0, 3], [-1, 1], [1, 1]]
    net = neurons(w, [1, 5, 1, 1, 1, -1])
    assert value(PatternClasses(), net, data) == 4
    assert value(ActivationPatterns(), net, data) == 2


def test_a_large_sample_is_looked_at_in_chunks():
    rng, n = np.random.default_rng(0), 2500
    x, y = jnp.asarray(rng.normal(size=(n, 3))), jnp.asarray(rng.normal(size=(n, 1)))
    data = Dataset(x, y, jnp.ones(n), y, jnp.zeros((0, 3)))
    w, a = rng.normal(size=(7, 3)), rng.normal(size=(7, 1))
    net = TwoLayer(jnp.asarray(w), jnp.asarray(a))
    expected = np.mean((np.maximum(np.asarray(x) @ w.T, 0) @ a - np.asarray(y)) ** 2)
    np.testing.assert_allclose(TrainRisk()(net, data), expected, rtol=1e-12)
