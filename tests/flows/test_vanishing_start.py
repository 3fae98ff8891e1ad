import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset, Status
from simbias.flows.relu_flow import ReluFlow
from simbias.flows.vanishing_start import VanishingStart
from simbias.losses import half_mse, logistic, mse
from simbias.networks.activations import gelu
from simbias.networks.two_layer import TwoLayer

# All problems are padded to these sizes, so that they share two programs.
N, D, M = 8, 4, 10
LIMIT, FLOW = VanishingStart(rtol=1e-6, jumps=8), ReluFlow(rtol=1e-6, decouple=True)


def padded(v, *shape):
    v = np.asarray(v, float)
    return jnp.asarray(
        np.pad(v, [(0, s - r) for s, r in zip(shape, v.shape, strict=True)])
    )


def sample(x, y):
    y = padded(np.asarray(y, float)[:, None], N, 1)
    return Dataset(padded(x, N, D), y, padded(np.ones(len(x)), N), y, jnp.zeros((0, D)))


def network(w, a):
    return TwoLayer(padded(w, M, D), padded(np.asarray(a, float)[:, None], M, 1))


@eqx.filter_jit
def advance(flow, state, data, until):
    running = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    step = lambda s: flow.step(s, data, half_mse, until)
    return jax.lax.while_loop(running, step, state)


def followed(flow, net, data, until):
    state = eqx.filter_jit(flow.init)(net, data, half_mse, jax.random.key(0))
    return advance(flow, state, data, jnp.asarray(float(until)))


def limit(net, data, until=np.inf):
    return followed(LIMIT, net, data, until)


def jumps(state):
    count = int(state.memory.count)
    return np.asarray(state.memory.time)[:count], np.asarray(state.memory.loss)[:count]


# Orthonormal inputs: neurons of the sign of y_± leave for Σ_± yᵢxᵢ, which they fit.
ORTHOGONAL = np.eye(4), np.array([2.0, 1.0, -1.0, -0.5])
BOTH_SIGNS = network([[1.0, 2.0, 1.0, 3.0], [2.0, 1.0, 1.0, 1.0]], [1.0, -1.0])


def test_on_orthogonal_data_the_signs_leave_at_n_over_the_norm_of_their_labels():
    x, y = ORTHOGONAL
    state = limit(BOTH_SIGNS, sample(x, y))
    assert Status(int(state.status)) == Status.CONVERGED
    time, loss = jumps(state)
    norms = np.linalg.norm(y[y > 0]), np.linalg.norm(y[y < 0])
    # Directions are known to 1e-6 of the speeds when a saddle is left.
    np.testing.assert_allclose(time, 4 / np.array(norms), rtol=1e-5)
    left = np.array([np.sum(y**2), np.sum(y[y < 0] ** 2)]) / 8
    np.testing.assert_allclose(loss, left, rtol=1e-5)


def test_nothing_happens_before_the_first_jump_and_times_are_reached():
    x, y = ORTHOGONAL
    state = limit(BOTH_SIGNS, sample(x, y), until=1.5)
    assert int(state.memory.count) == 0
    assert float(state.time) == 1.5
    later = advance(LIMIT, state, sample(x, y), jnp.asarray(jnp.inf))
    whole = limit(BOTH_SIGNS, sample(x, y))
    np.testing.assert_allclose(jumps(later)[0], jumps(whole)[0], rtol=1e-5)


def test_only_directions_and_signs_of_the_start_count():
    x, y = ORTHOGONAL
    scaled = dataclasses.replace(
        BOTH_SIGNS, w=1e-7 * BOTH_SIGNS.w, a=1e3 * BOTH_SIGNS.a
    )
    one, other = limit(BOTH_SIGNS, sample(x, y)), limit(scaled, sample(x, y))
    np.testing.assert_allclose(jumps(one)[0], jumps(other)[0], rtol=1e-6)


