"""Weight decay in every flow: θ' = −∇L − μθ."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias import losses
from simbias.core import Dataset, Status
from simbias.errors import BadInput
from simbias.flows import DeepReluFlow, GradientFlow, ReluFlow
from simbias.networks import Mlp, TwoLayer
from simbias.networks.activations import identity

MU = 0.1
KINDS = (GradientFlow, ReluFlow, DeepReluFlow)


@eqx.filter_jit
def _flowed(flow, net, data, until):
    state = flow.init(net, data, losses.half_mse, jax.random.key(0))
    running = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    step = lambda s: flow.step(s, data, losses.half_mse, until)
    return jax.lax.while_loop(running, step, state)


def flowed(flow, net, data, time):
    return _flowed(flow, net, data, jnp.asarray(float(time)))


def sample(x, y):
    y = jnp.asarray(np.asarray(y, float).reshape(len(x), -1))
    x = jnp.asarray(np.asarray(x, float))
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, x.shape[1])))


def network(w, a, activation=jax.nn.relu):
    w, a = np.asarray(w, float), np.asarray(a, float).reshape(len(w), -1)
    return TwoLayer(jnp.asarray(w), jnp.asarray(a), activation=activation)


def problem(seed=0, n=12, d=3, m=10, scale=0.3):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    y = x @ np.ones(d) / np.sqrt(d) + 0.5 * rng.standard_normal(n)
    w = scale * rng.standard_normal((m, d))
    a = np.sign(rng.standard_normal(m)) * np.linalg.norm(w, axis=1)
    return x, y, w, a


def euler(x, y, layers, time, step):
    """Small steps cross, slide and leave by themselves; Richardson on two of them."""

    def run(step):
        ws = [np.array(v) for v in layers]
        for _ in range(round(time / step)):
            hs, zs = [x.T], []
            for w in ws[:-1]:
                zs.append(w @ hs[-1])
                hs.append(np.maximum(zs[-1], 0))
            back = ((ws[-1] @ hs[-1])[0] - y)[None, :] / len(y)
            for k in range(len(ws) - 1, -1, -1):
                gradient = back @ hs[k].T
                if k:
                    back = (ws[k].T @ back) * (zs[k - 1] > 0)
                ws[k] = ws[k] - step * (gradient + MU * ws[k])
        return np.concatenate([w.ravel() for w in ws])

    return 2 * run(step) - run(2 * step)


@pytest.mark.parametrize(
    "kind",
    [
        GradientFlow,
        pytest.param(ReluFlow, marks=pytest.mark.slow),
        pytest.param(DeepReluFlow, marks=pytest.mark.slow),
    ],
)
def test_one_neuron_on_one_sample_follows_the_closed_form(kind):
    # a = w > 0 and x = y = 1: p = aw obeys p' = 2p (1 − μ − p), a logistic curve.
    data, size, time = sample([[1.0]], [1.0]), 0.1, 4.0
    if kind is DeepReluFlow:
        net = Mlp((jnp.full((1, 1), size), jnp.full((1, 1), size)), (None, None))
    else:
        activation = identity if kind is GradientFlow else jax.nn.relu
        net = network([[size]], [size], activation)
    state = flowed(kind(rtol=1e-9, weight_decay=MU), net, data, time)
    most = 1 - MU
    p = most / (1 + (most / size**2 - 1) * np.exp(-2 * most * time))
    assert abs(float(state.network(jnp.ones(1))[0]) - p) < 1e-8  # 10 rtol


@pytest.mark.slow
def test_a_network_that_slides_follows_small_euler_steps():
    x, y, w, a = problem()
    flow = ReluFlow(rtol=1e-8, weight_decay=MU)
    state = flowed(flow, network(w, a), sample(x, y), 12.0)
    found = np.concatenate([state.network.w.ravel(), state.network.a.ravel()])
    expected = euler(x, y, (w, a[None, :]), 12.0, 5e-4)
    error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    # That of Euler's method: 2.1e-5 at a fifth of the step.
    assert error < 3e-4
    assert min(int(state.stats[k]) for k in ("crossings", "slides")) > 2


@pytest.mark.slow
def test_the_balance_of_a_neuron_decays_at_twice_the_rate():
    x, y, w, a = problem()
    a = 1.5 * a
    flow = ReluFlow(rtol=1e-5, weight_decay=MU)
    state = flowed(flow, network(w, a), sample(x, y), 12.0)
    balance = lambda w, a: np.asarray(a).ravel() ** 2 - np.sum(np.asarray(w) ** 2, 1)
    expected = np.exp(-2 * MU * 12.0) * balance(w, a)
    found = balance(state.network.w, state.network.a)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.slow
def test_a_noninteracting_neuron_is_that_without_decay_made_smaller():
    # Under constant residuals the field is linear in the size of a neuron.
    x, y, w, a = problem(scale=1e-9)
    time, net = 8.0, network(w, a)
    ends = [
        flowed(ReluFlow(decouple=True, weight_decay=mu), net, sample(x, y), time)
        for mu in (None, MU)
    ]
    plain, decayed = (np.concatenate([s.network.w, s.network.a], 1) for s in ends)
    assert int(ends[1].stats["noninteracting"]) > 0
    np.testing.assert_allclose(decayed, np.exp(-MU * time) * plain, rtol=1e-9)


@pytest.mark.slow
def test_a_deep_network_that_slides_follows_small_euler_steps():
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((8, 3)), rng.standard_normal(8)
    layers = [0.7 * rng.standard_normal(s) for s in ((4, 3), (4, 4), (1, 4))]
    net = Mlp(tuple(map(jnp.asarray, layers)), (None,) * 3)
    state = flowed(DeepReluFlow(rtol=1e-8, weight_decay=MU), net, sample(x, y), 8.0)
    found = np.concatenate([np.ravel(v) for v in state.network.weights])
    expected = euler(x, y, layers, 8.0, 5e-4)
    error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert error < 1e-4
    assert min(int(state.stats[k]) for k in ("crossings", "slides")) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_no_decay_is_the_program_without_it(kind):
    assert eqx.tree_equal(kind(weight_decay=0.0).prepared(), kind())


@pytest.mark.parametrize("kind", KINDS)
def test_a_negative_decay_is_refused(kind):
    with pytest.raises(BadInput, match="`weight_decay` must be finite and 0 or more"):
        kind(weight_decay=-0.1)
