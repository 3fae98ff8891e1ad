import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq, lsq_linear

from simbias import losses
from simbias.core import Dataset, Status
from simbias.flows._relu.attempt_step import attempt_step
from simbias.flows._relu.frozen_field import extended_sample
from simbias.flows._relu.integrate_step import Options
from simbias.flows._relu.subgradient import box_least_norm
from simbias.flows.relu_flow import ReluFlow
from simbias.networks.activations import LeakyRelu, gelu
from simbias.networks.two_layer import TwoLayer

# Its operations one by one take longer to compile than all together.
sampled = eqx.filter_jit(extended_sample)

# Weights of this size change no residual: r = −y/n to 12 digits, every neuron is alone.
TINY = 1e-6


# Everything is padded to these sizes, so that few programs are compiled: zero inputs of
# weight 0, inputs that are 0 throughout, neurons that are 0 and stay so.
N, D, M = 16, 4, 20


def padded(v, *shape):
    v = np.asarray(v, float)
    return jnp.asarray(
        np.pad(v, [(0, s - r) for s, r in zip(shape, v.shape, strict=True)])
    )


def sample(x, y, n=N):
    y = np.asarray(y, float).reshape(len(y), -1)
    target = padded(y, n, y.shape[1])
    weight = padded(np.ones(len(x)), n)
    return Dataset(padded(x, n, D), target, weight, target, jnp.zeros((0, D)))


def network(w, a, slope=0.0):
    activation = jax.nn.relu if slope == 0 else LeakyRelu(slope)
    a = np.asarray(a, float).reshape(len(a), -1)
    return TwoLayer(padded(w, M, D), padded(a, M, a.shape[1]), activation=activation)


@eqx.filter_jit
def advance(flow, state, data, loss, until):
    running = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    return jax.lax.while_loop(running, lambda s: flow.step(s, data, loss, until), state)


def flowed(net, data, time, loss=losses.half_mse, rtol=1e-7, max_steps=3000, **options):
    flow = ReluFlow(rtol=jnp.asarray(rtol), max_steps=max_steps, **options)
    state = flow.init(net, data, loss, jax.random.key(0))
    return advance(flow, state, data, loss, jnp.asarray(float(time)))


def weights(state):
    net = state.network
    return np.concatenate([np.asarray(net.w), np.asarray(net.a)], axis=1)


def distance(one, two):
    """Relative error per neuron, over the neurons and inputs of `two`."""
    a, two = one[: len(two), D:], np.asarray(two)
    one = np.concatenate([one[: len(two), : two.shape[1] - a.shape[1]], a], axis=1)
    return np.linalg.norm(one - two, axis=1) / np.linalg.norm(two, axis=1)


def relative(one, two):
    return np.linalg.norm(one - two, axis=1) / np.linalg.norm(two, axis=1)


def constant_drive(w, a, drive, time):
    """(w, a) under w' = aD, a' = w·D: (w·D/|D|) ± a grow as exp(±|D|t)."""
    w, drive = np.asarray(w, float), np.asarray(drive, float)
    rate = np.linalg.norm(drive)
    along = w @ drive / rate
    c, s = np.cosh(rate * time), np.sinh(rate * time)
    w = w + ((c - 1) * along + s * a) * drive / rate
    return w, c * a + s * along


def random_problem(seed, n=15, d=3, m=M, scale=1e-2):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    y = x @ np.ones(d) / np.sqrt(d) + 0.5 * rng.standard_normal(n)
    w = scale / np.sqrt(m) * rng.standard_normal((m, d))
    a = np.sign(rng.standard_normal(m)) * np.linalg.norm(w, axis=1)
    return x, y, w, a


def euler(x, y, w, a, time, step, slope=0.0, is_logistic=False):
    """Tiny steps cross, slide and leave by themselves; Richardson on two of them."""

    def run(step):
        v, b = np.array(w, float), np.array(a, float)
        for _ in range(round(time / step)):
            h = v @ x.T
            active = np.where(h > 0, 1.0, slope)
            f = b @ (active * h)
            r = (-y / (1 + np.exp(y * f)) if is_logistic else f - y) / len(y)
            drive = -(active * r) @ x
            v, b = v + step * b[:, None] * drive, b + step * (v * drive).sum(1)
        return np.concatenate([v, b[:, None]], axis=1)

    return 2 * run(step) - run(2 * step)


