import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from _deep_problems import (
    advance,
    distance,
    flat,
    flowed,
    network,
    problem,
    sample,
)

from simbias import losses
from simbias.core import Status
from simbias.errors import BadInput
from simbias.flows._deep.decision import decide
from simbias.flows._deep.gated_sample import gated_sample
from simbias.flows._deep.sliding import free_slots, marked, scales
from simbias.flows.deep_relu_flow import DeepReluFlow
from simbias.network import Pattern
from simbias.networks import Adversarial, Mlp, convolutional, deep_linear, mlp
from simbias.networks.activations import gelu
from simbias.numerics.factorisations import at_once

# Half the digits of the references at most; see make_deep.py of the references.
ACCURACY = 2e-5


def run_to_reference(name, rtol=1e-8):
    net, data, loss, file = problem(name)
    states = flowed(net, data, file["times"], loss, rtol)
    errors = [
        distance(flat(s.network), r) for s, r in zip(states, file["theta"], strict=True)
    ]
    # Both hold through crossings and slides, with biases and with a slope.
    for state in states:
        np.testing.assert_allclose(excess(state.network), excess(net), atol=1e-6)
    values = [
        loss(jax.vmap(n)(data.x), data.y, data.weight)
        for n in (net, *(s.network for s in states))
    ]
    assert (np.diff(values) <= 0).all()
    return states[-1], errors


def test_the_flow_is_that_of_small_euler_steps():
    state, errors = run_to_reference("deep_two_hidden")
    assert state.status == Status.RUNNING
    assert max(errors) < ACCURACY
    assert int(state.stats["crossings"]) > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "deep_bias",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in (
                "deep_leaky_logistic",
                "deep_three_hidden",
                "deep_small_start",
                "deep_mirror",
            )
        ),
    ],
)
def test_the_other_references_are_reproduced(name):
    state, errors = run_to_reference(name)
    assert state.status == Status.RUNNING
    assert max(errors) < ACCURACY


def excess(net):
    """‖outgoing‖² − ‖incoming‖² − b² of all hidden units."""
    out = []
    for i, w in enumerate(net.weights[:-1]):
        b = 0 if net.biases[i] is None else net.biases[i] ** 2
        out.append(jnp.sum(net.weights[i + 1] ** 2, 0) - jnp.sum(w**2, 1) - b)
    return np.concatenate([np.asarray(v) for v in out])


