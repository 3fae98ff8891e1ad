"""GradientFlow against closed forms, diffrax itself, scipy, and its own contract."""

import dataclasses

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from full import fully_optimised
from scipy.integrate import solve_ivp
from toy import (
    KEY,
    D,
    M,
    assert_same_bits,
    distance,
    sample,
    stack,
    toy_network,
    weights,
)

from simbias.core import AbstractNetwork, Dataset, Status
from simbias.ensemble.members import traced
from simbias.flows._shared.objective import is_finite
from simbias.flows.gradient_flow import GradientFlow
from simbias.introspection.kinks import kink
from simbias.losses import half_mse
from simbias.networks.activations import ACTIVATIONS, LeakyRelu, negative_slope
from simbias.networks.two_layer import TwoLayer


def network(activation="tanh", **law):
    return toy_network(activation, **law)


@eqx.filter_jit
def evolve(flow, state, data, until, loss=half_mse):
    """Steps to the time `until`, or to the end of the member."""
    return jax.lax.while_loop(
        lambda s: (s.status == Status.RUNNING) & (s.time < until),
        lambda s: flow.step(s, data, loss, until),
        state,
    )


@eqx.filter_jit
def begin(flow, net, data, loss):
    return flow.init(net, data, loss, KEY)


def run(flow, net, data, time, loss=half_mse):
    flow = traced(flow)
    state = begin(flow, net, data, loss)
    return evolve(flow, state, data, jnp.float64(time), loss)


# --- accuracy -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "order", "steps"),
    [
        (diffrax.Euler(), 1, (400, 800)),
        (diffrax.Heun(), 2, (200, 400)),
        (diffrax.Bosh3(), 3, (80, 160)),
        (diffrax.Tsit5(), 5, (80, 160)),
        # Few steps: at 80 the error is 3e-15, rounding.
        (diffrax.Dopri8(), 8, (10, 20)),
    ],
    ids=lambda v: type(v).__name__,
)
def test_a_method_of_constant_step_converges_at_its_order(solver, order, steps):
    # From larger weights the sixth order of Tsit5 hides its fifth, whose constant is
    # small, until both drown in rounding.
    net, data, time = network(scale=0.3, seed=6), sample(), 4.0
    exact = run(GradientFlow(rtol=1e-13, solver=diffrax.Dopri8()), net, data, time)
    errors = []
    for count in steps:
        flow = GradientFlow(solver=solver, dt0=time / count, is_adaptive=False)
        state = run(flow, net, data, time)
        assert int(state.stats["accepted"]) == count
        errors.append(distance(state.network, exact.network))
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.2


def numpy_field(net, data):
    """−∇L of a tanh network in NumPy, by hand."""
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]

    def field(_, theta):
        w, a = theta[: M * D].reshape(M, D), theta[M * D :]
        z = np.tanh(x @ w.T)
        r = (z @ a - y) / len(y)
        dw = (r[:, None] * (1 - z**2) * a).T @ x
        return -np.concatenate([dw.ravel(), z.T @ r])

    return field


@pytest.mark.parametrize("solver", [diffrax.Tsit5(), diffrax.Dopri8()])
def test_the_adaptive_flow_agrees_with_scipy(solver):
    net, data, time = network(), sample(), 30.0
    other = solve_ivp(
        numpy_field(net, data),
        (0, time),
        weights(net),
        method="DOP853",
        rtol=1e-10,
        atol=1e-13,
    )
    state = run(GradientFlow(solver=solver, rtol=1e-10), net, data, time)
    ours, theirs = weights(state.network), other.y[:, -1]
    # A hundred or so steps with errors of 1e-10 each, some of them amplified.
    assert np.linalg.norm(ours - theirs) < 1e-8 * np.linalg.norm(theirs)


def scalar(u0):
    """f(x) = a w x on whitened data y = s x, with s = 2 and a w = u0 at the start."""
    x = jnp.array([[1.0], [-1.0]])
    data = Dataset(x, 2 * x, jnp.ones(2), 2 * x, jnp.ones((1, 1)))
    root = jnp.full((1, 1), jnp.sqrt(u0))
    return TwoLayer(w=root, a=root, activation=ACTIVATIONS["identity"]), data


