"""What a network draws in training: keys of member, step and row, and nothing else."""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from toy import KEY, assert_same_bits, distance, sample, toy_network, weights

from simbias.core import AbstractNetwork
from simbias.ensemble.events import from_host, to_host
from simbias.ensemble.lane import Lane
from simbias.ensemble.members import traced
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.introspection.array_network import ArrayNetwork, as_array_network
from simbias.losses import half_mse
from simbias.networks import mlp, noisy


def net_of(deviation=0.5):
    return noisy(toy_network("tanh"), deviation)


@jax.jit
def stepped(flow, state, data):
    return flow.step(state, data, half_mse, jnp.float64(1e3))


def run(flow, net, data, steps, key=KEY):
    flow = traced(flow)
    state = flow.init(net, data, half_mse, key)
    for _ in range(steps):
        state = stepped(flow, state, data)
    return state


def test_noise_of_no_size_is_no_noise():
    plain = run(Descent(rate=0.1), noisy(toy_network("tanh"), 0.0).inner, sample(), 5)
    found = run(Descent(rate=0.1), net_of(0.0), sample(), 5).network.inner
    # By another formula: the two-layer network has a gradient of its own.
    assert distance(found, plain.network) < 1e-13


def test_the_mean_gradient_under_noise_has_the_ridge_it_must_have():
    # Of a linear network: E ∇ ½(w·(x + σξ) − y)² = ∇ ½(w·x − y)² + σ² w.
    net, data, sigma = mlp(KEY, (3, 1), has_bias=False), sample(), 0.5
    (w,) = net.weights
    one = lambda key: w - run_once(noisy(net, sigma), data, key).weights[0]
    found = jax.jit(jax.vmap(one))(jax.random.split(KEY, 3000))
    residual = data.x @ w.T - data.y
    expected = residual.T @ data.x / len(data.x) + sigma**2 * w
    error = np.std(found, axis=0) / 3000**0.5
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < 5 * error)


def run_once(net, data, key):
    flow = traced(Descent(rate=1.0))
    state = flow.init(net, data, half_mse, key)
    return flow.step(state, data, half_mse, jnp.float64(9.0)).network.inner


def test_noise_is_another_one_for_every_step_member_and_row():
    flow, net, seen = Descent(rate=1e-9), net_of(), []
    for key in jax.random.split(KEY, 2):
        state = flow.init(net, sample(), half_mse, key)
        for _ in range(3):
            after = stepped(traced(flow), state, sample())
            seen.append(weights(after.network) - weights(state.network))
            state = after
    for i, one in enumerate(seen):
        for other in seen[:i]:
            assert np.linalg.norm(one - other) > 1e-2 * np.linalg.norm(one)
    # Two rows that are alike: with the same noise they would have the same gradient.
    data = jax.tree.map(lambda v: v[:1], sample())
    twice = jax.tree.map(lambda v: jnp.repeat(v[:1], 2, axis=0), data)
    alone, together = (run(Descent(rate=0.1), net, d, 1).network for d in (data, twice))
    assert distance(alone, together) > 1e-6


@pytest.mark.parametrize("batch", [None, 5])
def test_padding_does_not_change_the_noise_of_a_row(batch):
    flow = Descent(rate=0.05, batch=batch)
    plain, padded = (run(flow, net_of(), sample(padding=p), 8) for p in (0, 20))
    # Sums over 12 and 32 rows are rounded in a different order.
    assert distance(padded.network, plain.network) < 1e-12


def test_a_fork_changes_the_batches_and_not_the_noise():
    # With all rows in every batch there is nothing else that a fork could change.
    flow = Descent(rate=0.1, batch=1, fork=2)
    data = jax.tree.map(lambda v: v[:1], sample())
    one, other = (
        run(dataclasses.replace(flow, branch=b), net_of(), data, 5) for b in (0, 1)
    )
    assert_same_bits(one.network, other.network)


def test_a_line_search_sees_the_noise_of_its_step():
    # Steps are taken only where they lower the loss that is seen.
    flow = Descent(optimiser=optax.chain(optax.sgd(1.0), backtracking()))
    state = run(flow, net_of(), sample(), 3)
    assert np.all(np.isfinite(weights(state.network)))


def backtracking():
    return optax.scale_by_backtracking_linesearch(max_backtracking_steps=8)


@pytest.mark.slow
def test_a_member_draws_the_same_alone_and_beside_others():
    flow, keys = traced(Descent(rate=0.1, batch=5)), jax.random.split(KEY, 3)

    @jax.jit
    def together(keys):
        def one(key):
            state = flow.init(net_of(), sample(), half_mse, key)
            until = jnp.float64(9.0)
            move = lambda _, state: flow.step(state, sample(), half_mse, until)
            return jax.lax.fori_loop(0, 4, move, state).network

        return jax.lax.map(one, keys)

    every = together(keys)
    for i in range(3):
        alone = together(keys[i : i + 1])
        of = lambda tree, i: jax.tree.map(lambda v: v[i], tree)
        assert_same_bits(of(every, i), of(alone, 0))
    assert distance(of(every, 0), of(every, 1)) > 1e-6


def test_a_network_that_is_wrapped_draws_what_it_drew():
    class Own(eqx.Module):
        a: jax.Array
        function: Callable

        def __call__(self, x):
            return self.function(self.a @ x)

        def in_training(self, x, key):
            return self(x) + jax.random.normal(key, (1,))

    own = Own(jnp.ones((1, 3)), lambda v: 2 * v)
    x = jnp.ones(3)
    found = as_array_network(own)
    assert isinstance(found, ArrayNetwork)
    np.testing.assert_array_equal(found.in_training(x, KEY), own.in_training(x, KEY))
    plain = as_array_network(eqx.nn.MLP(2, 1, 3, 1, key=KEY))
    assert isinstance(plain, ArrayNetwork)
    assert plain.in_training is None


@pytest.mark.parametrize("batch", [None, 5])
def test_a_member_that_was_saved_and_read_draws_what_it_would_have_drawn(batch):
    flow = Descent(rate=0.1, batch=batch)
    whole, state = (run(flow, net_of(), sample(), steps) for steps in (6, 2))
    lane = Lane(traced(flow), sample(), state, jnp.int32(0), {}, {})
    state = from_host(lane, to_host(lane)).state
    for _ in range(4):
        state = stepped(traced(flow), state, sample())
    assert_same_bits(state.network, whole.network)
    assert int(state.stats["accepted"]) == 6


class Both(AbstractNetwork):
    a: jax.Array

    def __call__(self, x):
        return self.a @ x

    def in_training(self, x, key):
        return self.a @ x

    def on_sample(self, x, weight):
        return x @ self.a.T, self


def test_what_cannot_be_trained_so_is_said():
    with pytest.raises(ValueError, match="`in_training`"):
        Descent().init(Both(jnp.ones((1, 3))), sample(), half_mse, KEY)
    with pytest.raises(ValueError, match="`in_training`"):
        GradientFlow().init(net_of(), sample(), half_mse, KEY)
