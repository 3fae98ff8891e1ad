"""Two layers: the deep flow is `ReluFlow`, on small copies of its six problems."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from _deep_problems import advance, distance, flat, flowed, sample, started

from simbias import losses
from simbias.core import Status
from simbias.flows.relu_flow import ReluFlow
from simbias.networks import Mlp
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer import TwoLayer

# Everything is padded to these sizes, so that few programs are compiled.
N, D, M = 20, 6, 10
RTOL = 1e-8
KEY = jax.random.key(0)


def noisy_linear(rng, n, d):
    x = rng.standard_normal((n, d))
    return x, x @ np.ones(d) / np.sqrt(d) + 0.5 * rng.standard_normal(n)


def three_points(_):
    x = np.stack([[-0.75, -0.5, 0.125], np.ones(3)], 1)
    return x, np.array([1.1, 0.1, 0.8])


def xor_clusters(rng, n=16):
    axis, side = rng.integers(0, 2, n), rng.choice([-1.0, 1.0], n)
    x = 0.07 * rng.standard_normal((n, 2))
    x[np.arange(n), axis] += side
    return x, np.where(axis == 0, 1.0, -1.0)


def orthogonal(rng, n=4, d=6):
    q, _ = np.linalg.qr(rng.standard_normal((d, n)))
    return q.T * np.sqrt(d), rng.standard_normal(n)


# As those of `benchmarks/work_precision.py`, with fewer samples and neurons.
PROBLEMS = {
    "noisy_linear": (lambda rng: noisy_linear(rng, 20, 5), losses.half_mse, 0.0, 30),
    "noisy_linear_small": (
        lambda rng: noisy_linear(rng, 8, 5),
        losses.half_mse,
        0.0,
        30,
    ),
    "three_points": (three_points, losses.half_mse, 0.0, 60),
    "xor_clusters": (xor_clusters, losses.logistic, 0.0, 60),
    "orthogonal": (orthogonal, losses.half_mse, 0.0, 30),
    "leaky": (lambda rng: noisy_linear(rng, 20, 3), losses.half_mse, 0.1, 30),
}
# These have programs of their own.
OF_THEIR_OWN = ("xor_clusters", "leaky")


def padded(v, *shape):
    pads = [(0, s - r) for s, r in zip(shape, v.shape, strict=True)]
    return jnp.asarray(np.pad(v, pads))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in OF_THEIR_OWN))
        for name in PROBLEMS
    ],
)
def test_two_layers_have_the_weights_of_the_flow_of_two_layers(name):
    make, loss, slope, end = PROBLEMS[name]
    rng = np.random.default_rng([*PROBLEMS].index(name))
    x, y = make(rng)
    w = 0.03 * rng.standard_normal((M, x.shape[1]))
    a = jnp.asarray([rng.choice([-1.0, 1.0], M) * np.linalg.norm(w, axis=1)])
    w = padded(w, M, D)
    weight = padded(np.ones(len(x)), N)
    data = sample(padded(x, N, D), padded(y[:, None], N, 1), weight)
    activation = jax.nn.relu if slope == 0 else LeakyRelu(slope)
    deep = flowed(Mlp((w, a), (None, None), activation), data, (end,), loss, RTOL)[0]
    flow = ReluFlow(rtol=jnp.asarray(RTOL))
    state = started(flow, TwoLayer(w, a.T, activation=activation), data, loss)
    state = advance(flow, state, data, loss, jnp.asarray(float(end)))
    assert deep.status == state.status == Status.RUNNING
    two = np.concatenate([np.asarray(state.network.w).ravel(), state.network.a[:, 0]])
    assert np.linalg.norm(two) > 3 * np.linalg.norm(w)
    assert distance(flat(deep.network), two) < 10 * RTOL