@pytest.mark.parametrize("u0", [0.1, 1e-6, 1e-30])
def test_a_deep_linear_product_follows_the_closed_form_from_any_scale(u0):
    net, data = scalar(u0)
    s = 2.0
    for time in np.log(s / u0) / (2 * s) + np.array([-0.5, 0.0, 0.5]):
        state = run(GradientFlow(rtol=1e-9), net, data, time)
        product = float(state.network.a[0, 0] * state.network.w[0, 0])
        exact = s / (1 + (s / u0 - 1) * np.exp(-2 * s * time))
        # 1e-9 a step over 100 to 300 steps; a large atol would lose the start.
        assert abs(product / exact - 1) < 1e-6


def test_balancedness_is_conserved_for_identity_and_not_for_tanh():
    drifts = {}
    for name in ("identity", "tanh"):
        net = network(name)
        state = run(GradientFlow(rtol=1e-8), net, sample(), 20.0)
        gap = lambda v: jnp.sum(v.a**2, axis=1) - jnp.sum(v.w**2, axis=1)
        drifts[name] = float(jnp.max(jnp.abs(gap(state.network) - gap(net))))
    # rtol times a hundred steps; the tanh network changes by order one.
    assert drifts["identity"] < 1e-6
    assert drifts["tanh"] > 1e-2


def in_units_of(unit, f, y, weight):
    return half_mse(f, y, weight) * unit


def test_the_number_of_steps_hardly_depends_on_the_unit_of_time():
    net, data = network(), sample()
    counts = []
    for unit in (1.0, 1e6):
        loss = jax.tree_util.Partial(in_units_of, jnp.float64(unit))
        state = run(GradientFlow(), net, data, 20.0 / unit, loss)
        counts.append(int(state.stats["accepted"] + state.stats["rejected"]))
    # Hairer's first step is no power of the unit; a start at 0.01 costs 9 rejections.
    assert abs(counts[0] - counts[1]) <= 3


# --- the contract of `step` -----------------------------------------------------------


def diffrax_solution(solver, net, data, time, dt0):
    params, static = eqx.partition(net, eqx.is_inexact_array)

    def field(_, params, sample):
        whole = eqx.combine(params, static)
        # Autodiff would do, but not to the last bit.
        _, gradient = whole.value_and_gradient(half_mse, *sample)
        return jax.tree.map(jnp.negative, eqx.filter(gradient, eqx.is_inexact_array))

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        solver,
        0.0,
        time,
        dt0,
        params,
        args=(data.x, data.y, data.weight),
        stepsize_controller=diffrax.PIDController(rtol=1e-6, atol=1e-9),
        max_steps=10_000,
    )
    return jax.tree.map(lambda v: v[0], solution.ys), solution.stats["num_steps"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver",
    [diffrax.Tsit5(), diffrax.Kvaerno5()],
    ids=lambda v: type(v).__name__,
)
@fully_optimised()
def test_stepping_is_bit_equal_to_diffeqsolve(solver):
    data, time, dt0 = sample(), 10.0, 0.3
    flow = GradientFlow(solver=solver, rtol=1e-6, atol=1e-9, dt0=dt0)

    def ours(net):
        state = flow.init(net, data, half_mse, KEY)
        state = evolve(flow, state, data, jnp.float64(time))
        steps = state.stats["accepted"] + state.stats["rejected"]
        return eqx.filter(state.network, eqx.is_inexact_array), steps

    theirs = lambda net: diffrax_solution(solver, net, data, time, dt0)
    nets = stack([network(seed=i) for i in range(4)])
    in_turn = lambda one: jax.jit(lambda nets: jax.lax.map(one, nets))(nets)
    assert_same_bits(in_turn(ours), in_turn(theirs))


def test_records_are_reached_exactly_and_cost_one_step_each():
    data, flow = sample(), traced(GradientFlow())
    free = run(GradientFlow(), network(), data, 20.0)
    times = np.sort(np.random.default_rng(0).uniform(0, 20, 30)).tolist() + [20.0]
    state = begin(flow, network(), data, half_mse)
    for time in times:
        state = evolve(flow, state, data, jnp.float64(time))
        assert float(state.time) == time
    assert int(state.stats["accepted"] - free.stats["accepted"]) <= len(times)
    # Both are within their tolerance of the same trajectory.
    assert distance(state.network, free.network) < 1e-5


