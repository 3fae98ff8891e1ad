"""Modules of Equinox, optimisers of optax, functions and arrays work as they are."""

import dataclasses
import functools
import json
import subprocess
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import xarray as xr
from small import Norms, Risk, RiskBelow, small

from simbias.core import AbstractNetwork, Dataset, Real
from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.ensemble.configuration import configuration
from simbias.ensemble.tuples import with_tuples
from simbias.flows._descent.optimisers import check_optimiser
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.introspection.array_network import as_array_network
from simbias.introspection.identity import identity
from simbias.introspection.kinks import kink
from simbias.losses import half_mse
from simbias.networks.dense.mlp import Mlp
from simbias.networks.two_layer import TwoLayer
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.initial import initial
from simbias.verbs.simulate import planned, simulate, solve

KEY = jax.random.key(0)
X = jnp.ones(2)


def mlp(activation: Any = jnp.tanh, outputs: Any = 1, key=KEY) -> eqx.nn.MLP:
    return eqx.nn.MLP(2, outputs, 4, 1, activation=activation, key=key)


def sample(n: int = 6) -> Dataset:
    return gaussian_teacher(jax.random.key(1), n=n, d=2, n_test=1)


def trained(network, **given):
    arguments = {"flow": Descent(0.1), "times": (1.0,), "measures": {}, **given}
    return solve(network, sample(), loss=half_mse, **arguments)


def with_network(network):
    """The smallest experiment, with a network of its own for every key."""

    def make(key, *, n: int = 6, sigma: Real = 0.5):
        data, _ = small().make(key, n=n, sigma=sigma)
        return data, network(key)

    cell = {"n": 6, "sigma": 0.5}
    return small(make=make, cell=cell, seeds=2, final={}, flow=Descent(0.1))


# Networks.


class Own(eqx.Module):
    """Two layers that know nothing of simbias, with an activation that is no array."""

    w: jax.Array
    a: jax.Array
    activation: Any = jnp.tanh

    def __call__(self, x):
        return self.a @ self.activation(self.w @ x)


def own(activation=jnp.tanh) -> Own:
    w, a = jax.random.normal(KEY, (4, 2)), jax.random.normal(KEY, (1, 4))
    return Own(w, a, activation)


@pytest.mark.bits
@pytest.mark.parametrize("flow", [Descent(0.05), GradientFlow(rtol=1e-6)])
def test_a_module_of_equinox_moves_as_the_same_network_of_ours(flow):
    theirs = mlp()
    weights, biases = zip(*((v.weight, v.bias) for v in theirs.layers), strict=True)
    ours = trained(Mlp(weights, biases, jnp.tanh), flow=flow).network
    found = trained(theirs, flow=flow).network
    assert type(found) is eqx.nn.MLP
    assert found.activation is theirs.activation
    for i, layer in enumerate(found.layers):
        np.testing.assert_allclose(layer.weight, ours.weights[i], rtol=1e-13)
        np.testing.assert_allclose(layer.bias, ours.biases[i], rtol=1e-13)


@pytest.mark.bits
def test_a_run_of_equinox_modules_is_stored_and_drawn_again(tmp_path):
    experiment = with_network(lambda key: mlp(lambda h: jnp.maximum(h, 0), key=key))
    ds = simulate(experiment, store=tmp_path / "run.zarr")
    xr.testing.assert_identical(simulate(experiment, store=tmp_path / "run.zarr"), ds)
    data, network = initial(ds, experiment, seed=1)
    again = solve(
        network, data, experiment.flow, half_mse, experiment.times, {"risk": Risk()}
    )
    expected = ds["risk"].sel(seed=1)
    np.testing.assert_allclose(again.records["risk"], expected, rtol=1e-12)