def test_groups_of_both_signs_with_one_wait_are_a_tie():
    data = sample(np.eye(2), [1.0, -1.0])
    state = limit(network([[1.0, 2.0], [2.0, 1.0]], [1.0, -1.0]), data)
    assert Status(int(state.status)) == Status.TIE
    np.testing.assert_allclose(float(state.time), 2, rtol=1e-5)


def test_dead_neurons_stay_at_the_first_saddle():
    state = limit(network([[-1.0, -2.0]], [1.0]), sample(np.eye(2), [1.0, 1.0]))
    assert Status(int(state.status)) == Status.STATIONARY
    assert int(state.memory.count) == 0
    assert float(state.time) == 0


def random_problem(seed):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(5, 2)), rng.normal(size=(M, 2))
    y = x.sum(axis=1) / 2**0.5 + 0.3 * rng.normal(size=5)
    w = w / np.linalg.norm(w, axis=1, keepdims=True)
    return sample(x, y), network(w, np.where(rng.random(M) < 0.5, -1.0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_the_flow_from_a_tiny_start_ends_where_the_limit_does(seed):
    data, net = random_problem(seed)
    state = limit(net, data)
    assert Status(int(state.status)) in (Status.CONVERGED, Status.STATIONARY)
    scale = 1e-100
    start = dataclasses.replace(net, w=scale * net.w, a=scale * net.a)
    until = 1.2 * jumps(state)[0][-1] * -np.log(scale) + 3000
    end = followed(FLOW, start, data, until)
    f, f_limit = (jax.vmap(s.network)(data.x) for s in (end, state))
    # The flow has 3000 units of time to come to rest, and does so to about 1e-4.
    np.testing.assert_allclose(f, f_limit, atol=2e-3 * float(jnp.abs(data.y).max()))


@pytest.mark.slow
def test_a_small_neuron_leaves_a_plane_that_no_longer_holds_it():
    """While it slides, its direction stands still; after the first jump it must turn.

    By s = 4.8 it has left the saddle, as it has in the flow.
    """
    rng = np.random.default_rng(9)
    n, d = int(rng.integers(4, N + 1)), int(rng.integers(2, 4))
    x, w = rng.normal(size=(n, d)), rng.normal(size=(12, d))
    y = 0.3 * rng.normal(size=n) + x.sum(axis=1) / d**0.5
    a = np.where(rng.random(12) < 0.5, -1.0, 1.0)
    w = w / np.linalg.norm(w, axis=1, keepdims=True)
    data, net = sample(x, y), network(w[:M], a[:M])
    state = limit(net, data, until=4.8)
    time, _ = jumps(state)
    assert len(time) == 2
    assert int(state.memory.neuron[1]) in (4, 6)
    scale = 1e-250
    start = dataclasses.replace(net, w=scale * net.w, a=scale * net.a)
    size = lambda s: jnp.abs(followed(FLOW, start, data, s * -np.log(scale)).network.a)
    assert float(size(time[1] - 0.2)[4, 0]) < 1e-6
    assert float(size(time[1] + 0.2)[4, 0]) > 1e-2


@pytest.mark.parametrize(
    ("change", "loss", "words"),
    [
        ({}, logistic, "half_mse"),
        ({"activation": gelu}, half_mse, "two layers of ReLU"),
        ({"frozen": ("a",)}, mse, "trains all weights"),
        ({"w": jnp.ones((M, D), jnp.float32)}, mse, "float64"),
    ],
)
def test_what_has_no_such_limit_is_refused(change, loss, words):
    x, y = ORTHOGONAL
    net = dataclasses.replace(BOTH_SIGNS, **change)
    with pytest.raises(ValueError, match=words):
        LIMIT.init(net, sample(x, y), loss, jax.random.key(0))


@pytest.mark.parametrize("change", [{"rtol": 0.0}, {"max_steps": 0}, {"jumps": -1}])
def test_bad_options_are_named(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        VanishingStart(**change)
