"""The stabilised method: order, stability, and when it takes over."""

import dataclasses

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset, Status
from simbias.flows._relu.frozen_field import FlowVector
from simbias.flows._relu.rkc_step import (
    MAX_STAGES,
    chebyshev_step,
    error_estimate,
    largest_stretch,
    stages_for,
)
from simbias.flows._relu.smooth_step import _from_stages, unknown_stiffness
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.networks.two_layer import TwoLayer
from simbias.verbs.simulate import solve

# Compiled once for all tests.
FLOW = ReluFlow(rtol=1e-6)
start = jax.jit(lambda net, data: FLOW.init(net, data, half_mse, jax.random.key(0)))
attempt = jax.jit(lambda state, data, end: FLOW.step(state, data, half_mse, end))


def attempts(state, data, end, count):
    for _ in range(count):
        state = attempt(state, data, jnp.asarray(end))
    return state


def integrated(rates, length, end):
    """y' = −rates·y from 1, in equal steps."""
    field = lambda y: -rates * y
    y = jnp.ones_like(rates)
    stages = stages_for(jnp.max(rates) * length)
    for _ in range(round(end / length)):
        y = chebyshev_step(field, y, field(y), jnp.asarray(length), stages)
    return y


@pytest.mark.slow
def test_error_falls_with_the_square_of_the_step():
    rates = jnp.asarray([1.0, 40.0])
    errors = [
        abs(float(integrated(rates, h, 2.0)[0]) - np.exp(-2.0))
        for h in (0.2, 0.1, 0.05)
    ]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.3)


@pytest.mark.parametrize("stretch", [0.1, 3.0, 20.0, 300.0, largest_stretch()])
def test_the_number_of_stages_is_stable_for_every_rate_up_to_the_largest(stretch):
    rates = jnp.linspace(0.0, stretch, 2001)
    stages = stages_for(jnp.asarray(stretch))
    field = lambda y: -rates * y
    ones = jnp.ones_like(rates)
    factor = chebyshev_step(field, ones, field(ones), jnp.asarray(1.0), stages)
    assert int(stages) <= MAX_STAGES
    assert np.all(np.abs(factor) <= 1 + 1e-12)
    assert float(factor[0]) == 1.0


@pytest.mark.parametrize("count", [2, 3, 10, MAX_STAGES])
def test_no_stage_lies_outside_the_step(count):
    length = 0.5

    def field(y):
        # y₀ is the time; y₁ grows at rate one in the step and explodes outside.
        is_inside = (y[0] > 0) & (y[0] <= length * (1 + 1e-12))
        return jnp.stack([jnp.ones(()), jnp.where(is_inside, 1.0, 1e6)])

    start, rate = jnp.zeros(2), jnp.ones(2)
    end = chebyshev_step(field, start, rate, jnp.asarray(length), jnp.int32(count))
    np.testing.assert_allclose(end, length, rtol=1e-12)


def test_the_error_estimate_is_of_third_order():
    field = lambda y: -(y**2)
    estimates = []
    for h in (0.2, 0.1, 0.05):
        y, h = jnp.asarray(1.0), jnp.asarray(h)
        new = chebyshev_step(field, y, field(y), h, jnp.int32(5))
        estimates.append(float(error_estimate(y, new, field(y), field(new), h)))
    assert estimates[0] / estimates[1] == pytest.approx(8, rel=0.3)
    assert estimates[1] / estimates[2] == pytest.approx(8, rel=0.3)


class Kutta(diffrax.AbstractERK):
    """Three stages, which no method of diffrax with an error estimate has."""

    tableau = diffrax.ButcherTableau(
        a_lower=(np.array([0.5]), np.array([-1.0, 2.0])),
        b_sol=np.array([1.0, 4.0, 1.0]) / 6,
        b_error=np.array([1.0, -2.0, 1.0]) / 6,
        c=np.array([0.5, 1.0]),
    )
    interpolation_cls = diffrax.LocalLinearInterpolation

    def order(self, terms):
        return 3


@pytest.mark.parametrize("solver", [diffrax.Heun(), Kutta(), diffrax.Tsit5()])
def test_the_last_two_stages_tell_the_rate_at_which_everything_decays(solver):
    rate, length, rng = 3.0, 0.2, np.random.default_rng(0)
    start = {"w": rng.standard_normal((2, 4)), "a": rng.standard_normal((1, 4))}

    def increments(y0):
        """h F of every stage, F(y) = −rate·y."""
        stages = [-length * rate * y0]
        for row in solver.tableau.a_lower:
            y = y0 + np.tensordot(row, stages, axes=1)
            stages.append(-length * rate * y)
        return jnp.asarray(np.stack(stages))

    parts = {name: increments(y0) for name, y0 in start.items()}
    stages = FlowVector(**parts, moment=jnp.zeros(1), residual=jnp.zeros(1))
    before = unknown_stiffness(jnp.zeros((4, 2)), jnp.zeros((4, 1)))
    found = _from_stages(solver, stages, jnp.asarray(length), before)
    assert float(found.radius) == pytest.approx(rate, rel=1e-9)


