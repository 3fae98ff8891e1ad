"""Proven limits under weight decay."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias import losses
from simbias.core import Dataset, Status
from simbias.errors import BadInput
from simbias.flows import Descent, ReluFlow
from simbias.limits.decay_basin import decay_basin
from simbias.limits.neurons import read
from simbias.networks import TwoLayer
from simbias.stops import Stationary


def sample(x, y):
    x, y = jnp.asarray(x, jnp.float64), jnp.asarray(y, jnp.float64)[:, None]
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, x.shape[1])))


def network(w, a):
    w, a = np.asarray(w, float), np.asarray(a, float)
    return TwoLayer(jnp.asarray(w), jnp.asarray(a[:, None]))


def known(net, data, decay):
    return decay_basin(*read(net, data, losses.half_mse), jnp.float64(decay))


def objective(net, data, decay):
    f = jax.vmap(net)(data.x)
    norm = jnp.sum(net.w**2) + jnp.sum(net.a**2)
    return float(losses.half_mse(f, data.y, data.weight) + decay / 2 * norm)


# One sample x = 2, y = 1: ½(2v − 1)² + μ|v| is least at v = (1 − μ/2)₊/2.
ONE = ([[2.0]], [1.0])


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_soft_thresholding_is_the_limit_of_one_neuron_and_of_two_copies(share):
    with simbias.exact_numerics():
        v = (1 - 0.5 / 2) / 2
        size = np.sqrt(np.array([share, 1 - share])[: 1 + (share < 1)] * v)
        at = known(network(size[:, None], size), sample(*ONE), 0.5)
        near = known(network(1.001 * size[:, None], 1.001 * size), sample(*ONE), 0.5)
    assert bool(at.is_known)
    assert float(at.distance) < 1e-7
    assert bool(near.is_known)
    # It moves by 0.001 of its size, all neurons along the valley of least G.
    assert 1e-3 <= float(near.distance) < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("decay", "is_known"), [(0.5, False), (1.99, False), (2.5, True)]
)
def test_the_origin_is_a_saddle_until_the_decay_is_the_largest_force(decay, is_known):
    with simbias.exact_numerics():
        found = known(network([[1e-4]], [1e-4]), sample(*ONE), decay)
    assert bool(found.is_known) == is_known
    if is_known:
        assert float(found.distance) < 1e-3


@pytest.mark.slow
def test_a_neuron_at_rest_at_a_saddle_of_the_others_is_known():
    """Two orthogonal samples: one is fitted, its fellow's neurons are all dead."""
    with simbias.exact_numerics():
        data = sample(2 * np.eye(2), [1.0, 1.0])
        # (1/2n) Σ: the force on a neuron of one sample is |x|r/n.
        v = (1 - 0.1) / 2
        alone = np.sqrt(v)
        lost = [[alone, -0.3], [-1e-5, -1e-5]]
        spurious = known(network(lost, [alone, 1e-5]), data, 0.1)
        other = [[alone, -1e-6], [-1e-6, 1e-5]]
        grows = known(network(other, [alone, 1e-5]), data, 0.1)
        there = network([[alone, -1e-9], [0, 0]], [alone, 0])
        assert bool(known(there, data, 0.1).is_known)
    assert not bool(spurious.is_known)  # its part off the plane has yet to decay
    assert not bool(grows.is_known)


@pytest.mark.slow
def test_neurons_without_a_force_must_be_small():
    with simbias.exact_numerics():
        size = np.sqrt((1 - 0.5 / 2) / 2)
        found = [
            known(network([[size], [-b]], [size, b]), sample(*ONE), 0.5)
            for b in (1e-1, 1e-4)
        ]
    assert all(bool(f.is_known) for f in found)
    assert float(found[0].distance) > 0.1 > 1e-3 > float(found[1].distance)


@pytest.mark.slow
def test_output_weights_that_are_not_trained_are_not_known():
    with simbias.exact_numerics():
        size = np.sqrt((1 - 0.5 / 2) / 2)
        net = dataclasses.replace(network([[size]], [size]), frozen=("a",))
        assert not bool(known(net, sample(*ONE), 0.5).is_known)


def test_without_decay_the_rule_is_the_one_without_it():
    stop = Stationary()
    assert stop.of_flow(ReluFlow()) is stop
    assert stop.of_flow(ReluFlow(weight_decay=0.0)) is stop
    assert stop.of_flow(Descent(weight_decay=0.1)) is stop
    assert stop.of_flow(ReluFlow(weight_decay=0.1)).weight_decay == 0.1


def test_descent_with_a_decay_has_no_proofs():
    with pytest.raises(BadInput, match="Stationary proves limits of gradient flows"):
        Stationary().check_flow(Descent(weight_decay=0.1))


@pytest.mark.long
@pytest.mark.parametrize("n", [4, 20])
def test_members_end_where_the_flow_goes(n):
    """Orthogonal samples, on whose planes neurons end, and noisy ones in the plane."""
    times = (0.0, *np.geomspace(10, 3000, 60))
    ended = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = 2 * np.eye(4) if n == 4 else rng.standard_normal((n, 3))
        y = x.sum(axis=1) / 2 + rng.standard_normal(n)
        w = rng.standard_normal((10, x.shape[1])) / 3
        a = np.sign(rng.standard_normal(10)) * np.linalg.norm(w, axis=1)
        with simbias.exact_numerics():
            data, flow = sample(x, y), ReluFlow(rtol=1e-8, weight_decay=0.1)
            args = (data, flow, losses.half_mse)
            end = simbias.solve(network(w, a), *args, times, {}, stop=Stationary())
            if end.status is not Status.STATIONARY:
                continue
            ended += 1
            on = simbias.solve(end.network, *args, times, {})
            bound = known(end.network, data, 0.1)
            before, after = (np.hstack([n.w, n.a]) for n in (end.network, on.network))
            moved = np.linalg.norm(after - before) / np.linalg.norm(before)
            fall = objective(end.network, data, 0.1) - objective(on.network, data, 0.1)
        assert moved <= 1e-3
        assert moved <= float(bound.distance) * (1 + 1e-6) + 1e-10
        assert fall <= float(bound.excess) + 1e-6 * 0.1
    assert ended >= 3