# One neuron, worked out by hand.  n = 2 and y₁ = 2: the sample x₁ = (1, 0) alone drives
# with D = y₁x₁/2 = (1, 0); from w = (1, −2), a = 1 both w₁ and a are eᵗ, and the plane
# of x₂ = (1, 1) is reached at t = ln 2 with w = (2, −2), a = 2.
X = np.array([[1.0, 0.0], [1.0, 1.0]])


@pytest.mark.slow
def test_neuron_crosses_where_the_speed_keeps_its_sign():
    # Beyond it x₂ drives too, D = (1, 0) + (1, 1).
    state = flowed(network([[TINY, -2 * TINY]], [TINY]), sample(X, [2.0, 2.0]), 1.0)
    w, a = constant_drive([2, -2], 2, [2, 1], 1 - np.log(2))
    expected = np.append(w, a)[None, :] * TINY
    assert distance(weights(state), expected) < 1e-6  # 10 rtol
    assert int(state.stats["crossings"]) == 1
    assert int(state.stats["slides"]) == 0


def test_neuron_slides_where_both_sides_push_it_back():
    # Inactive h' = 1·a, active h' = (1 − 2)·a: η = 1/2, D = (1, 0) − (1, 1)/2.
    state = flowed(network([[TINY, -2 * TINY]], [TINY]), sample(X, [2.0, -2.0]), 1.5)
    w, a = constant_drive([2, -2], 2, [0.5, -0.5], 1.5 - np.log(2))
    expected = np.append(w, a)[None, :] * TINY
    assert distance(weights(state), expected) < 1e-6
    assert int(state.stats["slides"]) == 1
    assert int(state.stats["releases"]) == 0
    assert abs(state.network.w[0, :2] @ X[1]) < 1e-12 * TINY


@pytest.mark.slow
def test_leaky_neuron_slides_with_its_own_subgradient():
    # Logistic loss: r = −y/4. s = 0.1, x₁ = (4, 0), x₂ = (3.2, 3.2), y₂ = −1: before
    # the plane D = (1, 0) − 0.08 (1, 1); D·(1, 1) = 0.84 inactive, −0.6 active.
    net = network([[TINY, -1.2 * TINY]], [TINY], slope=0.1)
    data = sample([[4.0, 0.0], [3.2, 3.2]], [1.0, -1.0])
    state = flowed(net, data, 2.0, losses.logistic)
    before = np.array([0.92, -0.08])
    reach = lambda t: constant_drive([1, -1.2], 1, before, t)[0].sum()
    t = brentq(reach, 0, 2)
    w, a = constant_drive([1, -1.2], 1, before, t)
    w, a = constant_drive(w, a, [0.5, -0.5], 2.0 - t)
    assert distance(weights(state), np.append(w, a)[None, :] * TINY) < 1e-6
    assert int(state.stats["slides"]) == 1


def test_neuron_slides_on_two_hyperplanes_at_once():
    # In three dimensions with x₂ = (1, 1, 0), x₃ = (1, 0, 1), D = (1, 0, 0) and both
    # negative labels: by symmetry η₂ = η₃, x₂·D = 1 − 2η − η = 0, η = 1/3, and
    # D = (1, −1, −1)/3 along the only line that is left.
    x = np.array([[1.0, 0, 0], [1, 1, 0], [1, 0, 1]])
    net = network([[TINY, -2 * TINY, -2 * TINY]], [TINY])
    state = flowed(net, sample(x, [3.0, -3.0, -3.0]), 1.5)
    drive = np.array([1, -1, -1]) / 3
    w, a = constant_drive([2, -2, -2], 2, drive, 1.5 - np.log(2))
    assert distance(weights(state), np.append(w, a)[None, :] * TINY) < 1e-6
    assert int(state.stats["slides"]) == 2


