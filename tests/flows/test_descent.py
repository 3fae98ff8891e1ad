"""Descent against optax in a plain loop, the gradient flow, and its own contract."""

import dataclasses

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from toy import (
    KEY,
    N,
    assert_same_bits,
    distance,
    sample,
    stack,
    toy_network,
    weights,
)

from simbias.core import AbstractNetwork, Dataset, Status
from simbias.ensemble.members import traced
from simbias.flows._descent.schedules import check_schedule
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import half_mse
from simbias.validation.values import not_negative, positive
from simbias.verbs.simulate import solve

OPTIMISERS = {
    "gd": (Descent(rate=0.05), optax.sgd(0.05)),
    "momentum": (
        Descent(rate=0.05, optimiser="momentum", decay=0.8),
        optax.sgd(0.05, momentum=0.8),
    ),
    "nesterov": (
        Descent(rate=0.05, optimiser="nesterov", decay=0.8, weight_decay=0.3),
        optax.chain(
            optax.add_decayed_weights(0.3), optax.sgd(0.05, 0.8, nesterov=True)
        ),
    ),
    "adam": (Descent(rate=0.01, optimiser="adam"), optax.adam(0.01)),
    "gd, decayed": (
        Descent(rate=0.05, weight_decay=0.3),
        optax.chain(optax.add_decayed_weights(0.3), optax.sgd(0.05)),
    ),
    "momentum, decayed": (
        Descent(rate=0.05, optimiser="momentum", weight_decay=0.3),
        optax.chain(optax.add_decayed_weights(0.3), optax.sgd(0.05, momentum=0.9)),
    ),
    "adam, decayed": (
        Descent(rate=0.01, optimiser="adam", weight_decay=0.3),
        optax.chain(optax.add_decayed_weights(0.3), optax.adam(0.01)),
    ),
    "adamw": (
        Descent(rate=0.01, optimiser="adamw", weight_decay=0.3, epsilon=1e-3),
        optax.adamw(0.01, weight_decay=0.3, eps=1e-3),
    ),
}


def network(activation="relu", **law):
    return toy_network(activation, **law)


@eqx.filter_jit
def evolve(flow, net, data, until, loss=half_mse, key=KEY):
    return jax.lax.while_loop(
        lambda s: (s.status == Status.RUNNING) & (s.time < until * (1 - 1e-12)),
        lambda s: flow.step(s, data, loss, until),
        flow.init(net, data, loss, key),
    )


def run(flow, net, data, time, loss=half_mse, key=KEY):
    return evolve(traced(flow), net, data, jnp.float64(time), loss, key)


# --- the optimisers -------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTIMISERS)
def test_members_side_by_side_equal_a_plain_optax_loop(name):
    flow, transform = OPTIMISERS[name]
    data, steps = sample(), 40
    nets = [network(seed=i) for i in range(3)]
    until = jnp.float64(steps * flow.rate)
    one = lambda net: evolve(traced(flow), net, data, until)
    together = jax.vmap(one)(stack(nets))
    np.testing.assert_array_equal(together.stats["accepted"], steps)

    @jax.jit
    def plain_step(params, state):
        def objective(params):
            f = jnp.maximum(data.x @ params[0].T, 0) @ params[1]
            return jnp.mean((f - data.y) ** 2) / 2

        # optax divides a float by an integer power.
        with jax.numpy_dtype_promotion("standard"):
            updates, state = transform.update(
                jax.grad(objective)(params), state, params
            )
        return optax.apply_updates(params, updates), state

    for i, net in enumerate(nets):
        params = (net.w, net.a)
        state = transform.init(params)
        for _ in range(steps):
            params, state = plain_step(params, state)
        # Rounding of the products, amplified over forty steps.
        np.testing.assert_allclose(together.network.w[i], params[0], rtol=1e-9)
        np.testing.assert_allclose(together.network.a[i], params[1], rtol=1e-9)


