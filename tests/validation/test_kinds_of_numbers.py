"""Numbers of every kind: complex, integer, of few digits, and none at all."""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import make, small
from toy import sample, toy_network

from simbias.core import Status
from simbias.ensemble.memory import physical_memory
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.verbs.simulate import simulate, solve


def cast(dtype, network=True, data=True):
    def casting(key, *, n: int = 6):
        drawn = make(key, n=n)
        to = lambda tree: jax.tree.map(lambda v: v.astype(dtype), tree)
        return to(drawn[0]) if data else drawn[0], to(drawn[1]) if network else drawn[1]

    return casting


@pytest.mark.parametrize(
    ("kinds", "name"),
    [({"network": False}, "data.x"), ({"data": False}, "network.w")],
)
def test_complex_numbers_are_refused_by_name_by_both_verbs(kinds, name):
    law = cast(jnp.complex128, **kinds)
    with pytest.raises(ValueError, match=f"`{name}` is complex .complex128."):
        simulate(small(make=law, cell={"n": 6}))
    data, network = law(jax.random.key(0))
    with pytest.raises(ValueError, match=f"`{name}` is complex .complex128."):
        solve(network, data, Descent(), half_mse, (1.0,), {})


def test_complex_outputs_are_refused():
    network = lambda x: toy_network("tanh")(x).astype(jnp.complex128)
    with pytest.raises(ValueError, match="must return real numbers, got complex128"):
        solve(network, sample(), Descent(), half_mse, (1.0,), {})


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_few_digits_are_refused_by_solve_and_cast_by_simulate(dtype):
    data, network = cast(dtype)(jax.random.key(0))
    with pytest.raises(ValueError, match=f"must be float32 or float64, got {dtype}"):
        solve(network, data, GradientFlow(), half_mse, (1.0,), {})
    ds = simulate(small(make=cast(dtype), cell={"n": 6}, seeds=1))
    assert ds["risk"].dtype == np.float64
    assert (ds["status"] == Status.REACHED_TIME).all()


@pytest.mark.parametrize("name", ["x", "y", "weight"])
def test_integers_are_refused_by_relu_flow_by_name(name):
    data = sample()
    whole = jnp.round(getattr(data, name)).astype(jnp.int32)
    data = eqx.tree_at(lambda data: getattr(data, name), data, whole)
    with pytest.raises(ValueError, match=f"`data.{name}` must hold floats for Relu"):
        ReluFlow().init(toy_network("relu"), data, half_mse, jax.random.key(0))


@pytest.mark.slow
def test_a_run_of_two_sizes_does_not_trip_over_the_search_for_nan():
    jax.config.update("jax_debug_nans", True)
    try:
        ds = simulate(small())
    finally:
        jax.config.update("jax_debug_nans", False)
    assert (ds["status"] == Status.REACHED_TIME).all()


@pytest.mark.slow
def test_a_run_that_diverges_whole_warns_and_names_the_learning_rate():
    wild = small(flow=Descent(rate=1e6), times=(0.0, 1e8), cell={"n": 6})
    with pytest.warns(UserWarning, match=r"all 3 networks.*`rate` = 1000000.0 may be"):
        ds = simulate(wild)
    assert (ds["status"] == Status.NONFINITE).all()


@pytest.mark.slow
def test_a_run_that_diverges_in_part_says_so_by_its_statuses_alone():
    rates = {"n": 6, "flow.rate": (0.1, 50.0)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = simulate(small(flow=Descent(), times=(0.0, 5e3), cell=rates, seeds=1))
    assert ds["status"].values.ravel().tolist() == [
        Status.REACHED_TIME,
        Status.NONFINITE,
    ]


@pytest.mark.parametrize("field", ["times", "seeds"])
def test_integers_beyond_floats_are_refused_by_name(field):
    value = [0.0, 10**400] if field == "times" else 10**400
    with pytest.raises(ValueError, match=f"`{field}` must be"):
        simulate(small(**{field: value}))
    with pytest.raises(ValueError, match=r"`cell.scale` must be finite"):
        simulate(small(cell={"n": 6, "scale": 10**400}))


def test_a_network_that_diverges_is_warned_of_by_solve_too():
    network, data = toy_network("relu"), sample()
    with pytest.warns(UserWarning, match="ended with status NONFINITE.*`rate` = 1e"):
        end = solve(network, data, Descent(rate=1e200), half_mse, (1e201,), {})
    assert end.status == Status.NONFINITE


@pytest.mark.skipif((physical_memory() or 0) > 100 << 30, reason="memory holds it")
def test_a_batch_that_no_memory_holds_is_named():
    flow = Descent(rate=0.1, batch=2**31 - 1, sampling="replacement")
    with pytest.raises(ValueError, match="needs more memory than there is"):
        solve(toy_network("relu"), sample(), flow, half_mse, (0.1,), {})
