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

# "linear" is L, "permuted" its answers in another order, the control; "newton" is the
# line that fits the sample best; the others are networks with as many hidden layers.
EXPLAINERS = ("linear", "permuted", "newton", "depth 1", "depth 2")
LADDER = ("linear", "depth 1", "depth 2")
# A weak penalty on the best line: a pixel that is constant then has weight 0.
_PENALTY = 1e6
_WIDTH = 8
_ADAM = Descent(rate=0.01, optimiser="adam", batch=100)
_ADAM_STEPS = 3000


def with_explainers(
    key: PRNGKeyArray, data: Dataset, descent: Descent, steps: int
) -> Dataset:
    """The sample, with the answers of every classifier on the test sample in `others`.

    L is a line w·x + b, trained as the network is: from an initialisation of the same
    law, on the same sample, by `descent`.  "newton" is the logistic regression by
    Newton's method to rounding, with ‖w‖²/4·10⁶ added to the summed loss: of many
    inputs and few rows it fits the rows.  The deeper ones are networks of width 8,
    trained by 3000 steps of Adam on batches of 100.  `others` are the test sample with
    the answers, ±1, as its y.

    Args:
        key: random key.
        data: the sample, with a test sample.
        descent: optimiser of L.
        steps: number of steps of L.
    """
    assert data.test is not None
    x = data.test.x
    key_order, *keys = jax.random.split(key, 1 + len(LADDER))
    line = _of_network(keys[0], data, 0, x, descent, steps)
    order = jax.random.permutation(key_order, len(line))
    said = {"linear": line, "permuted": line[order], "newton": _of_newton(data, x)}
    for depth in range(1, len(LADDER)):
        adam = keys[depth], data, depth, x, _ADAM, _ADAM_STEPS
        said[f"depth {depth}"] = _of_network(*adam)
    others = {name: _answered(data.test, said[name]) for name in EXPLAINERS}
    return dataclasses.replace(data, others=others)


def _of_newton(data: Dataset, x: Array) -> Bool[Array, " n"]:
    label = (data.y[:, 0] > 0).astype(jnp.int32)
    w, b = softmax_regression(data.x, label, data.weight, 2, _PENALTY)
    score = jnp.matmul(x, w.T, precision="highest") + b[None, :]
    return score[:, 1] > score[:, 0]


def _of_network(
    key: PRNGKeyArray, data: Dataset, depth: int, x: Array, descent: Descent, steps: int
) -> Bool[Array, " n"]:
    key_network, key_batches = jax.random.split(key)
    network = mlp(key_network, (x.shape[1], *(_WIDTH,) * depth, 1))
    state = descent.init(network, data, logistic, key_batches)
    never = jnp.asarray(np.inf)
    step = lambda _, state: descent.step(state, data, logistic, never)
    state = jax.lax.fori_loop(0, steps, step, state)
    return jax.vmap(state.network)(x)[:, 0] > 0


def _answered(test: Dataset, said: Bool[Array, " n"]) -> Dataset:
    y = jnp.where(said, 1.0, -1.0)[:, None]
    return Dataset(test.x, y, test.weight, y, test.features)