@pytest.mark.bits
def test_measures_and_stops_are_given_the_network_as_it_was_made():
    class OfLayers(RiskBelow):
        def __call__(self, network, data):
            return jnp.max(jnp.abs(network.layers[0].weight)) < self.level

    found = trained(
        mlp(),
        stop=OfLayers(100.0),
        measures={"depth": lambda network, data: jnp.asarray(len(network.layers))},
    )
    assert found.records["depth"].tolist() == [2]
    assert found.status.name == "CONVERGED"


class Twice(eqx.Module):
    """A network with a gradient by hand, twice the true one."""

    inner: eqx.nn.MLP

    def __call__(self, x):
        return self.inner(x)

    def value_and_gradient(self, loss, x, y, weight):
        objective = lambda net: loss(jax.vmap(net)(x), y, weight)
        value, gradient = eqx.filter_value_and_grad(objective)(self)
        twice = lambda v: 2 * v if eqx.is_array(v) else v
        return value, jax.tree.map(twice, gradient)


class Coupled(eqx.Module):
    """A network whose rows see each other in training."""

    inner: eqx.nn.MLP

    def __call__(self, x):
        return self.inner(x)

    def on_sample(self, x, weight):
        outputs = jax.vmap(self.inner)(x)
        return outputs - jnp.mean(outputs), self


@pytest.mark.bits
def test_what_a_network_may_have_it_has_as_an_equinox_module_too():
    step = lambda net, rate: trained(net, flow=Descent(rate), times=(0.1,)).network
    by_hand, plain = step(Twice(mlp()), 0.1).inner, step(mlp(), 0.2)
    np.testing.assert_allclose(
        by_hand.layers[0].weight, plain.layers[0].weight, rtol=1e-13
    )
    with pytest.raises(ValueError, match="batch normalisation"):
        trained(Coupled(mlp()), flow=GradientFlow())
    coupled = step(Coupled(mlp()), 0.1).inner
    assert not np.allclose(coupled.layers[1].bias, step(mlp(), 0.1).layers[1].bias)


@pytest.mark.bits
def test_networks_that_differ_in_what_is_no_array_are_two_shapes():
    def make(key, *, n: int = 6, is_even: bool = False):
        data, _ = small().make(key, n=n)
        return data, own((lambda h: h**2) if is_even else (lambda h: h**3))

    cell = {"is_even": (False, True)}
    plan = planned(small(make=make, cell=cell, final={}, flow=Descent(0.01)))
    assert len(plan.groups) == 2
    ds = simulate(plan.experiment)
    risk = ds["risk"].isel(time=0, seed=0).values
    assert risk[0] != risk[1]


class Counted(eqx.Module):
    w: jax.Array
    factor: Any

    def __call__(self, x):
        return self.factor * (self.w @ x)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (lambda: mlp(outputs="scalar"), r"outputs of shape \(\).*as \(1,\).*out_size"),
        (lambda: lambda x: x[:1], r"a function, has nothing to train"),
        (lambda: eqx.nn.MLP(3, 1, 4, 1, key=KEY), r"inputs of 2 coordinates"),
        (
            lambda: lambda x: (x, x),
            r"must return an array .* got a tuple",
        ),
    ],
)
def test_what_is_no_network_is_refused_by_name(network, message):
    with pytest.raises(ValueError, match=message):
        trained(network())
    with pytest.raises(ValueError, match=message):
        planned(with_network(lambda key: network()))


def test_a_number_of_an_equinox_module_is_a_constant():
    found = trained(Counted(jnp.ones((1, 2)), 3.0)).network
    assert found.factor == 3.0
    assert not np.allclose(found.w, 1)


def test_a_number_of_the_cell_inside_a_network_must_say_whether_it_is_trained():
    def make(key, *, n: int = 6, factor: Real = 2.0):
        data, _ = small().make(key, n=n)
        return data, Counted(jnp.ones((1, 2)), factor)

    with pytest.raises(ValueError, match=r"static fields differ.*\(factor\): .*Buffer"):
        planned(small(make=make, cell={"factor": (1.0, 2.0)}, final={}))

    def closing(key, *, n: int = 6, factor: Real = 2.0):
        data, _ = small().make(key, n=n)
        return data, own(lambda h: jnp.tanh(factor * h))

    with pytest.raises(ValueError, match=r"function holds .* a number of the cell"):
        planned(small(make=closing, cell={"factor": (1.0, 2.0)}, final={}))