def small_problem(dtype=float, seed=3):
    """Two hidden layers of 4, six samples, two of them equal and two opposite."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((6, 3))
    x[1], x[3] = x[0], -x[2]
    y = rng.standard_normal((6, 1))
    theta = 0.5 * rng.standard_normal(3 * 4 + 16 + 4)
    net = network((3, 4, 4, 1), theta.astype(dtype))
    return net, sample(x.astype(dtype), y.astype(dtype))


TIMES = (1.0, 2.0, 4.0, 8.0)


@pytest.fixture(scope="module")
def run():
    net, data = small_problem()
    return net, data, flowed(net, data, TIMES)


def value(net, data):
    return float(losses.half_mse(jax.vmap(net)(data.x), data.y, data.weight))


def test_what_leaves_a_unit_less_what_enters_it_is_conserved(run):
    net, _, states = run
    for state in states:
        np.testing.assert_allclose(excess(state.network), excess(net), atol=1e-6)


def test_the_loss_never_rises(run):
    net, data, states = run
    values = [value(net, data), *(value(s.network, data) for s in states)]
    assert all(
        after <= before for before, after in zip(values, values[1:], strict=False)
    )
    assert values[-1] < values[0] / 2


def test_the_time_is_reached_and_attempts_are_counted(run):
    state = run[2][-1]
    assert float(state.time) == TIMES[-1]
    assert int(state.stats["accepted"]) > 0
    assert int(state.stats["evaluations"]) > 6 * int(state.stats["accepted"])


@pytest.mark.long
def test_a_first_step_that_overflows_is_repeated_with_a_shorter_one(run):
    net, data, states = run
    for first in (1e3, 1e60):
        state = flowed(net, data, TIMES[:1], dt0=jnp.asarray(first))[0]
        assert state.status == Status.RUNNING
        assert float(state.time) == TIMES[0]
        assert distance(flat(state.network), flat(states[0].network)) < 1e-6


@pytest.mark.slow
def test_padding_changes_no_digit_that_counts(run):
    net, data, states = run
    x = jnp.concatenate([data.x, jnp.zeros((2, 3))])
    y = jnp.concatenate([data.y, jnp.zeros((2, 1))])
    padded = sample(x, y, jnp.concatenate([data.weight, jnp.zeros(2)]))
    state = flowed(net, padded, TIMES[:2])[-1]
    assert distance(flat(state.network), flat(states[1].network)) < 1e-10


def test_a_run_in_two_parts_has_the_same_bits(run):
    net, data, states = run
    again = flowed(net, data, TIMES[:1])[0]
    flow = DeepReluFlow(rtol=jnp.asarray(1e-8))
    leaves, tree = jax.tree.flatten(eqx.filter(again, eqx.is_array))
    stored = [np.array(leaf) for leaf in leaves]
    arrays = jax.tree.unflatten(tree, [jnp.asarray(v) for v in stored])
    state = eqx.combine(arrays, eqx.filter(again, eqx.is_array, inverse=True))
    for time in TIMES[1:]:
        state = advance(flow, state, data, losses.half_mse, jnp.asarray(time))
    np.testing.assert_array_equal(flat(state.network), flat(states[-1].network))


@pytest.mark.long
def test_members_that_run_together_go_as_each_does_alone(run):
    _, data, _ = run
    nets = [small_problem(seed=seed)[0] for seed in (3, 4)]
    stack = lambda *v: jnp.stack(v)
    many = jax.tree.map(lambda *v: stack(*v) if eqx.is_array(v[0]) else v[0], *nets)
    flow = DeepReluFlow(rtol=jnp.asarray(1e-8))
    until = jnp.asarray(2.0)

    @eqx.filter_jit
    def go(many):
        def one(net):
            state = flow.init(net, data, losses.half_mse, jax.random.key(0))
            running = lambda s: (s.status == Status.RUNNING) & (s.time < until)
            step = lambda s: flow.step(s, data, losses.half_mse, until)
            return jax.lax.while_loop(running, step, state)

        return eqx.filter_vmap(one)(many)

    together = go(many)
    for i, net in enumerate(nets):
        alone = flowed(net, data, (2.0,))[0]
        member = jax.tree.map(
            lambda v, i=i: v[i] if eqx.is_array(v) else v, together.network
        )
        assert distance(flat(member), flat(alone.network)) < 1e-10
        for name, count in alone.stats.items():
            assert int(together.stats[name][i]) == int(count), name


@pytest.mark.slow
def test_members_that_run_together_do_not_wait_for_each_other(run):
    _, data, _ = run
    flow, until = DeepReluFlow(rtol=jnp.asarray(1e-8)), jnp.asarray(2.0)
    nets = [small_problem(seed=seed)[0] for seed in (3, 4)]
    arrays, static = eqx.partition(nets[0], eqx.is_array)
    many = jax.tree.map(
        lambda *v: jnp.stack(v), arrays, eqx.filter(nets[1], eqx.is_array)
    )

    def step(arrays):
        net = eqx.combine(arrays, static)
        state = flow.init(net, data, losses.half_mse, KEY)
        state = flow.step(state, data, losses.half_mse, until)
        return eqx.filter(state, eqx.is_array)

    assert at_once(jax.make_jaxpr(jax.vmap(step))(many)) == set()


@pytest.mark.slow
def test_float32_follows_to_its_own_digits(run):
    _, _, states = run
    net, data = small_problem(np.float32)
    state = flowed(net, data, TIMES[:2])[-1]
    assert flat(state.network).dtype == np.float32
    assert distance(flat(state.network), flat(states[1].network)) < 3e-3


@pytest.mark.slow
def test_one_unit_that_dies_follows_the_closed_form():
    # f = a (w x)⁺ with x > 0, y < 0 and a > 0: w falls to 0, and the unit dies there.
    x, y = np.array([[1.0], [2.0]]), np.array([[-1.0], [-1.0]])
    net = Mlp((jnp.array([[0.1]]), jnp.array([[1.0]])), (None, None))
    state = flowed(net, sample(x, y), (5.0,))[0]
    # a² − w² is conserved.
    w, a = (float(v[0, 0]) for v in state.network.weights)
    assert abs(w) < 1e-10
    assert a == pytest.approx(np.sqrt(1 - 0.01), abs=1e-8)


def test_a_dead_unit_keeps_its_weights_bit_for_bit():
    net, data = small_problem()
    positive = sample(np.abs(data.x), data.y)
    first = net.weights[0].at[0].set(-jnp.abs(net.weights[0][0]))
    net = Mlp((first, *net.weights[1:]), net.biases)
    state = flowed(net, positive, (2.0,))[0]
    after = state.network
    np.testing.assert_array_equal(after.weights[0][0], net.weights[0][0])
    np.testing.assert_array_equal(after.weights[1][:, 0], net.weights[1][:, 0])
    assert distance(flat(after), flat(net)) > 0.01


def sleeping_problem(seed):
    """Four samples; all units of both hidden layers are 0 on the first."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((4, 3)), rng.standard_normal((4, 1))
    first = rng.standard_normal((4, 3))
    first -= np.outer(first @ x[0], x[0]) / (x[0] @ x[0])
    theta = np.concatenate([first.ravel(), 0.7 * rng.standard_normal(20)])
    return network((3, 4, 4, 1), theta), sample(x, y)