def driven(label, constant, pull, sliding):
    """A tiny neuron that slides on x₂ (and x₃), and a large one that fits x₁.

    While it does, the pull of x₁ on the tiny neuron dies away, and the constant pull
    of the last sample is left.  The large neuron is inactive on all others.
    """
    x = np.array([[1.0, 0, 0, 1], [1, 1, 0, 0], [1, 0, 1, 0], constant])
    y = 4 * np.array([label, *sliding, pull])
    w = [[TINY, -2 * TINY, -2 * TINY, 0], [-3.0, 0.5, 0.5, 3.3]]
    return x, y, np.array(w), np.array([TINY, 0.3 * np.sign(label)])


@pytest.mark.parametrize(
    ("problem", "is_active"),
    [
        # x₁ pulls towards the active side and the last sample, more and more alone,
        # away from it: η falls to 0.
        (driven(1.0, [0.0, -1, 0, 0], 0.3, (-1.0, 0.0)), False),
        # x₂·D without x₂ grows from about 1 to 1.5, and 1.2 is what x₂ can hold.
        (driven(-0.5, [1.0, 0, 0, 0], 1.5, (-0.6, 0.0)), True),
    ],
    ids=["inactive", "active"],
)
def test_sliding_neuron_leaves_when_its_subgradient_reaches_an_end(problem, is_active):
    x, y, w, a = problem
    state = flowed(network(w, a), sample(x, y), 4.0)
    assert int(state.stats["slides"]) == 1
    assert int(state.stats["releases"]) == 1
    h = float(state.network.w[0] @ x[1])
    assert (h > 1e-3 * TINY) if is_active else (h < -1e-3 * TINY)
    # Euler's own error at this step.
    assert np.max(distance(weights(state), euler(x, y, w, a, 4.0, 2e-4))) < 3e-4


def test_two_planes_are_left_at_once():
    # Symmetric in the second and third coordinate, so neither can go before the other.
    # η = x₂·D / (3 · 0.42) for both, from 0.84 on.
    x, y, w, a = driven(-0.5, [1.0, 0, 0, 0], 1.5, (-0.42, -0.42))
    state = flowed(network(w, a), sample(x, y), 4.0)
    assert int(state.stats["slides"]) == 2
    assert int(state.stats["releases"]) == 2
    w0 = state.network.w[0]
    assert abs(float(w0[1] - w0[2])) < 1e-6 * TINY
    assert np.max(distance(weights(state), euler(x, y, w, a, 4.0, 2e-4))) < 3e-4


@pytest.mark.parametrize(
    ("loss", "slope"), [(losses.half_mse, 0.0), (losses.logistic, 0.1)]
)
def test_agrees_with_tiny_steps(loss, slope):
    is_logistic = loss is losses.logistic
    x, y, w, a = random_problem(5)
    y = np.sign(y) if is_logistic else y
    state = flowed(network(w, a, slope), sample(x, y), 15.0, loss, rtol=1e-6)
    reference = euler(x, y, w, a, 15.0, 1e-3, slope, is_logistic)
    assert int(state.stats["slides"]) > 0
    # Euler's error is of this order: the two that are extrapolated differ by 1e-3.
    assert np.median(distance(weights(state), reference)) < 2e-4


@pytest.mark.slow
def test_the_smallest_start_is_followed_like_a_small_one():
    x, y, w, a = random_problem(5)
    ends, costs = [], []
    for scale in (1e-20, 1e-100, 1e-200, 1e-270):
        state = flowed(network(scale * w, scale * a), sample(x, y), 3.0, rtol=1e-6)
        ends.append(weights(state)[: len(w)] / scale)
        costs.append(int(state.stats["evaluations"]))
        assert int(state.stats["crossings"]) > 0
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=1e-9)
    assert max(costs) == min(costs)


