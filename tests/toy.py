"""A small sample, a small network and how to compare two, for tests of the flows."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import Dataset
from simbias.networks.two_layer_init import balanced

KEY = jax.random.key(0)
N, D, M = 12, 3, 6


def sample(n=N, padding=0):
    key_x, key_y = jax.random.split(jax.random.key(1))
    x = jax.random.normal(key_x, (n, D), jnp.float64)
    noise = jax.random.normal(key_y, (n, 1), jnp.float64)
    y = jnp.sum(x, axis=1, keepdims=True) + 0.3 * noise
    pad = lambda v: jnp.pad(v, ((0, padding), (0, 0)))
    weight = jnp.pad(jnp.ones(n), (0, padding))
    return Dataset(pad(x), pad(y), weight, pad(y), jnp.ones((1, D)))


def toy_network(activation, seed=0, scale=2.0):
    key = jax.random.key(seed)
    return balanced(key, m=M, d=D, scale=scale, activation=activation)


def weights(net):
    params = eqx.filter(net, eqx.is_inexact_array)
    return np.concatenate([np.ravel(v) for v in jax.tree.leaves(params)])


def distance(a, b):
    return np.linalg.norm(weights(a) - weights(b)) / np.linalg.norm(weights(b))


def assert_same_bits(a, b):
    for u, v in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(np.asarray(u), np.asarray(v))


def stack(trees):
    return jax.tree.map(lambda *v: jnp.stack(v), *trees)
