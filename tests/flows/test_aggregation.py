"""Narrow networks that move in the place of wide ones."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset, Status
from simbias.flows._relu import neuron_state as chooser
from simbias.flows._relu.activation_classes import MAX_CLASSES, activation_classes
from simbias.flows._relu.aggregation import aggregation
from simbias.flows._relu.frozen_field import extended_sample
from simbias.flows._relu.neuron_state import NeuronState, products, rates_at
from simbias.flows._relu.step_trajectory import no_sliding
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.networks import balanced
from simbias.networks.two_layer import TwoLayer

N, D, PER = 25, 3, 40
RTOL = 1e-6


def sample():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.standard_normal((N, D)))
    y = jnp.asarray(rng.standard_normal((N, 1)))
    return Dataset(x, y, jnp.ones(N), y, jnp.zeros((0, D)))


def extended():
    return extended_sample(sample(), half_mse, has_bias=False)


def network(*spreads, seed=1):
    """Balanced neurons about one direction for each spread; sizes differ much."""
    rng = np.random.default_rng(seed)
    centre = np.repeat(rng.standard_normal((len(spreads), D)), PER, axis=0)
    w = centre + np.repeat(spreads, PER)[:, None] * rng.standard_normal(centre.shape)
    w = w * np.exp(2 * rng.standard_normal((len(w), 1)))
    sign = np.repeat(rng.choice([-1, 1], len(spreads)), PER)[:, None]
    a = sign * np.linalg.norm(w, axis=1, keepdims=True)
    return jnp.asarray(w), jnp.asarray(a)


# Each of many operations by itself takes longer to compile than all together.
@eqx.filter_jit
def position_of(w, a, data):
    sample = extended_sample(data, half_mse, has_bias=False)
    sides, sliding = products(w, sample) > 0, no_sliding(w, D)
    rates = rates_at(w, a, sides, sliding, sample, 0.0)
    unit = w / jnp.linalg.norm(w, axis=1, keepdims=True)
    clearance = jnp.min(jnp.abs(products(unit, sample)), axis=1)
    return NeuronState(
        w, a, sides, sliding, rates, activation_classes(sides, sliding), clearance
    )


@eqx.filter_jit
def aggregated_by(position, length=0.0):
    known, rtol = position.classes, jnp.asarray(RTOL)
    data = extended()
    return aggregation(
        position, known, position.clearance, data, rtol, jnp.asarray(length)
    )


@eqx.filter_jit
def narrowed(led, position):
    return led.narrow(position, extended())


@eqx.filter_jit
def widened(led, narrow, position, is_output_frozen=False):
    return led.widened(narrow, position, is_output_frozen)


@pytest.mark.long
@pytest.mark.parametrize("spread", [0.0, 1e-8])
def test_a_ray_drives_the_others_as_all_of_it_does(spread):
    position = position_of(*network(spread, spread, spread), sample())
    led = aggregated_by(position)
    assert led.is_usable
    assert int(jnp.sum(led.is_ray)) == 3
    narrow = narrowed(led, position)
    of_few = eqx.filter_jit(rates_at)(
        narrow.w,
        narrow.a,
        narrow.is_above,
        narrow.sliding,
        extended(),
        0.0,
        narrow.represented,
    )
    # Second order in the spread.
    np.testing.assert_allclose(of_few.residual, position.rates.residual, atol=1e-13)
    lengths = jnp.linalg.norm(jnp.concatenate([narrow.w, narrow.a], 1), axis=1)
    of_all = jnp.linalg.norm(jnp.concatenate([position.w, position.a], 1), axis=1)
    assert jnp.sum(lengths**2) == pytest.approx(float(jnp.sum(of_all**2)))
    assert int(jnp.sum(lengths > 0)) == 3


@pytest.mark.slow
def test_who_is_led_is_where_it_was_if_nobody_moves():
    spreads = 1e-8, 1e-3, 0.0
    position = position_of(*network(*spreads), sample())
    led = aggregated_by(position)
    assert int(jnp.sum(led.represented.is_bundle)) == 1
    back = widened(led, narrowed(led, position), position)
    size = jnp.linalg.norm(position.w, axis=1, keepdims=True)
    assert jnp.max(jnp.abs(back.w - position.w) / size) < 1e-7
    bundle = slice(PER, 2 * PER)
    np.testing.assert_array_equal(back.w[bundle], position.w[bundle])
    np.testing.assert_array_equal(back.is_above, position.is_above)
    for one, other in zip(back.rates, position.rates, strict=True):
        np.testing.assert_allclose(
            one, other, atol=1e-6 * float(jnp.max(jnp.abs(other)))
        )
    # Balanced still, and parallel now.
    np.testing.assert_allclose(jnp.linalg.norm(back.w, axis=1), jnp.abs(back.a[:, 0]))
    unit = back.w / jnp.linalg.norm(back.w, axis=1, keepdims=True)
    assert jnp.max(jnp.abs(unit[:PER] - unit[:1])) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_tiny_weights_are_parallel_only_if_they_are_beside_large_ones(scale):
    w, a = network(0.0, 1e-3)
    rays = aggregated_by(position_of(scale * w, a, sample()))
    assert int(jnp.sum(rays.is_ray)) == 1
    assert int(jnp.sum(rays.represented.is_bundle)) == 1
    # Output weights of both signs on one ray of tiny ones.
    if scale > 1:
        one = aggregated_by(
            position_of(scale * w[:PER], a[:PER].at[0].multiply(-1), sample())
        )
        assert not jnp.any(one.is_ray)


@pytest.mark.slow
def test_output_weights_that_are_held_do_not_move():
    position = position_of(*network(1e-8), sample())
    led = aggregated_by(position)
    assert int(jnp.sum(led.is_ray)) == 1
    back = widened(led, narrowed(led, position), position, is_output_frozen=True)
    np.testing.assert_array_equal(back.a, position.a)


@pytest.mark.slow
def test_none_of_a_bundle_turns_further_than_is_said():
    rng = np.random.default_rng(2)
    for spread in (1e-4, 1e-2):
        position = position_of(*network(spread, spread), sample())
        led = aggregated_by(position)
        narrow = narrowed(led, position)
        for turn in (1e-6, 1e-3, 0.3):
            moved = narrow.w * 1.7 + turn * rng.standard_normal(
                narrow.w.shape
            ) * jnp.linalg.norm(narrow.w, axis=1, keepdims=True)
            w = led.basis.up((moved - narrow.w).T, jnp.zeros_like(narrow.a).T)[0].T
            w = position.w + w
            unit = lambda v: v / jnp.linalg.norm(v, axis=1, keepdims=True)
            turned = jnp.linalg.norm(unit(w) - unit(position.w), axis=1)
            bound = led.represented.turned(moved)[led.basis.class_of]
            is_bundle = led.represented.is_bundle[led.basis.class_of]
            assert jnp.sum(is_bundle) > PER
            assert jnp.all((turned <= bound + 1e-14) | ~is_bundle)
            if turn < 0.01:
                assert jnp.max(bound) < 100 * turn


@pytest.mark.slow
def test_a_bundle_holds_only_if_all_of_it_is_pushed_back():
    rng = np.random.default_rng(4)
    position = position_of(*network(1e-2), sample())
    led = aggregated_by(position)
    narrow = narrowed(led, position)
    plane = jnp.where(jnp.arange(D) == 0, 3, jnp.full_like(narrow.sliding.plane, -1))
    seen = set()
    for push in rng.standard_normal((40, 2, D + 1)):
        # Escape speeds are linear in (w, a).
        y = jnp.concatenate([narrow.w, narrow.a], axis=1)
        everyone = jnp.concatenate([position.w, position.a], axis=1)
        below, above = (y @ v for v in push)
        only = lambda v: jnp.where(jnp.arange(D) == 0, v[:, None], 0)
        sliding = eqx.tree_at(
            lambda p: (p.plane, p.speed_below, p.speed_above),
            narrow.sliding,
            (plane, only(below), only(above)),
        )
        holds = bool(led.represented.hold(sliding))
        truly = bool(jnp.all(everyone @ push[0] > 0) & jnp.all(everyone @ push[1] < 0))
        assert truly or not holds
        seen.add((holds, truly))
    assert {(True, True), (False, False)} <= seen


@pytest.mark.slow
def test_without_room_for_all_classes_nobody_leads():
    rng = np.random.default_rng(0)
    w = jnp.asarray(rng.standard_normal((PER * MAX_CLASSES, D)))
    assert not aggregated_by(position_of(w, jnp.ones((len(w), 1)), sample())).is_usable


@pytest.mark.slow
def test_neurons_that_may_meet_a_plane_in_the_next_step_are_not_aggregated():
    position = position_of(*network(1e-3), sample())
    assert aggregated_by(position, 0.0).is_usable
    assert not aggregated_by(position, 1e3).is_usable


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "scale", "time", "least"),
    [
        ("noisy", 1e-8, 60.0, 50),
        ("decay", 1e-8, 60.0, 10),
        pytest.param("duplicates", 1e-4, 100.0, 10, marks=pytest.mark.long),
    ],
)
def test_the_flow_by_leaders_is_the_flow(monkeypatch, case, scale, time, least):
    """400 neurons in two dimensions, which come to be of a few classes."""
    rng = np.random.default_rng(2)
    x = jnp.asarray(rng.standard_normal((12, 2)))
    y = x @ jnp.asarray([[1.0], [0.5]]) + 0.3 * rng.standard_normal((12, 1))
    if case == "duplicates":
        x = x.at[3].set(x[0]).at[4].set(-2 * x[0]).at[5].set(0)
    data = Dataset(x, y, jnp.ones(12), y, jnp.zeros((0, 2)))
    net = balanced(jax.random.key(0), m=400, d=2, scale=scale)
    decay = 0.02 if case == "decay" else None
    led = end(net, data, time, decay)
    sides, sliding = led.memory.neurons.is_above, led.memory.neurons.sliding
    assert activation_classes(sides, sliding).fits
    unit = led.network.w / jnp.linalg.norm(led.network.w, axis=1, keepdims=True)
    kind = led.memory.neurons.classes.class_of
    first = led.memory.neurons.classes.first
    is_ray = jnp.linalg.norm(unit - unit[first][kind], axis=1) < 1e-14
    assert jnp.mean(is_ray) > 0.3
    assert least < int(led.stats["aggregated"]) < int(led.stats["accepted"])
    monkeypatch.setattr(chooser, "may_be_worth_it", lambda m, q: False)
    plain = end(net, data, time, decay, by_classes=False)
    assert plain.memory.neurons.classes is None
    assert int(plain.stats["aggregated"]) == int(plain.stats["by_class"]) == 0
    assert int(led.stats["by_class"]) > 0
    assert int(led.stats["aggregated"] + led.stats["by_class"]) <= int(
        led.stats["accepted"]
    )
    for name in ("crossings", "slides", "releases"):
        assert int(led.stats[name]) == int(plain.stats[name])
    assert int(led.stats["evaluations"]) < 1.2 * int(plain.stats["evaluations"])
    for one, other in zip(
        (led.network.w, led.network.a), (plain.network.w, plain.network.a), strict=True
    ):
        assert jnp.max(jnp.abs(one - other)) < 10 * RTOL * jnp.max(jnp.abs(other))
    f = lambda net: jax.vmap(net)(x)
    assert jnp.max(jnp.abs(f(led.network) - f(plain.network))) < 10 * RTOL


def end(network, data, time, decay=None, by_classes=True):
    return _end(network, data, jnp.asarray(time), decay, by_classes)


@eqx.filter_jit
def _end(network, data, time, decay, by_classes):
    del by_classes  # decided while this is traced, and so another program
    flow = ReluFlow(rtol=RTOL, weight_decay=decay)
    start = flow.init(network, data, half_mse, jax.random.key(0))
    goes_on = lambda s: (s.status == Status.RUNNING) & (s.time < time)
    step = lambda s: flow.step(s, data, half_mse, time)
    return jax.lax.while_loop(goes_on, step, start)


@pytest.mark.slow
def test_a_tiny_neuron_beside_a_class_keeps_its_product_with_it():
    """wᵢ·wⱼ − aᵢaⱼ of two neurons of one pattern is constant along the flow."""
    # Of the sizes of the problem above, which has such a program: the second input is
    # 0, and so are all samples but the first.
    w, a = np.zeros((400, 2)), np.full((400, 1), 1e-3)
    w[:, 0] = a[:, 0]
    w[-1, 0], a[-1] = 1e-9, -1e-9
    x, y = jnp.zeros((12, 2)).at[0, 0].set(1), jnp.zeros((12, 1)).at[0].set(1)
    data = Dataset(x, y, y[:, 0], y, jnp.zeros((0, 2)))
    found = end(TwoLayer(jnp.asarray(w), jnp.asarray(a)), data, 20.0)
    product = lambda w, a: float(w[0, 0] * w[-1, 0] - a[0, 0] * a[-1, 0])
    now = product(found.network.w, found.network.a)
    assert now == pytest.approx(product(w, a), rel=10 * RTOL)
    assert int(found.stats["accepted"]) < 80
    assert int(found.stats["rejected"]) < 5