@pytest.mark.slow
def test_error_falls_with_the_tolerance_at_little_more_cost():
    x, y, w, a = random_problem(1)
    run = lambda rtol: flowed(network(w, a), sample(x, y), 15.0, rtol=rtol)
    best = run(1e-9)
    runs = [run(rtol) for rtol in (1e-4, 1e-6)]
    errors = [np.median(relative(weights(s), weights(best))) for s in runs]
    costs = [int(s.stats["evaluations"]) for s in runs]
    assert errors[0] < 10 * 1e-4
    assert errors[1] < 10 * 1e-6
    assert costs[1] < 2.1**2 * costs[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss", [losses.half_mse, losses.logistic], ids=lambda f: f.__name__
)
def test_balance_is_conserved_and_the_loss_never_rises(loss):
    x, y, w, a = random_problem(2)
    y = np.sign(y) if loss is losses.logistic else y
    slope = 0.1 if loss is losses.logistic else 0.0
    data, net, rtol = sample(x, y), network(w, a, slope), 1e-4
    flow = ReluFlow(rtol=jnp.asarray(rtol), max_steps=3000)
    state = flow.init(net, data, loss, jax.random.key(0))
    values = []
    for time in np.linspace(1.0, 30.0, 30):
        state = advance(flow, state, data, loss, jnp.asarray(time))
        net = state.network
        values.append(float(loss(jax.vmap(net)(data.x), data.y, data.weight)))
    assert np.all(np.diff(values) <= rtol * np.array(values[1:]))
    w, a = np.asarray(net.w), np.asarray(net.a)[:, 0]
    assert np.max(np.abs(a**2 - (w**2).sum(1)) / (a**2 + (w**2).sum(1))) < 1e-9


@pytest.mark.slow
def test_order_of_neurons_and_of_samples_does_not_matter():
    x, y, w, a = random_problem(3)
    rng = np.random.default_rng(0)
    i, j = rng.permutation(15), rng.permutation(M)
    one = weights(flowed(network(w, a), sample(x, y), 8.0, rtol=1e-5))
    two = weights(flowed(network(w[j], a[j]), sample(x[i], y[i]), 8.0, rtol=1e-5))
    # Sums in another order differ in the last digits, which grow with e^(|D|t).
    assert np.max(relative(two, one[j])) < 1e-9


@pytest.mark.slow
def test_signs_of_labels_and_of_outputs_can_be_exchanged():
    x, y, w, a = random_problem(4)
    one = weights(flowed(network(w, a), sample(x, y), 8.0, rtol=1e-5))
    two = weights(flowed(network(w, -a), sample(x, -y), 8.0, rtol=1e-5))
    one[:, -1] *= -1
    assert np.array_equal(one, two)


@pytest.mark.slow
def test_lanes_see_neither_each_other_nor_padding():
    problems = [random_problem(seed) for seed in range(3)]
    data = [sample(x, y) for x, y, _, _ in problems]
    more = [sample(x, y, n=N + 4) for x, y, _, _ in problems]
    nets = [network(w, a) for _, _, w, a in problems]
    stack = lambda trees: jax.tree.map(lambda *v: jnp.stack(v), *trees)
    flow = ReluFlow(rtol=jnp.asarray(1e-5))
    start = lambda net, data: flow.init(net, data, losses.half_mse, jax.random.key(0))
    until = jnp.asarray(8.0)

    @eqx.filter_jit
    @eqx.filter_vmap
    def run(net, data):
        state = start(net, data)
        return advance(flow, state, data, losses.half_mse, until)

    together = run(stack(nets), stack(more))
    for i in range(3):
        alone = flowed(nets[i], data[i], 8.0, rtol=1e-5)
        lane = jax.tree.map(lambda v, i=i: v[i], together)
        # Batched products may round differently from single ones.
        assert np.max(relative(weights(lane), weights(alone))) < 1e-9
        assert int(lane.stats["accepted"]) == int(alone.stats["accepted"])


def test_a_stop_on_the_way_lands_on_it_and_costs_little():
    x, y, w, a = random_problem(6)
    flow = ReluFlow(rtol=jnp.asarray(1e-6), max_steps=3000)
    data = sample(x, y)
    state = flow.init(network(w, a), data, losses.half_mse, jax.random.key(0))
    for time in (2.345, 2.346, 8.0):
        state = advance(flow, state, data, losses.half_mse, jnp.asarray(time))
        assert float(state.time) == time
    direct = flowed(network(w, a), data, 8.0, rtol=1e-6)
    assert np.max(relative(weights(state), weights(direct))) < 1e-4
    more = int(state.stats["accepted"]) - int(direct.stats["accepted"])
    assert more < 0.2 * int(direct.stats["accepted"]) + 5