def test_the_error_of_gd_against_the_flow_falls_like_the_rate():
    net, data, time = network("tanh"), sample(), 2.0
    flow = GradientFlow(rtol=1e-11)
    exact = run(flow, net, data, time)
    errors = [
        distance(run(Descent(rate=r), net, data, time).network, exact.network)
        for r in (0.02, 0.01, 0.005)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 1) < 0.1)


def test_gd_is_eulers_method_to_the_bit():
    net, data, rate = network("tanh"), sample(), 0.1
    gd = run(Descent(rate=rate), net, data, 30 * rate)
    euler = run(
        GradientFlow(solver=diffrax.Euler(), dt0=rate, is_adaptive=False),
        net,
        data,
        30 * rate,
    )
    assert_same_bits(gd.network, euler.network)
    assert float(gd.time) == float(euler.time)


def test_members_may_differ_in_rate_and_equal_themselves_alone():
    net, data, rates = network(), sample(), (0.01, 0.02, 0.1)
    flows = stack([traced(Descent(rate=r)) for r in rates])
    together = jax.vmap(lambda flow: evolve(flow, net, data, jnp.float64(1.0)))(flows)
    np.testing.assert_array_equal(together.stats["accepted"], [100, 50, 10])
    for i, rate in enumerate(rates):
        alone = run(Descent(rate=rate), net, data, 1.0)
        member = jax.tree.map(lambda v, i=i: v[i], together)
        # A product of matrices is rounded differently in a batch of another size.
        assert distance(member.network, alone.network) < 1e-12


@pytest.mark.parametrize("batch", [None, 5])
def test_padding_changes_nothing_but_rounding(batch):
    flow = Descent(rate=0.05, batch=batch)
    plain, padded = (
        run(flow, network(), sample(padding=p), 2.0).network for p in (0, 20)
    )
    # Sums over 12 and 32 rows are rounded in a different order.
    assert distance(padded, plain) < 1e-12


# --- mini-batches ---------------------------------------------------------------------


class Slope(AbstractNetwork):
    """f(x) = θ x."""

    theta: jax.Array

    def __call__(self, x):
        return self.theta * x


def total(prediction, target, weight):
    """Its gradient is the sum of the targets of the batch."""
    kept = jnp.where(weight > 0, weight * jnp.sum(prediction * target, axis=1), 0)
    return -jnp.sum(kept)


def batches_seen(batch, n, padding, steps, key=KEY):
    """Which samples each step used: sample i adds 2^i to θ."""
    pad = lambda v: jnp.pad(v, ((0, padding), (0, 0)), constant_values=1.0)
    y = pad(2.0 ** jnp.arange(n, dtype=jnp.float64)[:, None])
    weight = jnp.pad(jnp.ones(n), (0, padding))
    data = Dataset(jnp.ones_like(y), y, weight, y, jnp.ones((1, 1)))
    flow = traced(Descent(rate=1.0, batch=batch))
    state = flow.init(Slope(jnp.zeros((1,))), data, total, key)
    step = eqx.filter_jit(flow.step)
    seen = []
    for _ in range(steps):
        old, state = state, step(state, data, total, jnp.float64(steps))
        bits = int(state.network.theta[0] - old.network.theta[0])
        seen.append({i for i in range(n + 1) if bits >> i & 1})
    assert int(state.stats["evaluations"]) == steps
    return seen


def test_every_epoch_uses_each_real_sample_once_in_an_order_of_its_own():
    seen = batches_seen(batch=4, n=10, padding=6, steps=9)
    epochs = [seen[i : i + 3] for i in range(0, 9, 3)]
    for epoch in epochs:
        assert [len(batch) for batch in epoch] == [4, 4, 2]
        assert set().union(*epoch) == set(range(10))
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]


def test_batches_depend_on_the_key_and_not_on_the_padding():
    seen = batches_seen(batch=4, n=10, padding=6, steps=6)
    assert batches_seen(batch=4, n=10, padding=0, steps=6) == seen
    other = batches_seen(batch=4, n=10, padding=6, steps=6, key=jax.random.key(5))
    assert other != seen