@eqx.filter_jit
def decided_at(net, data):
    """A decision, and the speeds under the sides and pins that it found."""
    one, theta = gated_sample(net, data, losses.half_mse)
    no = jnp.zeros((4, 8), bool)
    sides = lambda above: one.outputs(theta, scales(one, above, no))[1] > 0
    above = sides(sides(no)).at[0].set(False)
    new = decide(one, theta, above, free_slots(32), no, jnp.zeros_like(theta))
    pinned = marked(new.slots.entry, new.slots.is_used, no)
    scale = scales(one, new.is_above, pinned)
    z = lambda theta: one.outputs(theta, scale)[1]
    return new, pinned, jax.jvp(z, (theta,), (new.field,))[1]


# All units of the first layer are 0 on the sample, and some rise.  Those of the second
# layer wake by the speeds of the first; sides by speeds of an earlier turn were wrong.
@pytest.mark.parametrize("seed", [33, 41, 42, 43, 51, 91])
def test_units_that_wake_are_on_the_sides_of_their_speeds(seed):
    new, pinned, speed = decided_at(*sleeping_problem(seed))
    above, pinned, speed = (np.asarray(v[0]) for v in (new.is_above, pinned, speed))
    moves = ~pinned & (speed != 0)
    assert np.any(moves[4:])
    np.testing.assert_array_equal(above[moves], speed[moves] > 0)
    assert int(new.choices) == 0


@pytest.mark.slow
def test_too_many_pins_end_as_capacity():
    net, data, _, file = problem("deep_two_hidden")
    state = flowed(net, data, file["times"], max_sliding=1)[-1]
    assert state.status == Status.CAPACITY
    assert 0 < float(state.time) < file["times"][-1]


KEY = jax.random.key(0)


@pytest.mark.parametrize(
    ("net", "says"),
    [
        (mlp(KEY, (3, 4, 4, 1), activation="gelu"), "gated"),
        (deep_linear(KEY, (3, 4, 1)), "gated"),
        (Adversarial(mlp(KEY, (3, 4, 4, 1))), "value_and_gradient"),
    ],
)
def test_a_network_without_gates_is_refused_with_what_to_do(net, says):
    _, data = small_problem()
    with pytest.raises(BadInput, match=says):
        DeepReluFlow().init(net, data, losses.half_mse, KEY)


class Gated(eqx.Module):
    """Two layers, whose `gated` says more or less than `kink_slopes`."""

    w: jax.Array
    kink_slopes: tuple | None = (0.0,)
    has_two: bool = False
    frozen: tuple[str, ...] = ()

    def __call__(self, x):
        return jnp.sum(jax.nn.relu(self.w @ x))[None]

    def gated(self, x, pattern):
        z = self.w @ x
        return jnp.sum(pattern.scale[0] * z)[None], (z,) * (1 + self.has_two)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kink_slopes": None}, "one slope for each layer.*got None"),
        ({"has_two": True}, "for 2 layers"),
        ({"frozen": ("w",)}, "no weights to train"),
    ],
)
def test_gates_that_do_not_fit_and_networks_without_weights_are_refused(change, says):
    _, data = small_problem()
    net = Gated(jnp.ones((4, data.x.shape[1])), **change)
    with pytest.raises(BadInput, match=says):
        DeepReluFlow().init(net, data, losses.half_mse, KEY)


def test_inputs_that_are_not_finite_end_at_once_also_in_rows_that_do_not_count():
    net, data = small_problem()
    data = dataclasses.replace(
        data, x=data.x.at[-1].set(jnp.nan), weight=data.weight.at[-1].set(0)
    )
    state = DeepReluFlow().init(net, data, losses.half_mse, KEY)
    assert state.status == Status.NONFINITE


def test_the_hinge_loss_is_refused():
    net, data = small_problem()
    with pytest.raises(BadInput, match="hinge"):
        DeepReluFlow().init(net, data, losses.hinge, KEY)


def by_signs(net, x, shapes, slope):
    """Output under the gates that follow the signs, layer by layer."""
    pattern = Pattern(*(tuple(f(v) for v in shapes) for f in (jnp.ones, jnp.zeros)))
    for _ in shapes:
        _, z = net.gated(x, pattern)
        scale = tuple(jnp.where(v > 0, 1, slope) for v in z)
        pattern = Pattern(scale, pattern.shift)
    return net.gated(x, pattern)[0]


@pytest.mark.slow
def test_gates_that_follow_the_signs_give_the_network():
    net = mlp(KEY, (3, 5, 4, 2), activation="leaky_relu")
    x = jnp.array([0.3, -1.0, 0.7])
    np.testing.assert_allclose(by_signs(net, x, (5, 4), 0.01), net(x), rtol=1e-12)
    assert net.kink_slopes == (0.01, 0.01)
    assert mlp(KEY, (3, 5, 1), activation="gelu").gated is None
    assert Mlp(net.weights, net.biases, (gelu, jax.nn.relu)).kink_slopes == (0.0,)
    net = convolutional(KEY, image=(1, 4, 4), k=2, channels=(3,), p=5)
    x = jax.random.normal(KEY, (16,), jnp.float64)
    out = by_signs(net, x, ((3, 4, 4), 5), 0.0)
    np.testing.assert_allclose(out, net(x), rtol=1e-12)
