"""Measures of rest: growth rates, the time to an escape, what still moves."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy

import simbias
from simbias import losses
from simbias.core import Dataset
from simbias.ensemble.padding import padded
from simbias.errors import BadInput
from simbias.flows.relu_flow import ReluFlow
from simbias.limits.fastest_growth import fastest_growth
from simbias.measures.rest.escape_time import EscapeTime
from simbias.measures.rest.largest_growth import LargestGrowth
from simbias.measures.rest.least_subgradient import LeastSubgradient
from simbias.measures.rest.neuron_growth import NeuronGrowth
from simbias.measures.rest.pattern_margin import PatternMargin
from simbias.networks.two_layer import TwoLayer
from simbias.theory.extremal_vectors import extremal_vectors


def sample(x, y):
    x, y = jnp.asarray(x, float), jnp.asarray(y, float)[:, None]
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, x.shape[1])))


def network(w, a):
    w, a = jnp.asarray(w, float), jnp.asarray(a, float)[:, None]
    return TwoLayer(w, a, None, jax.nn.relu)


@eqx.filter_jit
def value(measure, net, data):
    return measure(net, data)


def drawn(n, d, seed):
    rng = np.random.default_rng(seed)
    return sample(rng.standard_normal((n, d)), rng.standard_normal(n))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(4, 2), (15, 2), (4, 3), (15, 3), (20, 6)])
def test_the_largest_growth_is_that_of_the_greatest_extremal_vector(n, d):
    data = drawn(n, d, seed=n + d)
    nothing = network(np.zeros((1, d)), [0.0])
    with simbias.exact_numerics():
        found = float(value(LargestGrowth(), nothing, data))
    known = float(np.abs(extremal_vectors(data).value).max())
    if d <= 3:
        assert found == pytest.approx(known, rel=1e-12)
    else:
        # Both are lower bounds; that of the ascents ends near a kink.
        assert 0.99 * known <= found <= known * (1 + 1e-12)


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_no_direction_of_many_has_more(d, slope):
    data, rng = drawn(6, d, seed=d), np.random.default_rng(0)
    w = rng.standard_normal((2000, d))
    h = w / np.linalg.norm(w, axis=1, keepdims=True) @ np.asarray(data.x).T
    best = (np.where(h > 0, h, slope * h) @ np.asarray(data.y)[:, 0]).max()
    with simbias.exact_numerics():
        most, at = eqx.filter_jit(fastest_growth)(data.x, data.y[:, 0], slope)
    assert np.linalg.norm(at) == pytest.approx(1)
    assert best - 1e-12 <= float(most) <= best + 0.1 * abs(best)


@pytest.mark.slow
def test_one_sample_is_half_fitted_after_the_escape_time():
    """v' = 2v(1 − v) from A = ((|a| + w·e)/2)², up to what has decayed."""
    size, angle = 1e-6, 1.0
    one = network([[size * np.cos(angle), size * np.sin(angle)]], [size])
    data = sample([[1.0, 0.0]], [1.0])
    with simbias.exact_numerics():
        time = float(value(EscapeTime(), one, data))
        grown = (size * (1 + np.cos(angle)) / 2) ** 2
        assert time == pytest.approx(np.log(1 / grown) / 2, rel=1e-12)
        flow, loss = ReluFlow(rtol=1e-10), losses.half_mse
        measures = {"loss": lambda n, d: loss(jax.vmap(n)(d.x), d.y, d.weight)}
        way = simbias.solve(one, data, flow, loss, (time,), measures)
    assert float(way.records["loss"][0]) == pytest.approx(1 / 8, rel=1e-4)