def test_a_batch_above_the_sample_is_the_sample():
    everything = set(range(5))
    assert batches_seen(batch=8, n=5, padding=3, steps=2) == [everything] * 2
    assert batches_seen(batch=100, n=5, padding=3, steps=2) == [everything] * 2


# --- the contract of `step` -----------------------------------------------------------


def test_the_time_is_steps_times_rate_and_a_record_waits_for_the_first_at_or_past_it():
    net, data = network(), sample()
    for rate, until, steps in ((0.1, 0.3, 3), (0.1, 0.31, 4), (0.1, 5.0, 50)):
        state = run(Descent(rate=rate), net, data, until)
        assert int(state.stats["accepted"]) == steps
        assert float(state.time) == steps * rate


@pytest.mark.parametrize("schedule", [None, lambda step: 1 / (1 + step)])
def test_a_clock_of_steps_gives_every_rate_as_many(schedule):
    net, data = network(), sample()
    for rate in (0.01, 0.3):
        flow = Descent(rate=rate, schedule=schedule, counts_steps=True)
        state = run(flow, net, data, 7.0)
        assert int(state.stats["accepted"]) == float(state.time) == 7
        other = Descent(rate=rate, schedule=schedule)
        end = rate * (7 if schedule is None else sum(1 / k for k in range(1, 8)))
        same = run(other, net, data, end)
        assert distance(state.network, same.network) == 0
    assert flow.clock == "steps"


def falling(step):
    return 1 / (1 + step.astype(jnp.float64))


def test_a_schedule_multiplies_the_rate_and_the_clock_is_the_sum_of_the_rates():
    net, data = network(), sample()
    rates = 0.2 / np.arange(1, 5)
    # One step of each rate, one after another.
    expected = net
    for rate in rates:
        expected = run(Descent(rate=rate), expected, data, rate).network
    flow = Descent(rate=0.2, schedule=falling)
    state = run(flow, net, data, np.cumsum(rates)[-1])
    assert int(state.stats["accepted"]) == 4
    assert float(state.time) == pytest.approx(rates.sum(), rel=1e-15)
    assert distance(state.network, expected) < 1e-14


def test_a_constant_schedule_is_none():
    constant = Descent(rate=0.1, schedule=jnp.ones_like, optimiser="adam")
    net, data = network(), sample()
    a = run(constant, net, data, 1.0).network
    b = run(Descent(rate=0.1, optimiser="adam"), net, data, 1.0).network
    assert distance(a, b) < 1e-14


