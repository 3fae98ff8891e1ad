"""Neurons that do not feel each other, followed alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias import losses
from simbias.core import Dataset, Status
from simbias.errors import BadInput
from simbias.flows._relu.noninteracting import straight_lines
from simbias.flows._relu.noninteracting.moving import line_of
from simbias.flows.relu_flow import ReluFlow
from simbias.networks import balanced
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer import TwoLayer

N, D, M = 24, 3, 20
COUNTS = ("crossings", "slides", "releases")
FLOW = ReluFlow(decouple=True)


def generic(rng):
    return rng.standard_normal((N, D))


def mirrored(rng):
    """Duplicates, multiples and mirror images share their planes."""
    x = rng.standard_normal((N // 3, D))
    return np.concatenate([x, -2 * x, x])


def lattice(rng):
    """Many planes meet in one line."""
    return rng.integers(-1, 2, (N, D)).astype(float)


def flat(rng):
    """Inputs that span less than their space."""
    x = rng.standard_normal((N, D))
    x[:, -1] = x[:, 0]
    return x


def problem(inputs, scale=1e-9, slope=0.0, bias=False, seed=0):
    rng = np.random.default_rng(seed)
    x = inputs(rng)
    y = 0.3 * (np.sign(rng.standard_normal((N, 1)) - 0.5) + x[:, :1])
    w, b = rng.standard_normal((M, D)), rng.standard_normal(M) * bias
    size = np.sqrt(np.sum(w**2, axis=1) + b**2)
    a = (size * np.where(rng.random(M) < 0.5, 1, -1))[:, None]
    w[3], b[3], a[3] = 0.0, 0.0, 0.0
    activation = LeakyRelu(slope) if slope else jax.nn.relu
    given = lambda v: jnp.asarray(scale * v)
    network = TwoLayer(given(w), given(a), given(b) if bias else None, activation)
    ones, target = jnp.ones(N), jnp.asarray(y)
    return network, Dataset(jnp.asarray(x), target, ones, target, jnp.zeros((0, D)))


@eqx.filter_jit
def flowed(network, data, time, loss, flow):
    state = flow.init(network, data, loss, jax.random.key(0))
    goes = lambda s: (s.status == Status.RUNNING) & (s.time < time)
    step = lambda s: flow.step(s, data, loss, time)
    return jax.lax.while_loop(goes, step, state)


def both(network, data, time=6.0, loss=losses.half_mse):
    """Alone, and as if there were no such steps."""
    run = lambda flow: flowed(network, data, jnp.asarray(time), loss, flow)
    return run(ReluFlow(rtol=1e-6, decouple=True)), run(ReluFlow(rtol=1e-6))


def assert_same(alone, together, scale, rtol=1e-4):
    for name in COUNTS:
        assert int(alone.stats[name]) == int(together.stats[name]), name
    for one, other in zip(
        jax.tree.leaves(eqx.filter(alone.network, eqx.is_array)),
        jax.tree.leaves(eqx.filter(together.network, eqx.is_array)),
        strict=True,
    ):
        one, other = np.asarray(one) / scale, np.asarray(other) / scale
        np.testing.assert_allclose(one, other, atol=rtol * np.abs(other).max())


@pytest.mark.slow
@pytest.mark.parametrize(("inputs", "time"), [(generic, 6), (mirrored, 3), (flat, 6)])
def test_neurons_alone_go_where_they_go_together_at_a_tenth_of_the_cost(inputs, time):
    network, data = problem(inputs)
    alone, together = both(network, data, time=float(time))
    assert int(alone.stats["crossings"]) > M
    assert_same(alone, together, 1e-9)
    cost = lambda state: int(state.stats["evaluations"])
    assert cost(alone) < cost(together) / 10
    assert int(alone.stats["noninteracting"]) == int(alone.stats["accepted"]) > 0
    assert int(together.stats["noninteracting"]) == 0


def silent(data):
    """Nothing to learn: f falls to 0, and nobody turns."""
    return eqx.tree_at(lambda d: d.y, data, jnp.zeros_like(data.y))


def gathered(network):
    """All neurons have one pattern and one sign."""
    first = network.w[:1] / jnp.linalg.norm(network.w[0])
    size = jnp.linalg.norm(network.w, axis=1, keepdims=True)
    return eqx.tree_at(lambda n: (n.w, n.a), network, (size * first, size))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["never aligns", "one class"])
def test_what_aligns_at_no_time_or_has_is_followed_as_if_there_were_no_such_steps(case):
    network, data = problem(generic)
    if case == "never aligns":
        alone, together = both(network, silent(data))
    else:
        alone, together = both(gathered(network), data)
        assert int(alone.stats["noninteracting"]) > 0
    assert_same(alone, together, 1e-9)


@pytest.mark.long
def test_slopes_biases_and_the_logistic_loss_are_followed():
    network, data = problem(generic, slope=0.2, bias=True)
    data = eqx.tree_at(lambda d: d.y, data, jnp.sign(data.y))
    alone, together = both(network, data, loss=losses.logistic)
    assert int(alone.stats["crossings"]) > M
    assert_same(alone, together, 1e-9)


@pytest.mark.slow
def test_where_many_planes_meet_in_a_line_neurons_end_at_the_same_place():
    network, data = problem(lattice)
    alone, together = both(network, data)
    for name in ("w", "a"):
        one, other = getattr(alone.network, name), getattr(together.network, name)
        np.testing.assert_allclose(one, other, atol=1e-4 * float(jnp.abs(other).max()))


@pytest.mark.long
def test_few_candidates_find_what_a_look_at_all_planes_finds(monkeypatch):
    """And find it, whatever rows fill the arrays up, which are no planes."""
    network, data = problem(generic)
    fill = lambda v: jnp.concatenate([v, jnp.zeros((N, *v.shape[1:]), v.dtype)])
    parts = lambda d: (d.x, d.y, d.weight, d.mean)
    data = eqx.tree_at(parts, data, tuple(fill(v) for v in parts(data)))
    end = lambda flow: flowed(network, data, jnp.asarray(6.0), losses.half_mse, flow)
    all_planes = end(ReluFlow(decouple=True))
    looks, look = [], straight_lines._at_all

    def counted(moving, sliding, step):
        jax.debug.callback(lambda goes: looks.append(int(goes)), jnp.sum(moving.goes))
        return look(moving, sliding, step)

    monkeypatch.setattr(straight_lines, "_MANY", 1)
    monkeypatch.setattr(straight_lines, "_GROUP", 5)
    monkeypatch.setattr(straight_lines, "_at_all", counted)
    # Another program, of the same flow.
    few = end(ReluFlow(decouple=True, max_steps=10_000))
    assert_same(few, all_planes, 1e-9, rtol=1e-12)
    jax.effects_barrier()
    assert sum(looks) < int(few.stats["crossings"]) / 10


@pytest.mark.long
def test_many_planes_in_one_stride_lead_where_they_lead_one_by_one(monkeypatch):
    """To the tolerance, and nearer at a smaller one."""
    rng = np.random.default_rng(1)
    n = 2100
    x = jnp.asarray(rng.standard_normal((n, D)))
    y = x[:, :1] + 0.3 * rng.standard_normal((n, 1))
    data = Dataset(x, y, jnp.ones(n), y, jnp.zeros((0, D)))
    network = balanced(jax.random.key(0), m=M, d=D, scale=1e-9)
    run = lambda rtol: flowed(
        network,
        data,
        jnp.asarray(6.0),
        losses.half_mse,
        ReluFlow(rtol=rtol, decouple=True),
    )
    assert n >= straight_lines._BATCHES
    large, small = run(1e-4), run(1e-6)
    monkeypatch.setattr(straight_lines, "_BATCHES", n + 1)
    truth = flowed(
        network, data, jnp.asarray(6.0), losses.half_mse,
        ReluFlow(rtol=1e-6, decouple=True, max_steps=10_000),
    )  # fmt: skip
    crossings = int(truth.stats["crossings"])
    assert crossings > 300 * M
    errors = []
    for found in (large, small):
        assert abs(int(found.stats["crossings"]) - crossings) <= crossings / 1000
        moved = jnp.linalg.norm(found.network.w - truth.network.w, axis=1)
        relative = moved / jnp.linalg.norm(truth.network.w, axis=1)
        errors.append(float(jnp.sqrt(jnp.mean(relative**2))))
    assert 0 < errors[0] < 1e-4
    assert errors[1] < 1e-5


@pytest.mark.long
def test_what_begins_at_1e_270_waits_no_longer_than_what_begins_at_1e_3():
    rate, evaluations = 0.0, []
    for scale in (1e-3, 1e-30, 1e-270):
        network, data = problem(generic, scale=scale)
        if not rate:
            moment = ReluFlow().init(network, data, losses.half_mse, jax.random.key(0))
            rate = float(
                jnp.linalg.norm(moment.memory.neurons.rates.moment, axis=-1).max()
            )
        time = jnp.asarray(2 - 1.2 * np.log(scale) / rate)
        state = flowed(network, data, time, losses.half_mse, FLOW)
        assert float(jnp.linalg.norm(state.network.w)) > 1e-2
        evaluations.append(int(state.stats["evaluations"]))
    assert max(evaluations) < 1.5 * evaluations[0] + 20


@pytest.mark.slow
def test_neurons_with_larger_input_than_output_weights_are_followed_together():
    network, data = problem(generic)
    network = eqx.tree_at(lambda net: net.a, network, network.a / 2)
    state = flowed(network, data, jnp.asarray(1.0), losses.half_mse, FLOW)
    assert int(state.stats["accepted"]) > 5
    assert int(state.stats["noninteracting"]) == 0


@pytest.mark.slow
def test_what_roundings_took_from_an_output_weight_keeps_no_neuron_from_it():
    network, data = problem(generic)
    less = network.a.at[5].multiply(1 - 2e-14)
    lost = eqx.tree_at(lambda net: net.a, network, less)
    run = lambda net: flowed(net, data, jnp.asarray(6.0), losses.half_mse, FLOW)
    one, other = run(lost), run(network)
    assert int(one.stats["evaluations"]) == int(other.stats["evaluations"])
    assert_same(one, other, 1e-9, rtol=1e-10)


@pytest.mark.long
def test_one_in_a_lane_does_not_see_that_others_are_followed_together():
    small, data = problem(generic)
    large = jax.tree.map(lambda v: 1e8 * v if eqx.is_array(v) else v, small)
    at = jnp.asarray(2.0)
    run = lambda net: flowed(net, data, at, losses.half_mse, FLOW).network.w
    arrays, static = eqx.partition(small, eqx.is_array)
    pair = jax.tree.map(
        lambda u, v: jnp.stack([u, v]), arrays, eqx.filter(large, eqx.is_array)
    )
    both = jax.vmap(lambda part: run(eqx.combine(part, static)))(pair)
    alone = jax.vmap(lambda part: run(eqx.combine(part, static)))(
        jax.tree.map(lambda v: jnp.stack([v, v]), arrays)
    )
    np.testing.assert_array_equal(both[0], alone[0])


@pytest.mark.slow
def test_what_neurons_alone_are_not_known_to_do_is_refused_where_it_is_asked_for():
    network, data = problem(generic)
    held = TwoLayer(network.w, network.a, None, network.activation, frozen=("a",))
    both = eqx.tree_at(lambda n: n.a, network, jnp.repeat(network.a, 2, axis=1))
    twice = eqx.tree_at(lambda d: d.y, data, jnp.repeat(data.y, 2, axis=1))
    for net, of in ((held, data), (both, twice)):
        with pytest.raises(BadInput, match="`decouple`.*output"):
            FLOW.init(net, of, losses.half_mse, jax.random.key(0))
        eqx.filter_eval_shape(
            ReluFlow().init, net, of, losses.half_mse, jax.random.key(0)
        )


def test_events_are_not_written_down_by_neurons_alone():
    with pytest.raises(BadInput, match="`decouple`"):
        ReluFlow(decouple=True, events=10)


@pytest.mark.parametrize("scale", [1.0, 1e-40])
def test_a_balanced_neuron_that_shrinks_in_one_dimension_never_vanishes(scale):
    w, velocity = jnp.array([[-1.0], [-1.0], [1.0]]) * scale, jnp.ones((3, 1))
    # |a|² − |w|² as rounding leaves it; the second is not balanced: it passes w = 0.
    a = jnp.array([1 + 1e-15, 2.0, 1.0]) * scale
    line = line_of(w, a, velocity)
    to_zero = np.asarray(line.time(jnp.full(3, scale)))
    beyond = np.asarray(line.time(jnp.full(3, 2 * scale)))
    # dw/dt = |a| V, d|a|/dt = w·V:  w = −√3 sinh(s − t) where coth s = 2.
    assert to_zero[0] == beyond[0] == np.inf
    assert to_zero[1] == pytest.approx(np.arctanh(0.5), rel=1e-12)
    assert beyond[2] == pytest.approx(np.log(3), rel=1e-12)