@pytest.mark.bits
def test_a_network_of_ours_that_is_all_arrays_is_left_alone():
    network = small().make(KEY)[1]
    assert as_array_network(network) is network


# Kinks.

KINKED = {
    "relu": jax.nn.relu,
    "leaky_relu": jax.nn.leaky_relu,
    "abs": jnp.abs,
    "maximum": lambda h: jnp.maximum(h, 0),
    "where": lambda h: jnp.where(h > 0, h, 0),
    "product": lambda h: h * (h > 0).astype(h.dtype),
    "clip": lambda h: jnp.clip(h, -1, 1),
    "floor": lambda h: h + jnp.floor(h),
}
SMOOTH = {
    "tanh": jnp.tanh,
    "gelu": jax.nn.gelu,
    "softplus": jax.nn.softplus,
    "silu": jax.nn.silu,
    "sigmoid": jax.nn.sigmoid,
    "square": lambda h: h**2,
}


@pytest.mark.parametrize("name", KINKED)
def test_kinks_are_found_whoever_wrote_the_network(name):
    class Ours(AbstractNetwork):
        w: jax.Array

        def __call__(self, x):
            return KINKED[name](self.w @ x)

    two_layer = small().make(KEY)[1]
    for network in (
        mlp(KINKED[name]),
        own(KINKED[name]),
        Ours(jnp.ones((1, 2))),
        dataclasses.replace(two_layer, activation=KINKED[name]),
    ):
        with pytest.raises(ValueError, match=r"GradientFlow needs .* continuous"):
            trained(network, flow=GradientFlow())


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_networks_are_known_to_be_smooth(name):
    assert kink(mlp(SMOOTH[name]), X) is None
    assert kink(own(SMOOTH[name]), X) is None
    softmax = own(lambda h: jax.nn.softmax(SMOOTH[name](h)))
    assert kink(softmax, X) is None


class Ways(eqx.Module):
    """One network, computed in several ways."""

    w: jax.Array
    way: str = eqx.field(static=True)
    activation: Any = eqx.field(static=True)

    def __call__(self, x):
        act, w = self.activation, self.w
        if self.way == "scan":
            return jax.lax.scan(lambda h, v: (act(v @ h), None), x, w)[0]
        if self.way == "fori_loop":
            return jax.lax.fori_loop(0, 3, lambda i, h: act(w[i] @ h), x)
        if self.way == "cond":
            still = lambda h: h
            return jax.lax.cond(jnp.sum(x) > 0, still, lambda h: act(2 * h), w[0] @ x)
        if self.way == "checkpoint":
            return jax.checkpoint(lambda v: act(v @ x))(w[0])
        by_hand = jax.custom_vjp(act)
        pull = lambda h, g: (g * jax.vmap(jax.grad(act))(h),)
        by_hand.defvjp(lambda h: (act(h), h), pull)
        return by_hand(w[0] @ x)


@pytest.mark.parametrize("way", ["scan", "fori_loop", "cond", "checkpoint", "by hand"])
def test_kinks_are_found_however_they_are_computed(way):
    w = jnp.ones((3, 2, 2))
    assert kink(Ways(w, way, jax.nn.relu), X)
    assert kink(Ways(w, way, jnp.tanh), X) is None


