"""One program for all optimisers with a name, against optax and against each alone."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from small import Risk, make
from toy import KEY, distance, sample, toy_network

from simbias.core import Experiment, Status
from simbias.ensemble.members import traced
from simbias.ensemble.plan import make_plan
from simbias.flows.descent import Descent
from simbias.losses import half_mse

STEPS = 30
FLOWS: dict[str, tuple[dict[str, Any], Any]] = {
    "gd": ({"rate": 0.05}, optax.sgd(0.05)),
    "gd, decayed": (
        {"rate": 0.05, "optimiser": "gd", "weight_decay": 0.3},
        optax.chain(optax.add_decayed_weights(0.3), optax.sgd(0.05)),
    ),
    "momentum": (
        {"rate": 0.05, "optimiser": "momentum", "decay": 0.8},
        optax.sgd(0.05, momentum=0.8),
    ),
    "nesterov": (
        {"rate": 0.05, "optimiser": "nesterov"},
        optax.sgd(0.05, momentum=0.9, nesterov=True),
    ),
    "adam": ({"rate": 0.01, "optimiser": "adam"}, optax.adam(0.01)),
    "adam, decayed": (
        {"rate": 0.01, "optimiser": "adam", "weight_decay": 0.3, "decay": 0.5},
        optax.chain(optax.add_decayed_weights(0.3), optax.adam(0.01, b1=0.5)),
    ),
    "adamw": (
        {"rate": 0.01, "optimiser": "adamw"},
        optax.adamw(0.01, weight_decay=0.01),
    ),
    "adamw, by hand": (
        {
            "rate": 0.01,
            "optimiser": "adamw",
            "weight_decay": 0.3,
            "beta2": 0.95,
            "epsilon": 1e-3,
        },
        optax.adamw(0.01, b2=0.95, eps=1e-3, weight_decay=0.3),
    ),
}


TRACED = []


@jax.jit
def run(flow, network, data):
    TRACED.append(jax.tree.structure(flow))
    move = lambda _, s: flow.step(s, data, half_mse, jnp.float64(1e3))
    return jax.lax.fori_loop(0, STEPS, move, flow.init(network, data, half_mse, KEY))


@pytest.mark.slow
def test_every_optimiser_is_that_of_optax_and_all_are_one_program():
    network, data = toy_network("tanh"), sample()
    jax.clear_caches()
    TRACED.clear()

    def of_optax(transform):
        def loss(params):
            f = jnp.tanh(data.x @ params[0].T) @ params[1]
            return jnp.mean((f - data.y) ** 2) / 2

        def step(_, carry):
            params, state = carry
            with jax.numpy_dtype_promotion("standard"):
                updates, state = transform.update(jax.grad(loss)(params), state, params)
            return optax.apply_updates(params, updates), state

        params = (network.w, network.a)
        start = (params, transform.init(params))
        return jax.jit(lambda c: jax.lax.fori_loop(0, STEPS, step, c))(start)[0]

    for fields, transform in FLOWS.values():
        flow = traced(Descent(is_shared=True, **fields))
        found = run(flow, network, data)
        w, a = of_optax(transform)
        np.testing.assert_allclose(found.network.w, w, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.network.a, a, rtol=1e-12, atol=1e-14)
        assert float(found.time) == pytest.approx(STEPS * fields["rate"])
    assert len(TRACED) == 1


def test_a_grid_over_optimisers_has_one_shape_if_they_are_shared():
    names = ("gd", "momentum", "nesterov", "adam", "adamw")
    experiment = Experiment(
        name="family",
        make=make,
        cell={"flow.optimiser": names, "flow.rate": (0.1, 0.2)},
        seeds=2,
        flow=Descent(is_shared=True, batch=4, clip=1.0),
        loss=half_mse,
        times=(1.0,),
        measures={"risk": Risk()},
    )
    assert len(make_plan(experiment).groups) == 1
    alone = dataclasses.replace(experiment, flow=Descent(batch=4, clip=1.0))
    assert len(make_plan(alone).groups) == 5


def test_a_shared_optimiser_that_is_not_traced_is_itself():
    flow = Descent(rate=0.1, optimiser="adam", is_shared=True)
    assert flow.prepared().coefficients is not None
    assert flow.prepared().prepared() is not None
    assert Descent(rate=0.1).prepared() == Descent(rate=0.1)
    plain = run(
        traced(Descent(rate=0.1, optimiser="adam")), toy_network("tanh"), sample()
    )
    shared = run(traced(flow), toy_network("tanh"), sample())
    assert distance(shared.network, plain.network) < 1e-12


def test_a_gradient_whose_square_overflows_stops_adam_and_not_gd():
    data = sample()
    far = dataclasses.replace(data, y=data.y * 1e200)
    gd, adam = (
        Descent(rate=1e-300, optimiser="gd", is_shared=True),
        Descent(rate=1e-300, optimiser="adam", is_shared=True),
    )
    for one, status in ((gd, Status.RUNNING), (adam, Status.NONFINITE)):
        flow = traced(one)
        state = flow.init(toy_network("tanh"), far, linear, KEY)
        assert flow.step(state, far, linear, jnp.float64(1)).status == status


def linear(prediction, target, weight):
    return jnp.sum(prediction * target * weight[:, None])


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"optimiser": optax.lion, "rate": 0.1}, "`is_shared`"),
        ({"optimiser": "gd", "decay": 0.9}, "`decay`"),
    ],
)
def test_what_is_no_optimiser_of_the_family_is_refused(fields: dict[str, Any], named):
    with pytest.raises(ValueError, match=named):
        Descent(is_shared=True, **fields)
