"""Losses, outputs and frozen layers of the exact deep flow; closed forms of sliding."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from _deep_problems import advance, distance, euler, flat, flowed, network, sample
from scipy.integrate import quad

from simbias import losses
from simbias.core import Status
from simbias.flows import DeepReluFlow
from simbias.networks import Mlp


def small_steps(net, data, loss, time, step=2e-4):
    """Extrapolation of two steps, and its distance from that of twice these steps."""
    go = lambda step: flat(euler(net, data, loss, jnp.asarray(time), jnp.asarray(step)))
    runs = [go(step / 2**i) for i in range(3)]
    before, end = 2 * runs[1] - runs[0], 2 * runs[2] - runs[1]
    return end, max(distance(before, end), distance(runs[1], runs[2]) / 50)


def several_outputs(seed=3):
    """Two hidden layers of 4 and three outputs; six samples, two of them equal."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((6, 3)), rng.standard_normal((6, 3))
    x[1] = x[0]
    return network((3, 4, 4, 3), 0.6 * rng.standard_normal(12 + 16 + 12)), x, y


def one_output(seed=3):
    net, x, y = several_outputs(seed)
    return Mlp((*net.weights[:2], net.weights[2][:1]), net.biases), x, y[:, :1]


def classes(y):
    return np.eye(3)[np.argmax(y, axis=1)]


CASES = {
    "three outputs": (several_outputs, losses.half_mse, lambda y: y),
    "cross entropy": (several_outputs, losses.cross_entropy, classes),
    "log_logistic": (one_output, losses.log_logistic, np.sign),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "three outputs",
        pytest.param("cross entropy", marks=pytest.mark.long),
        pytest.param("log_logistic", marks=pytest.mark.long),
    ],
)
def test_outputs_and_losses_follow_small_euler_steps(name):
    problem, loss, target = CASES[name]
    net, x, y = problem()
    data = sample(x, target(y))
    state = flowed(net, data, (4.0,), loss)[0]
    assert state.status == Status.RUNNING
    assert int(state.stats["crossings"]) + int(state.stats["slides"]) > 3
    end, error = small_steps(net, data, loss, 4.0)
    assert error < 1e-4
    assert distance(flat(state.network), end) < 5 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    "frozen", [pytest.param("weights.0", marks=pytest.mark.long), "weights.1"]
)
def test_a_frozen_layer_stays_and_the_others_follow_small_euler_steps(frozen):
    net, x, y = one_output()
    net = Mlp(net.weights, net.biases, frozen=(frozen,))
    data, layer = sample(x, y), int(frozen[-1])
    state = flowed(net, data, (8.0,))[0]
    assert state.status == Status.RUNNING
    after = state.network.weights
    np.testing.assert_array_equal(after[layer], net.weights[layer])
    end, error = small_steps(net, data, losses.half_mse, 8.0)
    assert error < 1e-4
    assert distance(flat(state.network), end) < 5 * error


@pytest.mark.slow
def test_a_unit_behind_a_frozen_layer_slides_by_the_closed_form():
    # Features (1, 0) and (1, 1); one unit v in the second hidden layer, and the last
    # weight 1 is frozen.  Sample 1 alone: v₁' = (4 − v₁)/2 from v = (1, −2).  At v₁ = 2
    # the unit meets sample 2, which pushes it back.  Of v' only the part along (1, −1)
    # is left, v₁' = (4 − v₁)/4.
    weights = (np.eye(2), np.array([[1.0, -2.0]]), np.ones((1, 1)))
    frozen = ("weights.0", "weights.2")
    net = Mlp(tuple(map(jnp.asarray, weights)), (None,) * 3, frozen=frozen)
    data = sample(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[4.0], [-4.0]]))
    meets, end = 2 * np.log(1.5), 3.0
    before, after = flowed(net, data, (meets / 2, end))
    v = np.asarray(before.network.weights[1])[0]
    np.testing.assert_allclose(v, [4 - 3 * np.exp(-meets / 4), -2], rtol=1e-7)
    v = np.asarray(after.network.weights[1])[0]
    first = 4 - 2 * np.exp(-(end - meets) / 4)
    np.testing.assert_allclose(v, [first, -first], rtol=1e-7)
    assert int(after.stats["slides"]) == 1
    assert int(after.stats["releases"]) == 0


