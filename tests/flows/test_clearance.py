"""Who is looked at, and at what, where most neurons can meet no plane."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset, Status
from simbias.flows._relu import crossings, neuron_state
from simbias.flows._relu.clearance import screen_events
from simbias.flows._relu.crossings import may_meet
from simbias.flows._relu.frozen_field import extended_sample
from simbias.flows._relu.single_neuron import Point
from simbias.flows._relu.step_trajectory import StepData, Trajectory
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.networks import balanced

# Its operations one by one take longer to compile than all together.
sampled = eqx.filter_jit(extended_sample)

N, D, M = 24, 3, 30


def problem(n=N):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((n, D))
    # Three of one plane, and a row of padding.
    x[1], x[2], x[-1] = -2 * x[0], x[0], 7.0
    y = x[:, :1] + 0.5 * rng.standard_normal((n, 1))
    weight = jnp.ones(n).at[-1].set(0)
    y = jnp.asarray(y)
    return Dataset(jnp.asarray(x), y, weight, y, jnp.zeros((0, D)))


def end(data, time=20.0):
    """Compiled anew."""
    network = balanced(jax.random.key(3), m=M, d=D, scale=1e-2)

    @eqx.filter_jit
    def flow_on(network, data):
        flow = ReluFlow(rtol=1e-5)
        start = flow.init(network, data, half_mse, jax.random.key(0))
        goes_on = lambda s: (s.status == Status.RUNNING) & (s.time < time)
        step = lambda s: flow.step(s, data, half_mse, jnp.asarray(time))
        return jax.lax.while_loop(goes_on, step, start)

    return flow_on(network, data)


def assert_same(one, other):
    assert int(one.stats["crossings"]) > M
    for name, count in one.stats.items():
        assert int(count) == int(other.stats[name]), name
    for name in ("w", "a"):
        a, b = getattr(one.network, name), getattr(other.network, name)
        np.testing.assert_allclose(a, b, atol=1e-9 * float(jnp.abs(b).max()))


@pytest.mark.long
def test_the_flow_is_the_same_whoever_is_looked_at(monkeypatch):
    """All neurons, or those that have turned."""
    data = problem()
    plain = end(data)
    assert plain.memory.neurons.clearance is None
    monkeypatch.setattr(neuron_state, "PAYS", 1)
    looked = end(data)
    assert looked.memory.neurons.clearance is not None
    assert_same(looked, plain)


def course_of(data, turn, seed=0):
    """Straight courses that turn neurons by about so much."""
    sample = sampled(data, half_mse, has_bias=False)
    rng = np.random.default_rng(seed)
    w = jnp.asarray(rng.standard_normal((M, D)))
    moved = jnp.asarray(turn * rng.standard_normal((M, D)))
    network = eqx.tree_at(
        lambda net: (net.w, net.a),
        balanced(jax.random.key(0), m=M, d=D),
        (w, jnp.ones((M, 1))),
    )
    begin = eqx.filter_jit(ReluFlow().init)
    here = begin(network, data, half_mse, jax.random.key(0)).memory.neurons
    none, zero = jnp.zeros(M), jnp.zeros(M, jnp.int32)
    still = jnp.zeros((M, 1))
    trajectory = Trajectory(
        none, Point(w, here.a, moved, still), Point(w + moved, here.a, moved, still),
        here.is_above, here.sliding, here.rates.moment, here.rates.moment, none, none,
        zero, zero, zero, zero, zero, none > 0, none > 0, None,
    )  # fmt: skip
    pull = sample.pulls(here.rates.residual)
    return trajectory, StepData(
        sample, pull, pull, jnp.asarray(1.0), 0.0, jnp.asarray(1e-5)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_neurons_that_do_not_slide_need_one_slot(seed):
    trajectory, step = course_of(problem(), 1.0, seed)
    is_pending = may_meet(trajectory, step)
    trajectory = eqx.tree_at(lambda c: c.is_pending, trajectory, is_pending)
    one = eqx.filter_jit(crossings._next_event_of_nonsliding)(step, trajectory)
    other = eqx.filter_jit(crossings._next_event)(step, trajectory)
    assert int(jnp.sum(one.event_count)) > M // 2
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("turn", [1e-3, 0.05, 1.0])
def test_nobody_who_may_meet_a_plane_is_left_out(turn):
    trajectory, step = course_of(problem(), turn)
    first = screen_events(trajectory, step, jnp.zeros(M))
    np.testing.assert_array_equal(first.is_pending, may_meet(trajectory, step))
    # What was known then is enough for half of the way once more.
    end = trajectory.end.w
    again = eqx.tree_at(
        lambda c: (c.start.w, c.end.w), trajectory, (end, end + trajectory.end.dw / 2)
    )
    later = screen_events(again, step, jnp.where(first.is_pending, 0, first.clearance))
    missed = may_meet(again, step) & ~first.is_pending & ~later.is_pending
    assert not jnp.any(missed)
    if turn < 0.01:
        assert int(jnp.sum(later.is_pending)) < M / 4