def stiff_problem():
    """Neurons that stay active everywhere: least squares with rates 50 and 0.02."""
    x = jnp.asarray([[10.0, 10.0], [10.0, 10.2], [10.2, 10.0]])
    y = jnp.asarray([[3.0], [3.5], [2.5]])
    data = Dataset(x, y, jnp.ones(3), y, jnp.zeros((0, 2)))
    return data, TwoLayer(jnp.asarray([[0.1, 0.1]]), jnp.asarray([[1.0]]))


@pytest.mark.slow
def test_the_stabilised_method_takes_over_and_agrees():
    data, network = stiff_problem()
    found = {}
    for stabilise in (True, False):
        flow = ReluFlow(rtol=1e-7, stabilise=stabilise)
        found[stabilise] = solve(network, data, flow, half_mse, (1.0, 60.0), {})
        assert found[stabilise].status == Status.REACHED_TIME
    fast, slow = found[True], found[False]
    assert fast.stats["evaluations"] < slow.stats["evaluations"] / 3
    np.testing.assert_allclose(fast.network.w, slow.network.w, rtol=1e-5)
    np.testing.assert_allclose(fast.network.a, slow.network.a, rtol=1e-5)


@pytest.mark.long
def test_the_stabilised_steps_agree_with_plain_ones_at_late_times():
    # At rest only from t ≈ 5000 on; plain steps stay below 14 for all that.
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((4, 2)), rng.standard_normal((4, 1))
    w = 0.1 * rng.standard_normal((6, 2))
    a = np.linalg.norm(w, axis=1) * rng.choice([-1.0, 1.0], 6)
    x, y, w, a = map(jnp.asarray, (x, y, w, a))
    data = Dataset(x, y, jnp.ones(4), y, jnp.zeros((0, 2)))
    network = TwoLayer(w, a[:, None])
    plain = ReluFlow(rtol=1e-6, stabilise=False)
    slow = solve(network, data, plain, half_mse, (1e2, 1e4), {})
    times = (1e2, 1e4, 1e7)
    fast = solve(network, data, ReluFlow(rtol=1e-6), half_mse, times, {})
    assert slow.status == fast.status == Status.REACHED_TIME
    # A step is then about 1e4 long and takes 64 stages.
    assert fast.stats["evaluations"] < 1e7 / 100
    for name in ("w", "a"):
        end, long = (getattr(found.network, name) for found in (slow, fast))
        np.testing.assert_allclose(long, end, rtol=1e-4, atol=1e-5)


@pytest.mark.long
def test_lanes_of_both_methods_side_by_side_give_what_each_gives_alone():
    data, stiff = stiff_problem()
    other = dataclasses.replace(stiff, w=jnp.asarray([[1e-3, -1e-3]]))

    def run(network):
        step = lambda _, s: FLOW.step(s, data, half_mse, jnp.asarray(5.0))
        return jax.lax.fori_loop(0, 150, step, start(network, data))

    both = jax.tree.map(lambda *v: jnp.stack(v), stiff, other)
    together = jax.jit(jax.vmap(run))(both)
    for i, network in enumerate((stiff, other)):
        alone = attempts(start(network, data), data, 5.0, 150)
        np.testing.assert_allclose(together.network.w[i], alone.network.w, rtol=1e-9)
        assert int(together.stats["evaluations"][i]) == int(alone.stats["evaluations"])


@pytest.mark.long
def test_an_attempt_that_overflows_costs_a_step_and_not_the_member():
    data, network = stiff_problem()
    state = attempts(start(network, data), data, 5.0, 400)
    assert bool(state.memory.stiffness.is_stiff)
    far_too_long = eqx.tree_at(lambda s: s.memory.length, state, jnp.asarray(1e60))
    lost = attempts(far_too_long, data, 1e60, 1)
    assert bool(lost.memory.has_overflowed)
    assert float(lost.time) == float(state.time)
    there, back = (attempts(s, data, 60.0, 400) for s in (state, lost))
    assert there.status == back.status == Status.RUNNING
    assert float(there.time) == float(back.time) == 60.0
    np.testing.assert_allclose(back.network.w, there.network.w, rtol=1e-5)


@pytest.mark.long
def test_too_few_stages_cost_a_few_attempts_and_not_the_member():
    """As after a step whose sliding changed the pattern, and with it ρ."""
    data, network = stiff_problem()
    state = attempts(start(network, data), data, 60.0, 80)
    radius = float(state.memory.stiffness.radius)
    assert bool(state.memory.stiffness.is_stiff)
    unstable = eqx.tree_at(
        lambda s: (s.memory.stiffness.radius, s.memory.length),
        state,
        (jnp.asarray(radius / 10), jnp.asarray(2.0)),
    )
    astray = attempts(unstable, data, 60.0, 1)
    assert float(astray.time) == float(state.time)
    assert not bool(astray.memory.has_overflowed)
    assert radius / 10 <= astray.memory.stiffness.radius <= radius * 1.0001
    state, astray = (attempts(s, data, 60.0, 300) for s in (state, astray))
    assert state.status == astray.status == Status.RUNNING
    assert float(state.time) == float(astray.time) == 60.0
    np.testing.assert_allclose(astray.network.w, state.network.w, rtol=1e-5)