SCHEDULES = {
    "constant": optax.constant_schedule(0.5),
    "a Python number": lambda step: 1,
    "cosine": optax.cosine_decay_schedule(1.0, 8),
    "to zero": optax.linear_schedule(1.0, 0.0, 8),
    "warm-up from zero": optax.warmup_cosine_decay_schedule(
        0.0, 1.0, 3, 8, end_value=0.1
    ),
    "in pieces": optax.piecewise_constant_schedule(1.0, {2: 0.1, 5: 0.5}),
    "joined": optax.join_schedules(
        [optax.constant_schedule(0.0), optax.exponential_decay(1.0, 4, 0.5)], [4]
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_of_optax_give_the_steps_of_a_plain_loop(name):
    schedule = SCHEDULES[name]
    net, data = network("tanh"), sample()
    rates = 0.2 * np.asarray([float(schedule(k)) for k in range(8)])
    plain = net
    for rate in rates[rates > 0]:
        plain = run(Descent(rate=rate), plain, data, rate).network
    state = run(Descent(rate=0.2, schedule=schedule), net, data, rates.sum() * 0.9999)
    assert float(state.time) == pytest.approx(rates.sum(), rel=1e-6)
    assert distance(state.network, plain) < 1e-6  # some of optax are of float32


@pytest.mark.parametrize("name", ["cosine", "to zero"])
def test_a_schedule_that_is_zero_for_good_ends_the_member_at_rest(name):
    flow = Descent(rate=0.2, schedule=SCHEDULES[name])
    lane = trajectory(flow, network("tanh"), sample(), (0.0, 0.1, 50.0, 1e6))
    assert lane.status == Status.CONVERGED
    assert lane.stats["accepted"] == 8
    assert lane.records["risk"][2] < lane.records["risk"][1]


def test_a_rate_that_falls_below_zero_ends_the_member_and_not_the_clock():
    flow = Descent(rate=0.2, schedule=lambda step: 1.0 - step)
    with pytest.warns(UserWarning, match="or check that `schedule` is 0 or more"):
        lane = trajectory(flow, network("tanh"), sample(), (0.0, 1.0))
    assert lane.status == Status.NONFINITE
    assert lane.stats["accepted"] == 2


def trajectory(flow, net, data, times):
    risk = lambda net, data: half_mse(jax.vmap(net)(data.x), data.y, data.weight)
    return solve(net, data, flow, half_mse, times, {"risk": risk})


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (0.5, "`schedule` must be a function of the number of the step"),
        (lambda k: 1.0 if k < 3 else 0.1, "`schedule` cannot be computed"),
        (lambda k: 1j * k, "`schedule` must return one real number"),
        (lambda k: jnp.ones(2), "`schedule` must return one real number"),
    ],
)
def test_what_is_no_schedule_is_refused_by_name(schedule, message):
    with pytest.raises(ValueError, match=message):
        check_schedule(schedule, 0.1)


def test_a_schedule_in_the_place_of_the_rate_is_told_where_it_belongs():
    with pytest.raises(ValueError, match="as `schedule`, beside a rate of 1"):
        check_schedule(None, optax.constant_schedule(0.1))


@pytest.mark.parametrize("value", [10**400, -(10**400), 1j, jnp.asarray(1j), "1", True])
def test_numbers_that_are_no_finite_real_ones_are_refused_by_name(value):
    for check in (positive, not_negative):
        with pytest.raises(ValueError, match="`rate` must be finite and"):
            check("rate", value)