def test_a_choice_by_the_weights_is_a_kink_and_one_by_the_input_is_none():
    class Chosen(eqx.Module):
        w: jax.Array
        of: str = eqx.field(static=True)

        def __call__(self, x):
            switch = jnp.sum(self.w if self.of == "weights" else jnp.abs(x))
            h = self.w @ x
            return jax.lax.cond(switch > 1, lambda: h, lambda: 2 * h)

    assert kink(Chosen(jnp.ones((1, 2)), "input"), X) is None
    assert kink(Chosen(jnp.ones((1, 2)), "weights"), X)
    halves = lambda h: jax.lax.while_loop(lambda h: h[0] > 1, lambda h: h / 2, h)
    assert kink(own(halves), X)


@pytest.mark.bits
def test_who_knows_that_the_gradient_does_not_jump_says_so():
    class Stated(Own):
        has_kinks: bool = eqx.field(static=True, default=False)

    network = own(jax.nn.elu)
    with pytest.raises(ValueError, match=r"Own may jump.*has_kinks = False.*allow_kin"):
        trained(network, flow=GradientFlow())
    stated = Stated(network.w, network.a, jax.nn.elu)
    flow = GradientFlow(rtol=1e-8, allow_kinks=True)
    expected = trained(network, flow=flow).network.w
    found = trained(stated, flow=dataclasses.replace(flow, allow_kinks=False)).network.w
    np.testing.assert_array_equal(found, expected)


def test_the_exact_flow_names_a_network_that_is_not_its_own():
    with pytest.raises(ValueError, match=r"two-layer networks .* not for this MLP"):
        trained(mlp(jax.nn.relu), flow=ReluFlow())


# Optimisers.


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (optax.adam, {"optimiser": "adam"}),
        (
            functools.partial(optax.adamw, weight_decay=0.2),
            {"optimiser": "adamw", "weight_decay": 0.2},
        ),
        (optax.sgd, {}),
    ],
)
def test_a_function_of_the_rate_moves_as_the_optimiser_of_that_name(theirs, ours):
    found = trained(mlp(), flow=Descent(0.05, optimiser=theirs)).network
    expected = trained(mlp(), flow=Descent(0.05, **ours)).network
    np.testing.assert_allclose(
        found.layers[0].weight, expected.layers[0].weight, rtol=1e-12
    )


def test_a_transformation_has_its_own_rate_and_its_clock_counts_steps():
    network = mlp()
    flow = Descent(optimiser=optax.chain(optax.clip(0.01), optax.sgd(0.5)))
    found = trained(network, flow=flow, times=(3.0,))
    assert found.stats["accepted"] == 3
    assert found.end_time == 3
    moved = found.network.layers[1].bias - network.layers[1].bias
    np.testing.assert_allclose(jnp.abs(moved), 3 * 0.5 * 0.01, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimiser",
    [
        optax.lion,
        optax.lbfgs(),
        optax.polyak_sgd(),
        optax.chain(optax.sgd(0.1), optax.contrib.reduce_on_plateau()),
        optax.MultiSteps(optax.sgd(0.1), 2).gradient_transformation(),
    ],
)
def test_optimisers_that_remember_other_things_descend_too(optimiser):
    def risk(network):
        data = sample()
        return half_mse(jax.vmap(network)(data.x), data.y, data.weight)

    network = mlp()
    found = trained(network, flow=Descent(optimiser=optimiser), times=(5.0,))
    assert found.status.name == "REACHED_TIME"
    assert risk(found.network) < risk(network)


@pytest.mark.bits
def test_a_run_under_an_optimiser_of_optax_varies_its_rate():
    experiment = with_network(lambda key: mlp(key=key))
    cell = {"n": 6, "flow.rate": [0.01, 0.1]}
    ds = simulate(
        dataclasses.replace(experiment, cell=cell, flow=Descent(optimiser=optax.lion))
    )
    at_end = ds["risk"].isel(time=-1, seed=0)
    assert at_end[0] != at_end[1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"optimiser": len}, r"of the rate alone it fails"),
        ({"optimiser": lambda rate: rate}, r"of the rate it makes a float"),
        ({"optimiser": optax.sgd(0.1), "rate": 0.1}, r"`rate` must be left out"),
        ({"optimiser": optax.sgd(0.1), "schedule": jnp.cos}, r"`schedule` must be le"),
        ({"optimiser": optax.adamw, "weight_decay": 0.1}, r"`weight_decay`.*partial"),
    ],
)
def test_what_is_no_optimiser_is_refused_by_name(fields, message):
    with pytest.raises(ValueError, match=message):
        Descent(**fields)