def test_a_record_that_cuts_a_step_does_not_shorten_the_next():
    data, flow = sample(), traced(GradientFlow())
    # A time at which the planned step is one that is accepted.
    state = run(flow, network(), data, 12.0)
    planned = float(state.memory.tnext - state.time)
    state = evolve(flow, state, data, jnp.float64(12.0 + 1e-6 * planned))
    after = eqx.filter_jit(flow.step)(state, data, half_mse, jnp.float64(20.0))
    assert after.stats["accepted"] == state.stats["accepted"] + 1
    # The rounding of a difference of times.
    assert float(after.time - state.time) >= planned * (1 - 1e-9)


def test_constant_steps_return_to_their_grid_after_a_record():
    flow = traced(GradientFlow(solver=diffrax.Heun(), dt0=0.1, is_adaptive=False))
    data = sample()
    state = begin(flow, network(), data, half_mse)
    seen = []
    for until in (0.25, 0.25 + 1e-13, 0.7):
        while state.time < until:
            state = eqx.filter_jit(flow.step)(state, data, half_mse, jnp.float64(until))
            seen.append(float(state.time))
    # Rounding of a product; the sliver of 1e-13 is a record's own.
    expected = [0.1, 0.2, 0.25, 0.25 + 1e-13, 0.3, 0.4, 0.5, 0.6, 0.7]
    np.testing.assert_allclose(seen, expected, rtol=1e-14)


def test_step_is_the_identity_once_finished_or_at_until():
    flow, data = traced(GradientFlow()), sample()
    state = begin(flow, network(), data, half_mse)
    state = evolve(flow, state, data, jnp.float64(1.0))
    step = eqx.filter_jit(flow.step)
    assert_same_bits(step(state, data, half_mse, jnp.float64(1.0)), state)
    for status in set(Status) - {Status.RUNNING}:
        ended = dataclasses.replace(state, status=jnp.int32(status))
        assert_same_bits(step(ended, data, half_mse, jnp.float64(2.0)), ended)


@pytest.mark.parametrize(
    ("solver", "dt0"),
    [
        (diffrax.Tsit5(), None),
        # Too long: the first attempt is rejected.
        (diffrax.Dopri8(), 3.0),
        (diffrax.Heun(), 0.1),
    ],
)
def test_evaluations_are_those_that_happen(solver, dt0):
    happened = []

    def loss(f, y, weight):
        jax.debug.callback(lambda: happened.append(1))
        return half_mse(f, y, weight)

    state = run(GradientFlow(solver=solver, dt0=dt0), network(), sample(), 5.0, loss)
    jax.effects_barrier()
    assert int(state.stats["evaluations"]) == len(happened)


def test_padding_changes_nothing_but_rounding():
    plain, padded = (
        run(GradientFlow(), network(), sample(padding=p), 10.0) for p in (0, 20)
    )
    # Sums over 12 and 32 rows are rounded in a different order.
    assert distance(padded.network, plain.network) < 1e-12


def test_members_may_differ_in_tolerance_and_equal_themselves_alone():
    data = sample()
    flows = stack([traced(GradientFlow(rtol=r)) for r in (1e-4, 1e-6, 1e-8)])
    nets = stack([network(seed=i) for i in range(3)])

    def one(flow, net):
        state = flow.init(net, data, half_mse, KEY)
        return evolve(flow, state, data, jnp.float64(10.0))

    together = jax.jit(jax.vmap(one))(flows, nets)
    accepted = np.asarray(together.stats["accepted"])
    assert accepted[0] < accepted[1] < accepted[2]
    for i, rtol in enumerate((1e-4, 1e-6, 1e-8)):
        alone = run(GradientFlow(rtol=rtol), network(seed=i), data, 10.0)
        assert alone.stats["accepted"] == accepted[i]
        member = jax.tree.map(lambda v, i=i: v[i], together)
        # A product of matrices is rounded differently in a batch of another size.
        assert distance(member.network, alone.network) < 1e-12


def test_float32_weights_stay_float32_on_a_float64_clock():
    cast = lambda tree: jax.tree.map(lambda v: v.astype(jnp.float32), tree)
    net, data = network(), sample()
    state = run(GradientFlow(rtol=1e-5), cast(net), cast(data), 10.0)
    exact = run(GradientFlow(rtol=1e-9), net, data, 10.0)
    assert state.network.w.dtype == jnp.float32
    assert state.time.dtype == jnp.float64
    # The tolerance over some tens of steps, not float32's rounding, is the error.
    assert distance(state.network, exact.network) < 1e-3


