"""Classifiers that are fitted and then fixed: a line, and deeper networks."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, PRNGKeyArray

from simbias.core import Dataset
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.networks import mlp
from simbias.numerics.softmax_regression import softmax_regression

# "linear" is L, "permuted" its answers in another order, the control; the others are
# networks with as many hidden layers.
EXPLAINERS = ("linear", "permuted", "depth 1", "depth 2")
LADDER = ("linear", "depth 1", "depth 2")
# A weak penalty on L: a pixel that is constant then has weight 0.
_PENALTY = 1e6
_WIDTH = 8
_DESCENT, _STEPS = Descent(rate=0.01, optimiser="adam", batch=100), 3000


def with_explainers(key: PRNGKeyArray, data: Dataset) -> Dataset:
    """The sample, with the answers of every classifier on the test sample in `others`.

    L is the logistic regression on the training sample, by Newton's method to
    rounding, with ‖w‖²/4·10⁶ added to the summed loss.  The deeper ones are networks of
    width 8, trained by 3000 steps of Adam on batches of 100.  `others` are the test
    sample with the answers, ±1, as its y.
    """
    assert data.test is not None
    key_order, *keys = jax.random.split(key, 1 + len(LADDER))
    line = _of_line(data, data.test.x)
    order = jax.random.permutation(key_order, len(line))
    said = {"linear": line, "permuted": line[order]}
    for depth in range(1, len(LADDER)):
        said[f"depth {depth}"] = _of_network(keys[depth], data, depth, data.test.x)
    others = {name: _answered(data.test, said[name]) for name in EXPLAINERS}
    return dataclasses.replace(data, others=others)


def _of_line(data: Dataset, x: Array) -> Bool[Array, " n"]:
    label = (data.y[:, 0] > 0).astype(jnp.int32)
    w, b = softmax_regression(data.x, label, data.weight, 2, _PENALTY)
    score = jnp.matmul(x, w.T, precision="highest") + b[None, :]
    return score[:, 1] > score[:, 0]


def _of_network(
    key: PRNGKeyArray, data: Dataset, depth: int, x: Array
) -> Bool[Array, " n"]:
    key_network, key_batches = jax.random.split(key)
    network = mlp(key_network, (x.shape[1], *(_WIDTH,) * depth, 1))
    state = _DESCENT.init(network, data, logistic, key_batches)
    never = jnp.asarray(np.inf)
    step = lambda _, state: _DESCENT.step(state, data, logistic, never)
    state = jax.lax.fori_loop(0, _STEPS, step, state)
    return jax.vmap(state.network)(x)[:, 0] > 0


def _answered(test: Dataset, said: Bool[Array, " n"]) -> Dataset:
    y = jnp.where(said, 1.0, -1.0)[:, None]
    return Dataset(test.x, y, test.weight, y, test.features)