@pytest.mark.slow
# A decision had moved a pin by more than the tolerance: every length was rejected.
def test_a_pin_that_is_off_at_the_beginning_of_a_step_goes_back_to_0():
    # As above, and the sliding unit is put 1e-5 beside its kink, 1000 times rtol.
    weights = (np.eye(2), np.array([[1.0, -2.0]]), np.ones((1, 1)))
    frozen = ("weights.0", "weights.2")
    net = Mlp(tuple(map(jnp.asarray, weights)), (None,) * 3, frozen=frozen)
    data = sample(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[4.0], [-4.0]]))
    state = flowed(net, data, (1.5,))[0]
    second = lambda s: s.network.weights[1]
    off = eqx.tree_at(second, state, second(state) + 5e-6)
    flow, until = DeepReluFlow(rtol=jnp.asarray(1e-8)), jnp.asarray(3.0)
    after = advance(flow, off, data, losses.half_mse, until)
    assert after.status == Status.RUNNING
    v = np.asarray(second(after))[0]
    assert abs(v.sum()) < 1e-12
    first = 4 - 2 * np.exp(-(3.0 - 2 * np.log(1.5)) / 4)
    np.testing.assert_allclose(v, [first, -first], rtol=2e-6)


@pytest.mark.slow
def test_steps_near_the_limit_are_shorter_than_stability_requires():
    # As above: v₁' = (4 − v₁)/4 while the unit slides, of which the derivative is −1/4.
    weights = (np.eye(2), np.array([[1.0, -2.0]]), np.ones((1, 1)))
    frozen = ("weights.0", "weights.2")
    net = Mlp(tuple(map(jnp.asarray, weights)), (None,) * 3, frozen=frozen)
    data = sample(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[4.0], [-4.0]]))
    state = flowed(net, data, (60.0,), rtol=1e-3)[0]
    assert float(state.memory.length) == pytest.approx(2.5 * 4, rel=1e-3)


@pytest.mark.slow
def test_three_trained_layers_slide_along_a_line_from_a_start_on_a_kink():
    # One unit per layer, balanced: w = q (1, −1)/√2 on the kink of the second sample,
    # and both other weights q.  With f = q³/√2 on the first sample, of target 1,
    # q' = (1 − f) q² / (2√2).
    q0 = 0.5
    first = q0 * np.array([[1.0, -1.0]]) / np.sqrt(2)
    weights = (first, np.full((1, 1), q0), np.full((1, 1), q0))
    net = Mlp(tuple(map(jnp.asarray, weights)), (None,) * 3)
    data = sample(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0], [-1.0]]))
    end = 5.0
    state = flowed(net, data, (end,))[0]
    w, b, a = (np.asarray(v) for v in state.network.weights)
    q = float(a[0, 0])
    np.testing.assert_allclose(w[0], q * np.array([1, -1]) / np.sqrt(2), rtol=1e-7)
    assert float(b[0, 0]) == pytest.approx(q, rel=1e-7)
    slowness = lambda q: 2 * np.sqrt(2) / (q**2 * (1 - q**3 / np.sqrt(2)))
    assert q > 1.5 * q0
    assert quad(slowness, q0, q, epsrel=1e-10)[0] == pytest.approx(end, rel=1e-6)
    assert int(state.stats["slides"]) > 0
    assert int(state.stats["releases"]) == 0


@pytest.mark.slow
# The unit changed between below and sliding, and did so again a rounding later.
def test_a_kink_far_smaller_than_the_multiplier_is_crossed():
    # v₁' = 4 − v₁ from v = (1, −1), by sample 1 alone: sample 2 has a weight of 1e-40,
    # and its unit rises from z = 0 with its side below.
    weights = (np.eye(2), np.array([[1.0, -1.0]]), np.ones((1, 1)))
    frozen = ("weights.0", "weights.2")
    net = Mlp(tuple(map(jnp.asarray, weights)), (None,) * 3, frozen=frozen)
    x, y = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[4.0], [-4.0]])
    data = sample(x, y, np.array([1.0, 1e-40]))
    state = flowed(net, data, (1.0,), max_steps=200)[0]
    assert state.status == Status.RUNNING
    v = np.asarray(state.network.weights[1])[0]
    np.testing.assert_allclose(v, [4 - 3 * np.exp(-1.0), -1], rtol=1e-7)
    assert int(state.stats["choices"]) == 0
    assert int(state.stats["crossings"]) == 1


@pytest.mark.slow
# What counts as 0 was a share of the layer's largest pre-activation: the unit died.
def test_a_unit_far_smaller_than_its_layer_is_not_at_its_kink():
    # A dead unit of size 1, and a live one with w = a = 1e-12: w' = −a, a' = −w.
    weights = (np.array([[-1.0], [1e-12]]), np.array([[1.0, 1e-12]]))
    net = Mlp(tuple(map(jnp.asarray, weights)), (None,) * 2)
    data = sample(np.array([[1.0]]), np.array([[-1.0]]))
    state = flowed(net, data, (2.0,), atol=jnp.asarray(1e-22))[0]
    assert state.status == Status.RUNNING
    (dead, w), (_, a) = (np.asarray(v).ravel() for v in state.network.weights)
    assert dead == -1
    np.testing.assert_allclose([w, a], 1e-12 * np.exp(-2.0), rtol=1e-7)
    assert int(state.stats["releases"]) == 0