# --- ends -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.nan, jnp.float64),
        (np.inf, jnp.float64),
        (1e200, jnp.float64),
        (1e30, jnp.float32),
    ],
)
def test_a_start_whose_loss_is_not_finite_is_no_start(value, dtype):
    net, data = jax.tree.map(lambda v: v.astype(dtype), (network("identity"), sample()))
    net = dataclasses.replace(net, w=net.w.at[0, 0].set(value))
    state = begin(traced(GradientFlow()), net, data, half_mse)
    assert state.status == Status.NONFINITE


def test_a_huge_start_ends_within_a_few_steps():
    net = network("identity")
    # In float64 the field is 1e90: finite, but faster than any time can tell.
    net = dataclasses.replace(net, w=net.w.at[0, 0].set(1e30))
    state = run(GradientFlow(), net, sample(), 10.0)
    assert state.status == Status.STEP_TOO_SMALL
    assert int(state.stats["accepted"] + state.stats["rejected"]) < 30


def test_a_failing_member_leaves_its_companions_their_bits():
    data, flow = sample(), GradientFlow()

    def one(net):
        state = flow.init(net, data, half_mse, KEY)
        return evolve(flow, state, data, jnp.float64(10.0))

    nets = stack([network("identity", seed=i) for i in range(4)])
    bad = eqx.tree_at(lambda v: v.w, nets, nets.w.at[1].set(jnp.nan))
    together = jax.jit(jax.vmap(one))
    good, mixed = together(nets), together(bad)
    assert mixed.status[1] == Status.NONFINITE
    others = jnp.array([0, 2, 3])
    assert_same_bits(*(jax.tree.map(lambda v: v[others], s) for s in (good, mixed)))


@pytest.mark.slow
def test_an_overflow_inside_a_step_is_a_rejected_step():
    net, data = network("quadratic", scale=10.0), sample()
    careful = run(GradientFlow(rtol=1e-9, dt0=1e-9), net, data, 1.0)
    flow = traced(GradientFlow(rtol=1e-9, dt0=1.0))
    # ∇L has degree five in the weights: five stages raise 10 to the power 5⁵.
    state = begin(flow, net, data, half_mse)
    first = eqx.filter_jit(flow.step)(state, data, half_mse, jnp.float64(1.0))
    assert bool(first.memory.has_overflowed)
    assert int(first.stats["rejected"]) == 1
    assert_same_bits(first.network, net)
    last = evolve(flow, first, data, jnp.float64(1.0))
    assert last.status == Status.RUNNING
    # Both are within their tolerance of the same trajectory.
    assert distance(last.network, careful.network) < 1e-6


def rising(f, y, weight):
    """Rewards size, so that a quadratic network leaves for ∞ in a finite time."""
    return -jnp.sum(jnp.where(weight > 0, jnp.sum(f**2, axis=1), 0)) + 0 * jnp.sum(y)


@pytest.mark.parametrize("is_adaptive", [True, False])
def test_a_blow_up_ends_the_member_with_its_last_finite_network(is_adaptive):
    flow = GradientFlow(dt0=1e-4, is_adaptive=is_adaptive)
    state = run(flow, network("quadratic", scale=0.3), sample(), 100.0, rising)
    expected = {
        True: (Status.STEP_TOO_SMALL, Status.NONFINITE),
        False: (Status.NONFINITE,),
    }
    assert Status(int(state.status)) in expected[is_adaptive]
    assert 0 < float(state.time) < 100
    for leaf in jax.tree.leaves((state.network, state.memory)):
        assert jnp.all(jnp.isfinite(leaf))


def test_max_steps_bounds_the_attempts_and_spares_who_arrives_with_the_last():
    heun = GradientFlow(solver=diffrax.Heun(), dt0=0.1, is_adaptive=False)
    for max_steps, status in ((10, Status.RUNNING), (9, Status.MAX_STEPS)):
        flow = dataclasses.replace(heun, max_steps=max_steps)
        state = run(flow, network(), sample(), 1.0)
        assert state.status == status
        assert int(state.stats["accepted"]) == max_steps
        assert float(state.time) == pytest.approx(0.1 * max_steps)


def test_rest_ends_at_the_minimum_and_not_at_the_saddle_of_the_start():
    net, data = scalar(1e-20)
    state = run(GradientFlow(rest=1e-6), net, data, 1e6)
    assert state.status == Status.CONVERGED
    product = float(state.network.a[0, 0] * state.network.w[0, 0])
    # At a speed of 1e-6 in a well of curvature 8; the solver adds its own 1e-6.
    assert abs(product - 2) < 1e-5