@pytest.mark.parametrize("optimiser", ["lion", 3])
def test_an_optimiser_that_is_none_is_told_what_there_is(optimiser):
    known = f"must be one of .*adamw.*optax.lion.* got {optimiser!r}"
    with pytest.raises(ValueError, match=known):
        check_optimiser(optimiser, 0.1)


def test_a_transformation_that_cannot_take_a_step_is_refused_by_name():
    asking = optax.GradientTransformationExtraArgs(
        lambda params: (), lambda updates, state, params=None, *, mine, **_: updates
    )
    with pytest.raises(ValueError, match=r"`optimiser` cannot take a step.*mine"):
        trained(mlp(), flow=Descent(optimiser=asking))


# Measures.


def weights(network, data):
    return network.w


@pytest.mark.bits
def test_a_function_is_a_measure_and_its_axes_have_its_name():
    def labelled(network, data):
        return network.w[:, 0]

    labelled.dims = ("neuron",)
    measures = {"q": lambda network, data: jnp.sum(network.w), "w": weights}
    ds = simulate(
        small(cell={"n": 6}, seeds=1, measures=measures, final={"norm": labelled})
    )
    assert ds["q"].dims == ("seed", "time")
    assert ds["w"].dims == ("seed", "time", "w_0", "w_1")
    assert ds["norm"].dims == ("seed", "neuron")
    np.testing.assert_allclose(ds["q"], ds["w"].sum(("w_0", "w_1")), rtol=1e-12)
    np.testing.assert_array_equal(ds["norm"], ds["w"].isel(time=-1, w_1=0))


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (
            Norms(),
            r"`q` cannot be computed .* network, a MLP: .*no attribute 'w'",
        ),
        (lambda network: 0, r"`q` cannot be computed .*TypeError"),
        (
            lambda network, data: float(jnp.sum(data.x)),
            r"use jnp.where instead of `if`",
        ),
        (lambda network, data: 1.0, r"`q` must return an array, got a float"),
        (Risk, r"`measures` must map names to measures"),
    ],
)
def test_a_measure_of_other_networks_is_named(measure, message):
    with pytest.raises(ValueError, match=message):
        trained(mlp(), measures={"q": measure})
    experiment = with_network(lambda key: mlp(key=key))
    with pytest.raises(ValueError, match=message):
        planned(dataclasses.replace(experiment, measures={"q": measure}))


def test_a_stop_of_other_networks_is_named():
    class Wide(RiskBelow):
        def __call__(self, network, data):
            return jnp.sum(network.w) > 0

    class Real(RiskBelow):
        def __call__(self, network, data):
            return jnp.float64(1)

    for stop, message in (
        (Wide(1.0), "`stop` cannot be computed for this network"),
        (Real(1.0), "`stop` must return one boolean"),
    ):
        with pytest.raises(ValueError, match=message):
            trained(mlp(), stop=stop)


# What a store knows of functions.


def shifted(by):
    return lambda network, data: jnp.sum(network.w) + by


@pytest.mark.bits
def test_a_store_tells_functions_apart_by_their_code_and_what_they_hold(tmp_path):
    of = lambda measure: small(cell={"n": 6}, seeds=1, measures={"q": measure})
    assert configuration(of(shifted(1))) == configuration(of(shifted(1)))
    others = (shifted(2), shifted(np.ones(1)), lambda n, d: jnp.sum(n.w), weights)
    for other in others:
        assert configuration(of(shifted(1))) != configuration(of(other))
    ds = simulate(of(shifted(1)), store=tmp_path / "run.zarr")
    again = simulate(of(shifted(1)), store=tmp_path / "run.zarr")
    xr.testing.assert_identical(ds, again)
    with pytest.raises(ValueError, match=r"other code(.|\n)*shifted.*1 -> 2"):
        simulate(of(shifted(2)), store=tmp_path / "run.zarr")