@pytest.mark.slow
def test_a_saddle_is_left_when_it_was_said():
    """Neurons with a > 0 have found their fit; one with a < 0 is of size 1e-9."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 2))
    data = sample(x, x.sum(axis=1) / 2**0.5 + 0.3 * rng.standard_normal(40))
    start = network([[0.8, 0.7], [0.6, 0.8], [-7e-10, -7e-10]], [1.0, 1.0, -1e-9])
    measures = {
        "escape": EscapeTime(),
        "growth": NeuronGrowth(),
        "largest": LargestGrowth(),
        "loss": lambda n, d: losses.half_mse(jax.vmap(n)(d.x), d.y, d.weight),
    }
    with simbias.exact_numerics():
        flow, loss = ReluFlow(rtol=1e-8), losses.half_mse
        times = (20.0, 30.0, 45.0, 65.0, 200.0)
        seen = simbias.solve(start, data, flow, loss, times, measures).records
    when = np.asarray(times)[:2] + seen["escape"][:2]
    assert when[0] == pytest.approx(when[1], abs=1e-2)
    # Most of the loss is lost within some 1/ρ of it.
    saddle, end = seen["loss"][1], seen["loss"][4]
    assert 45.0 + 2 / seen["growth"][1] < when[1] < 65.0 - 2 / seen["growth"][1]
    assert seen["loss"][2] > saddle - 0.1 * (saddle - end)
    assert seen["loss"][3] < end + 0.1 * (saddle - end)
    # The neuron points to where growth is largest, and later none will leave again.
    assert seen["growth"][1] == pytest.approx(seen["largest"][1], rel=1e-6)
    assert np.isinf(seen["escape"][4])
    assert abs(seen["growth"][4]) < 0.01 * seen["growth"][1]


@pytest.mark.slow
def test_the_growth_of_a_neuron_is_that_of_its_logarithm():
    data, one = drawn(10, 3, seed=0), network([[0.1, 0.2, -0.2]], [-0.3])
    with simbias.exact_numerics():
        rate = float(value(NeuronGrowth(), one, data))
        _, slope = one.value_and_gradient(losses.half_mse, data.x, data.y, jnp.ones(10))
    # w' = −∂L/∂w, and |a| = |w|.
    assert rate == pytest.approx(-float((one.w * slope.w).sum()) / 0.3**2, rel=1e-12)


@pytest.mark.slow
def test_off_all_hyperplanes_the_least_subgradient_is_the_gradient():
    data, rng = drawn(10, 3, seed=0), np.random.default_rng(1)
    some = network(rng.standard_normal((4, 3)), rng.standard_normal(4))
    with simbias.exact_numerics():
        found = float(value(LeastSubgradient(), some, data))
        _, slope = some.value_and_gradient(
            losses.half_mse, data.x, data.y, jnp.ones(10)
        )
    both = np.concatenate([np.asarray(slope.w).ravel(), np.asarray(slope.a).ravel()])
    assert found == pytest.approx(np.linalg.norm(both), rel=1e-12)


@pytest.mark.slow
def test_on_hyperplanes_it_is_the_least_of_a_box():
    """On those of three samples, one of them with a multiple and an opposite."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((8, 4))
    x[:3, 3] = 0
    x[3], x[4] = 2 * x[0], -x[0]
    data = sample(x, rng.standard_normal(8))
    w, a = np.array([0.0, 0.0, 0.0, 1.0]), 0.7
    with simbias.exact_numerics():
        found = float(value(LeastSubgradient(), network([w], [a]), data))
    h = np.array([0, 0, 0, 0, 0, *(x[5:] @ w)])
    force = -(np.maximum(h, 0) * a - np.asarray(data.y)[:, 0]) / 8
    q = np.where(h > 0, force, 0) @ x
    # Samples of one hyperplane go over together: below it the opposite is active.
    q, steps = q + force[4] * x[4], force[:3, None] * x[:3]
    steps[0] += force[3] * x[3] - force[4] * x[4]
    zeta = scipy.optimize.lsq_linear(steps.T, -q, (0, 1), tol=1e-14).x
    least = q + zeta @ steps
    both = np.hypot(a * np.linalg.norm(least), w @ least)
    assert found == pytest.approx(both, rel=1e-6)


@pytest.mark.slow
def test_the_margin_is_the_sine_to_the_nearest_hyperplane():
    data = sample([[1.0, 0.0], [0.0, 2.0]], [1.0, 1.0])
    with simbias.exact_numerics():
        margin = PatternMargin()
        angle = 0.3
        near = network([[5 * np.cos(angle), 5 * np.sin(angle)]], [1.0])
        assert float(value(margin, near, data)) == pytest.approx(
            np.sin(angle), rel=1e-12
        )
        # One that slides on a hyperplane is not near it, and a dead one to none.
        assert float(
            value(margin, network([[3.0, 0.0]], [1.0]), data)
        ) == pytest.approx(1)
        assert float(value(margin, network([[-1.0, -0.1]], [1.0]), data)) == np.inf


def test_measures_of_rest_are_about_two_layers_and_one_output():
    data = drawn(4, 2, seed=0)
    two = TwoLayer(jnp.ones((3, 2)), jnp.ones((3, 1)), None, jnp.tanh)
    for measure in (NeuronGrowth(), EscapeTime(), LeastSubgradient(), PatternMargin()):
        with pytest.raises(BadInput, match=type(measure).__name__):
            measure(two, data)
    frozen = TwoLayer(two.w, two.a, None, jax.nn.relu, frozen=("a",))
    with pytest.raises(BadInput, match="frozen"):
        EscapeTime()(frozen, data)


@pytest.mark.slow
@pytest.mark.parametrize(
    "has_bias", [pytest.param(False, marks=pytest.mark.long), True]
)
def test_neither_padding_nor_the_order_of_neurons_matters(has_bias):
    data, rng = drawn(9, 3, seed=3), np.random.default_rng(4)
    w, a = rng.standard_normal((4, 3)), 0.1 * rng.standard_normal(4)
    b = jnp.asarray(rng.standard_normal(4)) if has_bias else None
    some = dataclasses.replace(network(w, a), b=b)
    back = dataclasses.replace(
        network(w[::-1], a[::-1]), b=None if b is None else b[::-1]
    )
    with simbias.exact_numerics():
        for measure in (
            *(NeuronGrowth(), LargestGrowth(), EscapeTime()),
            *(LeastSubgradient(), PatternMargin()),
        ):
            one = float(value(measure, some, data))
            assert np.isfinite(one) or isinstance(measure, EscapeTime)
            other = float(value(measure, back, padded(data, 16)))
            assert other == pytest.approx(one, rel=1e-10)
