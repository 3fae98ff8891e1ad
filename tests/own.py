"""A file as a user writes it, with network, flow, data and measure of their own."""

TEXT = '''\
"""Mine: a walk downhill."""

import equinox as eqx
import jax
import jax.numpy as jnp

import simbias
from simbias.claims import value_of
from simbias.core import FlowState
from simbias.figures.style import blank
from simbias.losses import half_mse


class Line(simbias.AbstractNetwork):
    slope: jax.Array

    def __call__(self, x):
        return self.slope * x


class Walk(simbias.AbstractFlow):
    rate: float = 0.1

    def init(self, network, data, loss, key):
        zero = jnp.int32(0)
        stats = {"accepted": zero}
        return FlowState(network, jnp.float64(0), zero, stats, None)

    def step(self, state, data, loss, until):
        risk = lambda f: loss(jax.vmap(f)(data.x), data.y, data.weight)
        goes = state.status == 0
        move = lambda p, g: jnp.where(goes, p - jnp.asarray(self.rate, p.dtype) * g, p)
        gradient = eqx.filter_grad(risk)(state.network)
        network = jax.tree.map(move, state.network, gradient)
        count = state.stats["accepted"] + goes.astype(jnp.int32)
        time = count.astype(jnp.float64) * self.rate
        return FlowState(
            network, time, state.status, {"accepted": count}, state.memory
        )


class Slope(simbias.AbstractMeasure):
    dims = ()

    def __call__(self, network, data):
        return network.slope[0]


def make(key, *, n: int = 5, slope: float = 1.0):
    x = jax.random.normal(key, (n, 1), jnp.float64)
    data = simbias.Dataset(x, slope * x, jnp.ones(n), slope * x, jnp.ones((1, 1)))
    return data, Line(jnp.zeros(1))


def experiment():
    return simbias.Experiment(
        name="mine",
        make=make,
        cell={"slope": (1.0, 2.0)},
        seeds=3,
        flow=Walk(),
        loss=half_mse,
        times=(0.0, 5.0),
        measures={"learnt": Slope()},
    )


def figure(ds):
    whole = blank(2.0, 2.0)
    whole.subplots().plot(ds["time"], ds["learnt"].isel(slope=0, seed=0))
    return whole


def claims(ds):
    worst = float(abs(ds["learnt"].isel(time=-1) - ds["slope"]).max())
    return [value_of("distance", worst, (0.0, 2.0), "mine")]
'''
