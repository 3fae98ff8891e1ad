"""Functions that fit a sample: uniform ones, random networks, networks of SGD."""

import dataclasses
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias.ensemble.plan import make_plan
from simbias.experiments import random_fit
from simbias.experiments.order._strings import drawn, every_string, strings
from simbias.measures.boolean.guesses import Guesses
from simbias.measures.risk.test_sign_accuracy import TestSignAccuracy
from simbias.verbs.simulate import simulate

KEY = jax.random.key(0)


def rest_of(data):
    assert data.test is not None
    return data.test


@pytest.mark.parametrize("target", ["majority", "parity"])
def test_sample_and_rest_are_all_strings_once(target):
    data = strings(KEY, d=5, n=6, target=target)
    x = np.concatenate([data.x, rest_of(data).x])
    assert data.x.shape == (6, 5)
    np.testing.assert_array_equal(
        np.unique(x, axis=0), np.unique(every_string(5), axis=0)
    )
    y = np.concatenate([data.y, rest_of(data).y])[:, 0]
    law = np.sign(x[:, :3].sum(1)) if target == "majority" else np.prod(x, axis=1)
    np.testing.assert_array_equal(y, law)
    assert np.sum(y) == 0


def test_samples_of_two_keys_differ_and_hold_every_string_as_often():
    first = lambda key: strings(key, d=3, n=2).x @ jnp.array([4.0, 2.0, 1.0])
    seen = jax.vmap(first)(jax.random.split(KEY, 4000))
    counts = np.unique(np.asarray(seen), return_counts=True)[1]
    # 8000 draws of 8 strings: four standard errors of a count, sqrt(8000·7/64).
    np.testing.assert_allclose(counts, 1000, atol=4 * 30)


@pytest.mark.parametrize(("d", "n"), [(3, 1), (3, 7), (4, 6), (4, 15)])
def test_of_all_functions_those_that_fit_are_right_on_half_of_the_rest(d, n):
    every = np.array(list(itertools.product([True, False], repeat=2**d)))
    x = np.array(list(itertools.product([-1, 1], repeat=d)))
    is_right = every == (x[:, :3].sum(axis=1) > 0)
    fitting = is_right[is_right[:, :n].all(axis=1)]
    assert len(fitting) == 2 ** (2**d - n)
    assert fitting[:, n:].mean() == 0.5


def test_guesses_are_those_of_a_loop_over_networks():
    data, network = strings(KEY, d=3, n=2), drawn(KEY, (3, 4, 1), "torch")
    found = np.asarray(Guesses(draws=300)(network, data))
    root = jax.random.split(jax.random.wrap_key_data(network.key))[1]
    expected = np.zeros(7)
    other = jax.jit(lambda key, x: jax.vmap(network.other(key))(x)[:, 0] > 0)
    for number in range(300):
        key = jax.random.fold_in(root, number)
        if np.all(other(key, data.x) == (data.y[:, 0] > 0)):
            is_right = other(key, rest_of(data).x) == (rest_of(data).y[:, 0] > 0)
            expected[int(np.sum(is_right))] += 1
    np.testing.assert_array_equal(found[1], expected)
    assert expected.sum() > 10
    # Rows of weight 0 change nothing of networks; coins are others, and as fair.
    longer = lambda v: jnp.concatenate([v, jnp.zeros((6, *v.shape[1:]))])
    parts = {name: longer(getattr(data, name)) for name in ("x", "y", "weight", "mean")}
    padded = dataclasses.replace(data, **parts)
    again = np.asarray(Guesses(draws=300)(network, padded))
    np.testing.assert_array_equal(again[1], found[1])


def test_coins_that_fit_are_coins_on_the_rest():
    data, network = strings(KEY, d=4, n=4), drawn(KEY, (4, 1), "torch")
    counts = np.asarray(Guesses(draws=20_000)(network, data))[0]
    # 1/16 of them fit: four standard errors.
    assert abs(counts.sum() - 1250) < 4 * math.sqrt(20_000 / 16)
    law = np.array([math.comb(12, k) for k in range(13)]) / 2**12
    expected = counts.sum() * law
    assert np.sum((counts - expected) ** 2 / np.maximum(expected, 1)) < 45


def test_accuracy_on_the_rest_is_the_share_that_is_right():
    data, right = strings(KEY, d=3, n=2), TestSignAccuracy()
    assert float(right(lambda x: jnp.sum(x, keepdims=True), data)) == 1
    assert float(right(lambda x: -jnp.sum(x, keepdims=True), data)) == 0
    share = float(np.mean(np.asarray(rest_of(data).y) > 0))
    assert float(right(lambda x: jnp.ones(1), data)) == pytest.approx(share)


@pytest.fixture(scope="module")
def run():
    small = random_fit.experiment(
        d=4, n=4, m=8, seeds=8, times=(0.0, 5.0, 10.0), final={"guesses": Guesses(400)}
    )
    return simulate(small)


def test_a_member_without_a_fit_has_no_accuracy_and_is_seen_at_its_first_fit(run):
    ds = run.copy(deep=True)
    ds["guesses"][dict(target=0, seed=0)] = 0.0
    found = random_fit.accuracies(ds)
    assert np.all(np.isnan(found[dict(target=0, seed=0)]))
    assert np.all(np.isfinite(found[dict(target=0, seed=1)]))
    counts = ds["guesses"][dict(target=1, seed=1, guesser=0)].values
    mean = np.sum(counts * np.arange(13)) / counts.sum() / 12
    assert float(found[dict(target=1, seed=1, guesser=0)]) == pytest.approx(mean)
    ds["train_accuracy"][dict(target=0)] = 0.5
    ds["train_accuracy"][dict(target=0, seed=2, time=1)] = 1.0
    first = random_fit.fitted(ds)["rest_accuracy"].sel(target="majority").values
    assert np.isnan(first[[0, 1, 3]]).all()
    seen = ds["rest_accuracy"].isel(target=0, seed=2, time=1)
    assert first[2] == float(seen)
    law = random_fit.uncorrelated(ds)
    assert float(law.sel(target="parity")) == pytest.approx((8 - 4) / 12)
    assert np.isnan(law.sel(target="majority"))


def test_random_networks_alone_are_a_run_of_time_0(run):
    alone = random_fit.experiment(
        d=4, n=4, m=8, seeds=8, times=(0.0,), final={"guesses": Guesses(400)}
    )
    ds = simulate(alone)
    np.testing.assert_array_equal(ds["guesses"], run["guesses"])
    of_sgd = [c for c in simbias.check(random_fit, ds) if "SGD" in c.statement]
    assert {c.verdict for c in of_sgd} == {"not applicable"}


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: make_plan(random_fit.experiment(target="minority")), "cell.target"),
        (lambda: make_plan(random_fit.experiment(law="xavier")), "cell.law"),
        (lambda: strings(KEY, n=0), "n"),
        (lambda: strings(KEY, n=128), "n"),
        (lambda: strings(KEY, d=2, n=1), "d"),
        (lambda: strings(KEY, d=15), "d"),
        (lambda: Guesses(draws=0), "draws"),
        (lambda: Guesses(draws=150), "draws"),
        (lambda: random_fit.make(KEY, m=0), "m"),
        (lambda: random_fit.make(KEY, depth=0), "depth"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(simbias.BadInput, match=f"`{named}`"):
        call()