@pytest.mark.parametrize("name", ["max_steps", "batch"])
def test_counts_beyond_32_bits_are_refused_by_name(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at most 2³¹ − 1"):
        Descent(**{name: 2**70})


def test_a_complex_optimiser_is_refused_by_name():
    flow = traced(Descent(optimiser=optax.scale(-0.1j)))
    with pytest.raises(ValueError, match="`optimiser` must move the weights by real"):
        flow.init(network(), sample(), half_mse, KEY)


@pytest.mark.parametrize("opaque_mode", [False, True])
def test_sharpness_aware_minimisation_is_that_of_a_plain_optax_loop(opaque_mode):
    ascent = optax.chain(optax.contrib.normalize(), optax.sgd(0.05))
    sam = optax.contrib.sam(optax.sgd(0.1), ascent, opaque_mode=opaque_mode)
    net, data = network("tanh"), sample()
    params, rest = eqx.partition(net, eqx.is_inexact_array)
    value = lambda params, _=None: half_mse(
        jax.vmap(eqx.combine(params, rest))(data.x), data.y, data.weight
    )
    state, plain = sam.init(params), params
    with jax.numpy_dtype_promotion("standard"):
        for _ in range(6):
            more = {"grad_fn": jax.grad(value)} if opaque_mode else {}
            updates, state = sam.update(jax.grad(value)(plain), state, plain, **more)
            plain = optax.apply_updates(plain, updates)
    found = run(Descent(optimiser=sam), net, data, 6.0).network
    assert distance(found, plain) < 1e-13


def test_a_batch_far_above_the_sample_takes_no_memory_of_its_own():
    data, net = sample(), network()
    everything = run(Descent(rate=0.1), net, data, 0.5).network
    found = run(Descent(rate=0.1, batch=10**9), net, data, 0.5).network
    assert distance(found, everything) < 1e-14
    size = lambda **fields: Descent(**fields).attempt_size(net, N, 4, 4)
    assert size(batch=10**9) == size(batch=N)
    assert size(batch=10**9, sampling="replacement") > 10**9


def test_step_is_the_identity_once_finished_or_at_until():
    flow, data = traced(Descent(rate=0.1, optimiser="momentum", batch=4)), sample()
    state = evolve(flow, network(), data, jnp.float64(1.0))
    step = eqx.filter_jit(flow.step)
    values = lambda s: (
        s.network,
        s.time,
        s.status,
        s.stats,
        s.memory.optimiser,
        s.memory.batches.order,
    )
    until = jnp.float64(1.0)
    assert_same_bits(values(step(state, data, half_mse, until)), values(state))
    for status in set(Status) - {Status.RUNNING}:
        ended = dataclasses.replace(state, status=jnp.int32(status))
        after = step(ended, data, half_mse, jnp.float64(2.0))
        assert_same_bits(values(after), values(ended))


@pytest.mark.parametrize(
    "fields",
    [{"rate": 10.0}, {"rate": 10.0, "batch": 5}, {"optimiser": optax.sgd(10.0)}],
)
def test_a_divergence_ends_the_member_with_its_last_finite_network(fields):
    state = run(Descent(**fields), network(), sample(), 1e6)
    assert state.status == Status.NONFINITE
    assert 0 < float(state.time) < 1e4
    assert np.isfinite(weights(state.network)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_a_start_that_is_not_finite_ends_within_a_step(value):
    net = network()
    net = dataclasses.replace(net, w=net.w.at[0, 0].set(value), a=abs(net.a))
    data = dataclasses.replace(sample(), x=abs(sample().x))
    state = run(Descent(), net, data, 10.0)
    assert state.status == Status.NONFINITE
    assert int(state.stats["accepted"]) == 0


@pytest.mark.parametrize("optimiser", ["adam", optax.adam(0.1)])
def test_adam_ends_when_its_memory_overflows_instead_of_standing_still(optimiser):
    cast = lambda tree: jax.tree.map(lambda v: v.astype(jnp.float32), tree)
    net, data = cast(network("identity")), cast(sample())
    # f ~ 1e12, its square and the gradient are finite, the gradient's square is not.
    net = dataclasses.replace(net, w=net.w * 1e12)
    state = run(Descent(optimiser=optimiser), net, data, 10.0)
    assert state.status == Status.NONFINITE


def test_max_steps_bounds_the_steps_and_spares_who_arrives_with_the_last():
    net, data = network(), sample()
    enough = run(Descent(rate=0.1, max_steps=10), net, data, 1.0)
    assert enough.status == Status.RUNNING
    short = run(Descent(rate=0.1, max_steps=9), net, data, 1.0)
    assert short.status == Status.MAX_STEPS
    assert int(short.stats["accepted"]) == 9


def test_float32_weights_stay_float32():
    cast = lambda tree: jax.tree.map(lambda v: v.astype(jnp.float32), tree)
    flow = Descent(rate=0.01, optimiser="adamw", batch=4)
    state = run(flow, cast(network()), cast(sample()), 0.5)
    exact = run(flow, network(), sample(), 0.5)
    assert state.network.w.dtype == jnp.float32
    assert state.time.dtype == jnp.float64
    # Fifty steps of float32 rounding.
    assert distance(state.network, exact.network) < 1e-4


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rate": 0.0}, "rate"),
        ({"rate": float("nan")}, "rate"),
        ({"batch": 0}, "batch"),
        ({"max_steps": 0}, "max_steps"),
        ({"decay": 0.9}, "decay"),
        ({"optimiser": "momentum", "decay": -0.1}, "decay"),
        ({"optimiser": "adam", "beta2": 1.0}, "beta2"),
        ({"optimiser": "adam", "weight_decay": -0.1}, "weight_decay"),
    ],
)
def test_a_flow_that_cannot_run_says_which_field_is_wrong(fields, message):
    with pytest.raises(ValueError, match=message):
        Descent(**fields)
