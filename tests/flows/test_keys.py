"""Optimisers that draw: one noise for every seed and key, none shared."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from small import small
from toy import KEY, assert_same_bits, sample, toy_network, weights

from simbias.ensemble.events import from_host, to_host
from simbias.ensemble.lane import Lane
from simbias.ensemble.members import traced
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.verbs.simulate import simulate

OTHER = jax.random.key(9)
NOISY = functools.partial(optax.noisy_sgd, eta=0.5)


def add_noise(key):
    return optax.chain(optax.add_noise(0.1, 0.55, key), optax.sgd(0.1))


@jax.jit
def stepped(flow, state, data):
    return flow.step(state, data, half_mse, jnp.float64(1e3))


def run(optimiser, key=KEY, steps=2):
    rate = None if isinstance(optimiser, optax.GradientTransformation) else 0.1
    flow, data = traced(Descent(rate=rate, optimiser=optimiser)), sample()
    state = flow.init(toy_network("tanh"), data, half_mse, key)
    for _ in range(steps):
        state = stepped(flow, state, data)
    return state


def with_a_key_of_the_old_kind(rate):
    def update(updates, state, params=None):
        del params
        key, now = jax.random.split(state)
        kick = lambda g: -rate * (g + jax.random.normal(now, g.shape, g.dtype))
        return jax.tree.map(kick, updates), key

    return optax.GradientTransformation(lambda params: jax.random.PRNGKey(0), update)


@pytest.mark.parametrize(
    "optimiser",
    [
        functools.partial(NOISY, key=0),
        functools.partial(NOISY, key=jax.random.key(0)),
        add_noise(3),
        optax.inject_hyperparams(optax.noisy_sgd)(0.1, key=0),
        optax.masked(add_noise(3), lambda tree: jax.tree.map(lambda _: True, tree)),
        lambda rate: with_a_key_of_the_old_kind(rate),
    ],
    ids=["noisy_sgd", "a key", "add_noise", "injected", "masked", "old key"],
)
def test_members_of_one_start_draw_different_noise_and_each_draws_it_again(optimiser):
    one, again, other = (run(optimiser, key) for key in (KEY, KEY, OTHER))
    assert_same_bits(one.network, again.network)
    assert np.all(weights(one.network) != weights(other.network))


def test_the_noise_of_a_member_hangs_on_the_key_that_the_user_gave_too():
    one, other = (run(functools.partial(NOISY, key=key)) for key in (0, 1))
    assert np.all(weights(one.network) != weights(other.network))


@pytest.mark.slow
def test_noise_of_two_members_is_not_correlated():
    plain = weights(run(optax.sgd(0.1), steps=1).network)
    kicks = [
        weights(run(add_noise(3), jax.random.key(seed), steps=1).network) - plain
        for seed in range(60)
    ]
    # 30 pairs of 24 normal numbers: mean of the products over their size.
    products = np.mean(np.asarray(kicks[::2]) * np.asarray(kicks[1::2]))
    scale = np.mean(np.square(kicks))
    assert abs(products / scale) < 4 / np.sqrt(30 * len(plain))


def test_a_member_that_is_saved_and_resumed_draws_the_same_noise():
    flow, data = traced(Descent(optimiser=add_noise(3))), sample()
    state = flow.init(toy_network("tanh"), data, half_mse, KEY)
    for _ in range(3):
        state = stepped(flow, state, data)
    lane = Lane(flow, data, state, jnp.int32(0), {}, {})
    like = jax.eval_shape(lambda: lane)
    back = from_host(like, [np.asarray(v) for v in to_host(lane)])
    assert_same_bits(
        stepped(flow, state, data).network, stepped(flow, back.state, data).network
    )


@pytest.mark.slow
def test_seeds_of_a_run_have_their_own_noise_whoever_else_runs(tmp_path):
    flow = Descent(optimiser=add_noise(3))
    few = small(flow=flow, cell={"n": 6}, seeds=2, times=(0.0, 4.0), keep=(4.0,))
    many = dataclasses.replace(few, seeds=3)
    store = tmp_path / "run.zarr"
    simulate(few, store=store)
    grown = simulate(many, store=store)
    np.testing.assert_array_equal(grown["risk"], simulate(many)["risk"])


def from_a_key_of_its_own(rate):
    def update(updates, state, params=None):
        del params
        key = jax.random.fold_in(jax.random.key(0), state)
        kick = lambda g: -rate * (g + jax.random.normal(key, g.shape, g.dtype))
        return jax.tree.map(kick, updates), state + 1

    return optax.GradientTransformation(lambda params: jnp.int32(0), update)


def test_an_optimiser_with_a_key_that_no_seed_changes_is_refused_by_name():
    with pytest.raises(ValueError, match="`optimiser` draws random numbers from a key"):
        run(from_a_key_of_its_own)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adam", "lbfgs", "lion", "muon"])
def test_optimisers_that_draw_nothing_are_as_they_were(name):
    optimiser = optax.contrib.muon(0.1) if name == "muon" else getattr(optax, name)(0.1)
    one, other = (run(optimiser, key) for key in (KEY, OTHER))
    assert_same_bits(one.network, other.network)