@pytest.mark.long
def test_too_many_planes_to_slide_on_is_a_status():
    x = np.array([[1.0, 0, 0], [1, 1, 0], [1, 0, 1]])
    net = network([[TINY, -2 * TINY, -2.2 * TINY]], [TINY])
    state = flowed(net, sample(x, [3.0, -3.0, -3.0]), 1.5, max_sliding=1)
    assert int(state.status) == Status.CAPACITY
    assert float(state.time) < 1.5


def dying_problem(seed):
    """Few samples in three dimensions: most neurons leave them all."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((4, 3)), rng.standard_normal(4)
    w = 1e-3 / np.sqrt(M) * rng.standard_normal((M, 3))
    return x, y, w, np.linalg.norm(w, axis=1) * rng.choice([-1.0, 1.0], M)


@pytest.mark.slow
def test_a_neuron_that_died_rests_without_sliding_and_never_wakes():
    count = 0
    for seed in range(8):
        x, y, w, a = dying_problem(seed)
        state = flowed(network(w, a), sample(x, y), 40.0, rtol=1e-4)
        position = state.memory.neurons
        is_dead = ~np.any(np.asarray(position.is_above)[:, : len(x)], axis=1)
        is_dead &= np.all(np.asarray(position.rates.w) == 0, axis=1)
        count += int(is_dead.sum())
        assert np.all(np.asarray(position.sliding.plane)[is_dead] == -1)
        until = jnp.asarray(400.0)
        flow = ReluFlow(rtol=jnp.asarray(1e-4))
        later = advance(flow, state, sample(x, y), losses.half_mse, until)
        moved = relative(weights(later)[is_dead], weights(state)[is_dead])
        assert np.all(moved < 1e-12)
    assert count > 20


@pytest.mark.slow
def test_the_final_time_changes_no_status():
    x, y, w, a = random_problem(3, n=4, d=2, m=6, scale=0.1)
    flow = ReluFlow(rtol=jnp.asarray(1e-5), max_steps=40)
    ends = []
    for times in ((1e14,), (1e2, 1e14)):
        key = jax.random.key(0)
        state = flow.init(network(w, a), sample(x, y), losses.half_mse, key)
        for until in times:
            until = jnp.asarray(until)
            state = advance(flow, state, sample(x, y), losses.half_mse, until)
        ends.append(int(state.status))
    assert ends == [Status.MAX_STEPS, Status.MAX_STEPS]


@pytest.mark.slow
def test_neurons_that_should_be_let_go_slide_no_further_than_the_tolerance():
    sliding = 0
    for seed in range(6):
        x, y, w, a = random_problem(40 + seed)
        data, rtol = sample(x, y), 1e-5
        flow = ReluFlow(rtol=jnp.asarray(rtol))
        key = jax.random.key(0)
        state = flow.init(network(w, a), data, losses.half_mse, key)
        for until in np.linspace(2, 60, 30):
            state = advance(flow, state, data, losses.half_mse, jnp.asarray(until))
            held = state.memory.neurons.sliding
            length = np.sum(np.asarray(held.dual) ** 2, axis=2)
            is_sliding = np.asarray(held.plane) >= 0
            # How far it would have gone, over the distance that counts.
            far = np.abs(np.asarray(held.excursion)) * np.sqrt(length)
            size = np.linalg.norm(weights(state), axis=1)[:, None]
            below, above = (np.asarray(held.speed_below), np.asarray(held.speed_above))
            should_go = is_sliding & ((below <= 0) | (above >= 0))
            assert np.all((far <= 1.1 * rtol * size)[should_go])
            assert not np.any(is_sliding & (below == 0))
            sliding += int(is_sliding.sum())
    assert sliding > 100


def test_w_that_arrives_at_0_where_all_planes_meet_stays_while_all_push_back():
    # |a| > |w|, and every sample pushes back.
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((8, 2)), 0.3 * rng.standard_normal((2, 2))
    state = flowed(network(w, [1.0, 0.8]), sample(x, -np.ones(8)), 20.0)
    assert int(state.status) == Status.RUNNING
    assert np.max(np.abs(np.asarray(state.memory.neurons.rates.w))) < 1e-9
    # All kinks are convex: there is one solution.
    assert int(state.stats["nonunique_events"]) == 0
    reference = euler(x, -np.ones(8), w, [1.0, 0.8], 20.0, 1e-3)
    assert np.max(distance(weights(state), reference)) < 2e-3  # of Euler's step


def test_w_that_arrives_at_0_beside_a_concave_kink_is_counted():
    # It slides on the plane of the first sample, and shrinks; the fourth one pulls,
    # and is outweighed by the last.
    x = np.array([[0.0, 1.0], [1.0, 0.2], [1.0, -0.2], [-1.0, 0.1], [-1.0, -0.1]])
    y = np.array([-1.0, -1.0, -1.0, 0.3, -1.0])
    state = flowed(network([[0.1, 0.0]], [1.0]), sample(x, y), 5.0)
    assert np.max(np.abs(weights(state)[0, :2])) < 1e-12
    assert int(state.stats["nonunique_events"]) == 1


@pytest.mark.slow
def test_a_slide_through_w_0_where_several_planes_attract_is_counted():
    # It slides to w = 0 on the plane of the second sample.  There it may go on along
    # this plane or that of the fourth: both attract, and one that repels is between.
    x = np.array([[-1.2, -0.5], [-1.5, -0.1], [0.6, -0.7], [1.0, 0.6]])
    y = np.array([1.7, -1.2, 1.4, -0.5])
    start = TINY * np.array([[-0.1, 1.5]]) / 10
    state = flowed(network(start, [TINY]), sample(x, y), 4.0)
    assert int(state.stats["nonunique_events"]) > 0
    along = weights(state)[0, :2] / np.linalg.norm(weights(state)[0, :2])
    ways = [[0.1, -1.5], [0.6, -1.0]]
    assert min(np.linalg.norm(along - v / np.linalg.norm(v)) for v in ways) < 1e-6
    for way in ways:  # A start beside w = 0 stays on each.
        state = flowed(network(TINY * np.array([way]) / 100, [TINY]), sample(x, y), 1.0)
        end = weights(state)[0, :2]
        assert end @ way > 0.999999 * np.linalg.norm(end) * np.linalg.norm(way)
        assert int(state.stats["nonunique_events"]) == 0


def test_a_start_at_w_0_rests_and_is_counted():
    # Mirror images: whichever way a hyperplane points, none of them is active.
    x, y = np.array([[1.0, 2.0], [-1.0, -2.0]]), np.array([1.0, -1.0])
    w, a = np.array([[0.0, 0.0], [0.1, 0.0]]), np.array([0.5, 0.1])
    state = flowed(network(w, a), sample(x, y), 5.0)
    np.testing.assert_array_equal(np.asarray(state.network.w)[0], 0)
    assert int(state.stats["nonunique_events"]) == 1


def in_order(order, x, y, w, a, time=4.0):
    state = flowed(network(w, a), sample(x[order], y[order]), time)
    return weights(state)[: len(w)], int(state.stats["nonunique_events"])


ORDERS = ([0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1])


@pytest.mark.slow
@pytest.mark.parametrize("pull", [0.5, 1.0, 2.0])
def test_where_the_gradient_leaves_it_on_a_kink_the_greater_speed_decides(pull):
    # Mirror images that push away on both sides; on the plane neither is active.
    x, y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([1.0, pull, 1.0])
    ends = [in_order(o, x, y, [[0.0, 0.01]], [0.01]) for o in ORDERS]
    for end, choices in ends:
        assert choices == 1
        np.testing.assert_allclose(end, ends[0][0], rtol=1e-9)
    if pull != 1:
        assert np.sign(ends[0][0][0, 0]) == np.sign(1 - pull)


@pytest.mark.slow
def test_where_one_side_leaves_it_on_its_kink_a_neuron_stays_there():
    # The mirror image pulls nothing: y = 0, and neither sees the neuron.
    x, y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0, 1.0])
    for order in ORDERS:
        end, _ = in_order(order, x, y, [[0.0, 0.01]], [0.01])
        assert abs(end[0, 0]) < 1e-12


@pytest.mark.slow
def test_a_sample_is_not_lost_in_a_chain_of_neighbours():
    x, y = np.array([[1.0, 0.0], [1.0, 1.5e-13], [1.0, 3e-13]]), np.array([1.0, 1, 7])
    for order in ORDERS:
        state = flowed(network([[0.1, 0.02]], [0.102]), sample(x[order], y[order]), 20)
        assert float(state.network(padded([1.0, 0.0], D))[0]) == pytest.approx(3, 1e-3)


@pytest.mark.parametrize(("y1", "choices"), [(1.0, 1), (0.2, 0), (-1.0, 0)])
def test_a_start_on_a_kink_that_pushes_away_on_both_sides_is_counted(y1, choices):
    # Along u = x₁/|x₁| the second sample drives by −3/√5, the first by 5y₁/√5 above.
    x = np.array([[1.0, 2.0], [1.0, -2.0]])
    net = network([[2 * TINY, -TINY]], [TINY])
    data = sample(x, [y1, 1.0])
    state = ReluFlow().init(net, data, losses.half_mse, jax.random.key(0))
    assert int(state.stats["nonunique_events"]) == choices


@pytest.mark.slow
def test_a_start_on_a_kink_is_counted_on_planes_with_no_zero_among_their_numbers():
    # The same without padding, which has zeros in every row.
    x, y = jnp.asarray([[1.0, 2.0], [1.0, -2.0]]), jnp.ones((2, 1))
    data = Dataset(x, y, jnp.ones(2), y, jnp.zeros((0, 2)))
    net = TwoLayer(jnp.asarray([[2 * TINY, -TINY]]), jnp.asarray([[TINY]]))
    state = ReluFlow().init(net, data, losses.half_mse, jax.random.key(0))
    assert int(state.stats["nonunique_events"]) == 1


@pytest.mark.long
def test_no_step_collapses_on_random_problems():
    # Shapes are shared, so that this compiles twice.
    for slope, loss in ((0.0, losses.half_mse), (0.1, losses.logistic)):
        for seed in range(10):
            x, y, w, a = random_problem(10 + seed)
            y = np.sign(y) if loss is losses.logistic else y
            state = flowed(network(w, a, slope), sample(x, y), 60.0, loss, rtol=1e-3)
            assert int(state.status) == Status.RUNNING
            assert float(state.time) == 60.0
            assert int(state.stats["evaluations"]) < 6000


@pytest.mark.long
def test_no_attempt_is_kept_that_crosses_a_plane_and_ends_before_it():
    # At so loose a tolerance the error alone would keep some of them.
    x, y, w, a = random_problem(32)
    data, net = sample(x, y), network(w, a)
    before = flowed(net, data, 12.0, rtol=1e-3).memory.neurons
    planes = sampled(data, losses.half_mse, has_bias=False)
    method = Options(
        diffrax.Tsit5(), jnp.asarray(0.1), 0.0, 16, 1, records_events=False
    )

    def ended(length):
        end = attempt_step(before, planes, length, method, None, None)
        height = end.neurons.w @ planes.normal.T
        height = jnp.where(end.neurons.is_above, height, -height)
        size = jnp.linalg.norm(end.neurons.w, axis=1, keepdims=True)
        crosses = end.neurons.is_above != before.is_above
        return end.error, jnp.any(crosses & (height < -1e-9 * size))

    lengths = jnp.logspace(-1, 0.7, 18)
    error, is_undone = jax.jit(lambda v: jax.lax.map(ended, v))(lengths)
    assert np.any(is_undone)
    assert np.any(error < 1)
    assert np.all(error[is_undone] > 1)


@pytest.mark.long
def test_several_outputs_and_a_hidden_bias_follow_tiny_steps():
    rng = np.random.default_rng(8)
    x, y = rng.standard_normal((10, 2)), rng.standard_normal((10, 2))
    v, a = 0.05 * rng.standard_normal((12, 3)), 0.05 * rng.standard_normal((12, 2))
    net = TwoLayer(padded(v[:, :2], M, D), padded(a, M, 2), b=padded(v[:, 2], M))
    state = flowed(net, sample(x, y), 8.0, rtol=1e-6)
    z = np.concatenate([x, np.ones((10, 1))], axis=1)

    def run(step):
        w, b = v.copy(), a.copy()
        for _ in range(round(8.0 / step)):
            h = w @ z.T
            r = (np.maximum(h, 0).T @ b - y) / 10
            pull = (h > 0) * (b @ r.T)
            w, b = w - step * pull @ z, b - step * np.maximum(h, 0) @ r
        return np.concatenate([w, b], axis=1)

    reference = 2 * run(5e-4) - run(1e-3)
    got = np.concatenate(
        [state.network.w[:, :2], state.network.b[:, None], state.network.a], axis=1
    )[:12]
    # Euler's error is of this order.
    assert np.median(relative(got, reference)) < 2e-4


@pytest.mark.long
def test_any_explicit_method_of_diffrax_may_be_taken():
    x, y, w, a = random_problem(9)
    best = weights(flowed(network(w, a), sample(x, y), 6.0, rtol=1e-8))
    for solver in (diffrax.Heun(scan_kind="lax"),):
        state = flowed(network(w, a), sample(x, y), 6.0, rtol=1e-5, solver=solver)
        assert np.median(relative(weights(state), best)) < 1e-3


@pytest.mark.long
def test_single_precision_keeps_its_type_and_its_tolerance():
    x, y, w, a = random_problem(0)
    single = lambda tree: jax.tree.map(
        lambda v: v.astype(jnp.float32) if eqx.is_inexact_array(v) else v, tree
    )
    state = flowed(single(network(w, a)), single(sample(x, y)), 8.0, rtol=1e-4)
    best = weights(flowed(network(w, a), sample(x, y), 8.0, rtol=1e-7))
    assert state.network.w.dtype == jnp.float32
    assert int(state.status) == Status.RUNNING
    assert np.median(relative(weights(state), best)) < 1e-3


def test_least_subgradient_is_that_of_bounded_least_squares():
    rng = np.random.default_rng(0)
    # Normals that point alike: pivoting one index at a time takes hundreds of turns.
    for size, e, alike, fast in ((1, 5, 0, 1), (3, 5, 0, 1), (32, 40, 3, 30)):
        normals = rng.standard_normal((20, size, e))
        normals += alike * rng.standard_normal((20, 1, e))
        normals /= np.linalg.norm(normals, axis=2, keepdims=True)
        drive, upper = (
            fast * rng.standard_normal((20, e)),
            rng.uniform(0.1, 2, (20, size)),
        )
        free = jnp.ones((20, size), bool)
        solve = jax.jit(box_least_norm)
        side = solve(*map(jnp.asarray, (normals, drive, upper)), free)
        for i in range(20):
            zeta = lsq_linear(normals[i].T, drive[i], (0, upper[i]), tol=1e-13).x
            expected = np.where(zeta < 1e-7, -1, np.where(zeta > upper[i] - 1e-7, 1, 0))
            assert np.array_equal(side[i], expected)


def test_smooth_networks_are_refused():
    net = TwoLayer(jnp.ones((3, 2)), jnp.ones((3, 1)), activation=gelu)
    data = sample(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="GradientFlow"):
        ReluFlow().init(net, data, losses.half_mse, jax.random.key(0))


class TrainedOtherwise(TwoLayer):
    def in_training(self, x, key):
        return self(x)


class OwnGradient(TwoLayer):
    def value_and_gradient(self, loss, x, y, weight):
        return super().value_and_gradient(loss, x, y, weight)


@pytest.mark.parametrize("kind", [TrainedOtherwise, OwnGradient])
def test_what_does_not_follow_the_gradient_is_refused(kind):
    net = kind(jnp.ones((3, 2)), jnp.ones((3, 1)))
    data = sample(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match=rf"got a {kind.__name__} with a method"):
        ReluFlow().init(net, data, losses.half_mse, jax.random.key(0))


def test_a_loss_with_kinks_of_its_own_is_refused():
    def absolute(f, y, weight):
        return jnp.sum(jnp.abs(f - y)[:, 0] * weight) / jnp.sum(weight)

    net = TwoLayer(jnp.ones((3, 2)), jnp.ones((3, 1)))
    data = sample(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="absolute may jump"):
        ReluFlow().init(net, data, absolute, jax.random.key(0))
