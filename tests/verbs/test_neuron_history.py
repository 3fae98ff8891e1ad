"""The neurons of a member over time, whichever way the run has them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import small

import simbias
from simbias.measures import NeuronWeights
from simbias.networks.dense.mlp import mlp
from simbias.networks.two_layer import TwoLayer

TIMES = (0.0, 1.0, 5.0)


@pytest.fixture(scope="module")
def experiment():
    return small(
        cell={"n": 6, "m": (4, 8)},
        keep=TIMES,
        measures={"neuron_weights": NeuronWeights()},
        final={},
    )


@pytest.fixture(scope="module")
def ds(experiment):
    return simbias.simulate(experiment)


@pytest.mark.bits
def test_neurons_are_those_of_the_networks_in_flight_and_kept(ds, experiment):
    recorded = simbias.neuron_history(ds, experiment, m=4, seed=2)
    kept = simbias.neuron_history(
        ds.drop_vars("neuron_weights"), experiment, m=4, seed=2
    )
    assert recorded.equals(kept)
    assert dict(recorded.sizes) == {"time": 3, "neuron": 4, "input": 2}
    assert (recorded["m"], recorded["seed"]) == (4, 2)
    for time in TIMES:
        one = simbias.member(ds, experiment, m=4, seed=2, time=time)
        then = recorded.sel(time=time)
        np.testing.assert_array_equal(then["w"], one.network.w)
        np.testing.assert_array_equal(then["a"], one.network.a[:, 0])


@pytest.mark.bits
def test_part_of_a_result_has_the_neurons_of_its_members(ds, experiment):
    whole = simbias.neuron_history(ds, experiment, m=8, seed=1)
    part = ds.sel(m=8, seed=[1, 2])
    assert simbias.neuron_history(part, experiment, seed=1).equals(whole)
    last = simbias.neuron_history(part.isel(time=[2]), experiment, seed=1)
    assert last.equals(whole.isel(time=[2]))


def _two_layers_with_bias(key, m):
    w, a, b = jax.random.normal(key, (3, m))
    return TwoLayer(jnp.stack([w, -a], 1), jnp.stack([a, b, w], 1), b)


@pytest.mark.bits
@pytest.mark.parametrize(
    ("law", "last_bias"),
    [
        (_two_layers_with_bias, lambda network: 0.0),
        (lambda key, m: mlp(key, (2, m, 3)), lambda network: network.biases[1]),
        (
            lambda key, m: eqx.nn.MLP(2, 3, m, depth=1, key=key),
            lambda network: network.layers[1].bias,
        ),
    ],
    ids=["TwoLayer", "Mlp", "eqx.nn.MLP"],
)
def test_every_network_with_one_hidden_layer_has_neurons(law, last_bias):
    def make(key, *, m: int = 5):
        data, _ = small().make(key, n=6)
        data = eqx.tree_at(lambda d: (d.y, d.mean), data, (data.x[:, [0, 1, 0]],) * 2)
        return data, law(key, m)

    experiment = small(
        make=make, cell={"m": 5}, seeds=1, keep=(0.0, 5.0), measures={}, final={}
    )
    ds = simbias.simulate(experiment)
    neurons = simbias.neuron_history(ds, experiment)
    assert neurons["a"].dims == ("time", "neuron", "output")
    network = simbias.member(ds, experiment).network
    x = jnp.array([0.3, -0.7])
    then = neurons.isel(time=-1)
    bias = then.get("b", 0)
    hidden = np.maximum((then["w"] * np.asarray(x)).sum("input") + bias, 0)
    f = (then["a"] * hidden).sum("neuron")
    without = np.asarray(network(x) - last_bias(network))
    np.testing.assert_allclose(f, without, rtol=1e-12)


@pytest.mark.bits
def test_who_has_no_neurons_is_told_how_to_have_some(ds, experiment):
    plain = simbias.simulate(small(cell={"n": 6}, seeds=1))
    deep = small(
        make=lambda key, *, n: (small().make(key, n=n)[0], mlp(key, (2, 3, 3, 1))),
        cell={"n": 6},
        seeds=1,
        keep=(5.0,),
        final={},
    )
    for call, message in (
        (lambda: simbias.neuron_history(plain, small()), r"NeuronWeights.*--keep"),
        (lambda: simbias.neuron_history(simbias.simulate(deep), deep), "one hidden"),
        (lambda: simbias.neuron_history(ds, experiment, m=5), "`m` must be one of"),
        (lambda: simbias.neuron_history(ds, experiment, m=4, seed=9), "`seed` must"),
    ):
        with pytest.raises(simbias.BadInput, match=message):
            call()
