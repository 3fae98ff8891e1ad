"""Limits that are proven."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias import losses
from simbias.core import Dataset, Status
from simbias.errors import BadInput
from simbias.flows.relu_flow import ReluFlow
from simbias.limits.basin import basin
from simbias.limits.neurons import read
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer import TwoLayer
from simbias.stops.stationary import Stationary

D = 2
TIMES = tuple(np.arange(1.0, 200.0))
WEIGHTS = {
    "w": lambda network, data: network.w,  # noqa: ARG005
    "a": lambda network, data: network.a,  # noqa: ARG005
    "b": lambda network, data: network.b,  # noqa: ARG005
}


def sample(n=40, noise=0.3, seed=0, d=D):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    y = (x @ np.ones(d) / np.sqrt(d) + noise * rng.standard_normal(n))[:, None]
    ones, y = jnp.ones(n), jnp.asarray(y)
    return Dataset(jnp.asarray(x), y, ones, y, jnp.zeros((0, d)))


def two_groups(size=1.0, m=6, seed=1, d=D, activation=jax.nn.relu):
    """Half of the neurons near (1, …, 1), with a > 0, half against it."""
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(m) % 2, 1.0, -1.0)
    w = sign[:, None] * (np.ones(d) / np.sqrt(d) + 0.1 * rng.standard_normal(d))
    w *= size * (1 + 0.3 * rng.random((m, 1)))
    a = sign * np.linalg.norm(w, axis=1)
    return TwoLayer(jnp.asarray(w), jnp.asarray(a[:, None]), None, activation)


@eqx.filter_jit
def known(network, data, loss=losses.half_mse):
    return basin(*read(network, data, loss))


@eqx.filter_jit
def said(stop, network, data, loss=losses.half_mse):
    return stop.status(network, data, loss)


def risk(network, data):
    f = jax.vmap(network)(data.x)
    return float(losses.half_mse(f, data.y, data.weight))


def flowed(network, data, times=TIMES, stop=None):
    flow, loss = ReluFlow(rtol=1e-8), losses.half_mse
    kept = {k: v for k, v in WEIGHTS.items() if getattr(network, k) is not None}
    return simbias.solve(network, data, flow, loss, times, kept, stop=stop)


def moved(end, record, i):
    """How far each neuron goes from record i to the end, over its size."""
    y = lambda w, a: np.concatenate([w, a], axis=1)
    here = y(record["w"][i], record["a"][i])
    gap = np.linalg.norm(y(end.w, end.a) - here, axis=1)
    return (gap / np.linalg.norm(here, axis=1)).max()


@pytest.mark.slow
def test_the_least_loss_is_that_of_a_regression_on_each_side():
    with simbias.exact_numerics():
        network, data = two_groups(), sample()
        found = known(network, data)
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]
    sides = x @ np.asarray(network.w)[:2].T > 0
    both = np.concatenate([x * sides[:, :1], x * sides[:, 1:]], axis=1)
    rest = y - both @ np.linalg.lstsq(both, y, rcond=None)[0]
    assert float(found.least) == pytest.approx(np.mean(rest**2) / 2, rel=1e-12)
    assert float(found.least) < risk(network, data)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(i, marks=pytest.mark.long) for i in range(1, 4))]
)
def test_no_neuron_moves_further_than_the_bound(seed):
    with simbias.exact_numerics():
        data = sample(seed=seed)
        way = flowed(two_groups(seed=seed), data)
        seen = 0
        for i in range(9, 60, 10):
            weights = [jnp.asarray(way.records[k][i]) for k in ("w", "a")]
            network = eqx.tree_at(lambda n: (n.w, n.a), way.network, tuple(weights))
            found = known(network, data)
            if found.is_known:
                seen += 1
                bound = float(found.distance)
                assert moved(way.network, way.records, i) <= bound * (1 + 1e-6) + 1e-12
                end = risk(way.network, data)
                assert end == pytest.approx(float(found.least), rel=1e-9)
    assert seen >= 2


@pytest.mark.slow
def test_a_member_ends_where_its_limit_is_known():
    with simbias.exact_numerics():
        data = sample()
        end = flowed(two_groups(), data, stop=Stationary(tolerance=1e-3))
        on = flowed(end.network, data)
        assert end.status is Status.STATIONARY
        assert end.end_time < 30
        before = {k: np.asarray(v)[None] for k, v in _weights(end.network).items()}
        assert moved(on.network, before, 0) <= 1e-3


def _weights(network):
    return {"w": network.w, "a": network.a}


def first_end(stop, way, data):
    """The first record at which a member would have ended, how, and its network."""
    for i in range(0, len(TIMES), 3):
        found = {k: jnp.asarray(way.records[k][i]) for k in way.records}
        network = dataclasses.replace(way.network, **found)
        status = Status(int(said(stop, network, data)))
        if status is not Status.RUNNING:
            return i, status, network
    return None


@pytest.mark.slow
def test_a_member_that_interpolates_has_converged():
    with simbias.exact_numerics():
        data = sample(n=4, d=6)
        stop = Stationary(tolerance=0.1, interpolated=1e-12)
        way = flowed(two_groups(d=6), data)
        _, status, then = first_end(stop, way, data)
        assert status is Status.CONVERGED
        # Long before it interpolates.
        assert risk(then, data) > 1e-9
        assert risk(way.network, data) < 1e-12


@pytest.mark.slow
def test_a_network_in_single_precision_has_a_limit_too():
    # As the engine has it: no type is promoted to another unasked.
    narrow = lambda tree: jax.tree.map(
        lambda v: v.astype(jnp.float32) if eqx.is_inexact_array(v) else v, tree
    )
    network, data = two_groups(), sample()
    with jax.numpy_dtype_promotion("strict"):
        status = said(Stationary(), narrow(network), narrow(data))
    assert int(status) == int(said(Stationary(), network, data))


@pytest.mark.slow
def test_without_noise_two_groups_converge():
    with simbias.exact_numerics():
        data = sample(noise=0.0)
        end = flowed(two_groups(), data, stop=Stationary())
        assert end.status is Status.CONVERGED


@pytest.mark.slow
def test_near_a_saddle_nothing_is_proven():
    """Beside two groups at rest, a neuron of next to no size that can grow."""
    with simbias.exact_numerics():
        data = sample()
        rest = flowed(two_groups(), data).network
        assert known(rest, data).is_known
        w, a = np.asarray(rest.w), np.asarray(rest.a)
        for angle in np.linspace(0, 2 * np.pi, 9):
            tiny = 1e-9 * np.array([[np.cos(angle), np.sin(angle)]])
            more = TwoLayer(
                jnp.asarray(np.concatenate([w, tiny])),
                jnp.asarray(np.concatenate([a, [[1e-9]]])),
                None,
                jax.nn.relu,
            )
            sides = np.asarray(data.x) @ np.concatenate([w, tiny]).T > 0
            is_old = (sides[:, -1:] == sides[:, :-1]).all(axis=0).any()
            assert is_old or not known(more, data).is_known


@pytest.mark.slow
def test_a_neuron_on_a_hyperplane_may_slide():
    with simbias.exact_numerics():
        data = sample()
        rest = flowed(two_groups(), data).network
        x = np.asarray(data.x)[0]
        on = np.array([-x[1], x[0]])
        w = jnp.asarray(rest.w).at[0].set(jnp.asarray(on))
        assert not known(eqx.tree_at(lambda n: n.w, rest, w), data).is_known


@pytest.mark.slow
def test_dead_neurons_ask_for_nothing():
    with simbias.exact_numerics():
        data = sample()
        data = eqx.tree_at(lambda d: d.x, data, jnp.abs(data.x))
        network = two_groups(m=6)
        rest = flowed(network, data).network
        found = known(rest, data)
        assert (np.asarray(data.x) @ np.asarray(rest.w).T <= 0).all(axis=0).any()
        assert found.is_known


@pytest.mark.long
def test_leaky_networks_and_biases_and_frozen_outputs_have_limits():
    with simbias.exact_numerics():
        data = sample()
        leaky, none = two_groups(activation=LeakyRelu(0.1)), lambda v: v is None
        for network in (
            dataclasses.replace(leaky, frozen=("a",)),
            eqx.tree_at(lambda n: n.b, two_groups(), jnp.zeros(6), is_leaf=none),
        ):
            way = flowed(network, data)
            i, status, _ = first_end(Stationary(tolerance=1e-2), way, data)
            assert status is Status.STATIONARY
            assert moved(way.network, way.records, i) <= 1e-2


@pytest.mark.slow
def test_padding_says_nothing():
    with simbias.exact_numerics():
        network, data = two_groups(), sample()
        grow = lambda v: jnp.concatenate([v, jnp.ones((7, *v.shape[1:]))])
        weight = jnp.concatenate([data.weight, jnp.zeros(7)])
        more = Dataset(
            grow(data.x), grow(data.y), weight, grow(data.mean), data.features
        )
        stop = Stationary(tolerance=0.5)
        found = [said(stop, network, d) for d in (data, more)]
        assert int(found[0]) == int(found[1])


@pytest.mark.parametrize(
    ("loss", "activation"),
    [(losses.logistic, jax.nn.relu), (losses.half_mse, jnp.tanh)],
)
def test_what_has_no_such_proof_goes_on_until_it_interpolates(loss, activation):
    with simbias.exact_numerics():
        network = TwoLayer(two_groups().w, two_groups().a, None, activation)
        data, stop = sample(), Stationary()
        assert int(stop.status(network, data, loss)) == Status.RUNNING
        if loss is losses.half_mse:
            y = jax.vmap(network)(data.x)
            told = dataclasses.replace(data, y=y, mean=y)
            assert int(stop.status(network, told, loss)) == Status.CONVERGED


@pytest.mark.parametrize("options", [{"tolerance": 0.0}, {"interpolated": 2.0}])
def test_a_tolerance_out_of_range_is_named(options):
    with pytest.raises(BadInput, match=next(iter(options))):
        Stationary(**options)
