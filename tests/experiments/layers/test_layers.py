"""Layers: what they were, what they share, and how networks are matched."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias.core import Dataset, Experiment
from simbias.experiments.layers._remembering import EPOCHS, remembering
from simbias.flows.descent import Descent
from simbias.losses import cross_entropy
from simbias.measures.layers.layer_distance import LayerDistance
from simbias.measures.layers.reset_accuracy import ResetAccuracy, with_layer
from simbias.networks.dense.mlp import mlp

KEY = jax.random.key(0)
TIMES = tuple(float(k) for k in EPOCHS)


def a_sample(key, n=12, d=4, k=3):
    key_x, key_test = jax.random.split(key)
    y = jnp.eye(k)[jnp.arange(n) % k]
    draw = lambda key: jax.random.normal(key, (n, d), jnp.float64)
    features = jnp.zeros((0, d))
    test = Dataset(draw(key_test), y, jnp.ones(n), y, features)
    return Dataset(draw(key_x), y, jnp.ones(n), y, features, test)


# What a network remembers


def make_small(key):
    return a_sample(key), remembering(mlp(key, (4, 5, 6, 5, 3)), 12)


@pytest.fixture(scope="module")
def remembered():
    """By epoch: batches of 4 of 12 rows, three steps of rate ⅓."""
    experiment = Experiment(
        name="small",
        make=make_small,
        cell={},
        seeds=1,
        flow=Descent(rate=1 / 3, batch=4),
        loss=cross_entropy,
        times=(*TIMES, 91.0),
        measures={},
        keep=(*TIMES, 91.0),
    )
    ds = simbias.simulate(experiment)
    at = lambda time: simbias.member(ds, experiment, seed=0, time=time)
    return {time: at(time).network for time in (*TIMES, 91.0)}


@pytest.mark.long
def test_a_network_remembers_what_it_was_bit_by_bit(remembered):
    then = remembered[91.0].then()
    for i, time in enumerate(TIMES):
        was = remembered[time].network
        for layer in range(4):
            np.testing.assert_array_equal(then.weights[layer][i], was.weights[layer])
            np.testing.assert_array_equal(then.biases[layer][i], was.biases[layer])


def test_an_epoch_to_come_is_not_a_number(remembered):
    then = remembered[8.0].then()
    is_there = np.isfinite(then.weights[0]).all(axis=(1, 2))
    # Epoch 8 is over, and no batch since has written it down as past.
    assert is_there.tolist() == [epoch <= 8 for epoch in EPOCHS]


def test_memory_does_not_change_what_is_learned(remembered):
    data, network = make_small(KEY)
    arguments = (data, Descent(rate=1 / 3, batch=4), cross_entropy, (5.0,), {})
    plain = simbias.solve(network.network, *arguments).network
    with_memory = simbias.solve(network, *arguments).network
    for mine, other in zip(plain.weights, with_memory.network.weights, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)


# Layers set back


def test_a_layer_is_that_of_the_other_network_and_no_other_is():
    one, two = (mlp(jax.random.key(i), (4, 5, 6, 3)) for i in (0, 1))
    mixed = with_layer(one, 1, two)
    for i, (w, b) in enumerate(zip(mixed.weights, mixed.biases, strict=True)):
        source = two if i == 1 else one
        np.testing.assert_array_equal(w, source.weights[i])
        np.testing.assert_array_equal(b, source.biases[i])


def test_resets_are_accuracies_of_networks_put_together_by_hand(remembered):
    spare = mlp(jax.random.key(7), (4, 5, 6, 5, 3))
    network = dataclasses.replace(
        remembered[91.0], spare=remembering(spare, 1, spare).spare
    )
    data = a_sample(jax.random.key(3))
    found = ResetAccuracy(EPOCHS, 4)(network, data)
    assert data.test is not None
    label = np.argmax(data.test.y, axis=1)
    for j, was in enumerate([spare, *(remembered[t].network for t in TIMES)]):
        for layer in range(4):
            mixed = with_layer(network.network, layer, was)
            right = np.argmax(jax.vmap(mixed)(data.test.x), axis=1) == label
            assert found[layer, j] == pytest.approx(right.mean())


def test_distances_are_those_of_the_layers(remembered):
    network, start = remembered[91.0], remembered[0.0].network
    found = LayerDistance(4)(network, a_sample(KEY))
    now = network.network
    for i in range(4):
        moved = np.concatenate(
            [
                (now.weights[i] - start.weights[i]).ravel(),
                now.biases[i] - start.biases[i],
            ]
        )
        np.testing.assert_allclose(found[0, i], np.linalg.norm(moved), rtol=1e-12)
        np.testing.assert_allclose(found[1, i], np.abs(moved).max(), rtol=1e-12)