def test_a_store_tells_transformations_apart_by_their_constants():
    of = lambda optimiser: configuration(small(flow=Descent(optimiser=optimiser)))
    assert of(optax.adamw(1e-3)) == of(optax.adamw(1e-3))
    assert of(optax.adamw(1e-3)) != of(optax.adamw(2e-3))
    assert of(optax.adamw(1e-3)) != of(optax.adamw(1e-3, b1=0.8))
    assert of(optax.sgd(optax.linear_schedule(1.0, 0.0, 9))) != of(
        optax.sgd(optax.linear_schedule(1.0, 0.0, 10))
    )


TOLD = """
import optax
from simbias.introspection.identity import code_identity, identity
told = [identity(optax.adamw(1e-3)), code_identity(lambda v, held={"a", "b"}: held)]
"""


@pytest.mark.bits
def test_a_function_is_told_in_the_same_way_by_every_process():
    here = {"__name__": "__main__"}
    exec(TOLD, here)
    code = f"{TOLD}\nimport json; print(json.dumps(told))"
    command = [sys.executable, "-c", code]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(out.stdout) == here["told"]


def test_an_object_that_holds_itself_is_told():
    class Loop:
        def __init__(self):
            self.me = self

    loop = Loop()
    assert identity(lambda: loop) == identity(lambda: loop)


# Axes and times.


@pytest.mark.parametrize(
    "values", [[6, 20], range(6, 34, 14), np.array([6, 20]), (np.int64(6), 20)]
)
def test_lists_ranges_and_arrays_are_axes(values):
    plain = planned(small())
    given = planned(small(cell={"n": values, "scale": np.array([0.1, 0.5])}))
    assert given.grid == plain.grid
    assert configuration(given.experiment) == configuration(plain.experiment)


@pytest.mark.parametrize("times", [[0, 1.0, 5], np.array([0.0, 1.0, 5.0])])
def test_lists_and_arrays_are_times(times):
    given = planned(small(times=times, seeds=np.int64(3)))
    assert given.recorder == planned(small()).recorder
    assert given.experiment == with_tuples(small())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cell": {"n": []}}, "`cell.n` is empty"),
        ({"cell": {"n": np.ones((2, 2))}}, "`cell.n` must be a number"),
        ({"cell": {"n": [6, [20]]}}, "`cell.n` must be a number"),
        ({"cell": {"n": [6, 6]}}, "`cell.n` has the value 6 more than once"),
        ({"times": np.ones((2, 2))}, "`times` must be a tuple of numbers"),
        ({"times": np.array([1.0, 0.5])}, "`times` must increase"),
    ],
)
def test_rows_that_are_none_are_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        planned(small(**changes))


# Precision.


@pytest.mark.bits
def test_single_precision_by_default_is_not_silent():
    with jax.enable_x64(False):
        key = jax.random.key(0)
        x = jax.random.normal(key, (6, 2))
        data = Dataset(x, x[:, :1], jnp.ones(6), x[:, :1], jnp.ones((0, 2)))
        network = TwoLayer(jnp.ones((3, 2)), jnp.ones((3, 1)))
        arguments = (network, data, Descent(0.1), half_mse, (0.1,), {})
        with pytest.warns(UserWarning, match=r"are float32.*exact_numerics"):
            found = solve(*arguments)
        assert found.dtype == "float32"
        with exact_numerics():
            assert solve(*arguments).dtype == "float32"
    assert trained(mlp()).dtype == "float64"