def test_rest_does_not_hang_on_the_scale_of_the_weights_or_of_time():
    # (w, a, √y) → c (w, a, √y) gives the same way, c² times as fast.
    ends = []
    for c in (1.0, 300.0):
        net, data = scalar(0.1 * c**2)
        data = dataclasses.replace(data, y=c**2 * data.y)
        state = run(GradientFlow(rest=1e-3), net, data, 1e6)
        assert state.status == Status.CONVERGED
        product = float(state.network.a[0, 0] * state.network.w[0, 0])
        assert product == pytest.approx(2 * c**2, rel=1e-3)
        ends.append(float(state.time) * c**2)
    assert ends[0] == pytest.approx(ends[1], rel=0.5)  # looked at when t is ×1.5


@pytest.mark.slow
def test_a_network_that_still_moves_at_a_large_scale_is_not_at_rest():
    data, net = sample(), toy_network("tanh", scale=300.0)
    ended = run(GradientFlow(rest=1e-3), net, data, 1e6)
    assert ended.status == Status.CONVERGED
    later = run(GradientFlow(), net, data, 2 * float(ended.time))
    loss = lambda state: float(
        half_mse(jax.vmap(state.network)(data.x), data.y, data.weight)
    )
    # Told by the speed over the size of the weights it ended at 64 times this loss.
    assert loss(ended) == pytest.approx(loss(later), rel=1e-2)


# --- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize("activation", [jax.nn.relu, LeakyRelu(0.0), LeakyRelu(0.3)])
def test_a_network_with_kinks_is_refused_and_told_what_to_use(activation):
    net = dataclasses.replace(network(), activation=activation)
    for start in (GradientFlow().init, eqx.filter_jit(GradientFlow().init)):
        with pytest.raises(ValueError, match=r"kinks.*descent.*relu_flow"):
            start(net, sample(), half_mse, KEY)


def test_kinks_may_be_allowed_on_purpose():
    flow = traced(GradientFlow(allow_kinks=True))
    assert begin(flow, network("relu"), sample(), half_mse).status == Status.RUNNING


def test_has_kinks_is_true_for_relu_and_leaky_relu_alone():
    kinks = {
        name: dataclasses.replace(network(), activation=activation).has_kinks
        for name, activation in ACTIVATIONS.items()
    }
    assert {name for name, has in kinks.items() if has} == {"relu", "leaky_relu"}
    assert negative_slope(ACTIVATIONS["identity"]) == 1

    class Linear(AbstractNetwork):
        w: jax.Array

        def __call__(self, x):
            return self.w @ x

    assert kink(Linear(jnp.ones((1, D))), jnp.ones(D)) is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rtol": 0.0}, "rtol"),
        ({"rtol": float("nan")}, "rtol"),
        ({"atol": -1.0}, "atol"),
        ({"dt0": 0.0}, "dt0"),
        ({"rest": -1e-3}, "rest"),
        ({"max_steps": 0}, "max_steps"),
        ({"is_adaptive": False}, "dt0"),
        ({"solver": diffrax.Euler()}, "is_adaptive=False"),
        ({"solver": diffrax.SemiImplicitEuler()}, "Tsit5"),
        (
            {"solver": diffrax.Kvaerno5(), "dt0": 0.1, "is_adaptive": False},
            "is_adaptive=True",
        ),
    ],
)
def test_a_flow_that_cannot_run_says_which_field_is_wrong(fields, message):
    with pytest.raises(ValueError, match=message):
        GradientFlow(**fields)


def test_one_huge_weight_does_not_loosen_the_control_of_the_others():
    net, data = network(), sample()
    huge = eqx.tree_at(lambda n: n.w, net, net.w.at[0, 0].set(1e30))
    state = run(GradientFlow(), huge, data, 5.0)
    start = half_mse(jax.vmap(huge)(data.x), data.y, data.weight)
    end = half_mse(jax.vmap(state.network)(data.x), data.y, data.weight)
    # A gradient flow's loss never grows; a member that cannot go on must say so.
    assert end <= start * (1 + 1e-9)


@pytest.mark.parametrize("bad", [jnp.nan, jnp.inf, -jnp.inf])
def test_one_number_of_one_leaf_that_is_not_finite_is_enough(bad):
    fine = {"a": jnp.ones(3), "b": jnp.arange(2), "c": "a text"}
    assert is_finite(fine)
    assert not is_finite({**fine, "d": jnp.array([1.0, bad])})
