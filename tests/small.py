"""The smallest experiment that has everything, for tests of engine and store."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from simbias.core import (
    AbstractFlow,
    AbstractMeasure,
    AbstractStop,
    Dataset,
    Experiment,
    FlowState,
    Status,
)
from simbias.losses import half_mse, mse
from simbias.networks.two_layer_init import balanced


class PlainDescent(AbstractFlow):
    """Gradient descent in five lines."""

    rate: float = 0.1

    def init(self, network, data, loss, key):
        zero = jnp.int32(0)
        return FlowState(network, jnp.float64(0), zero, {"accepted": zero}, None)

    def step(self, state, data, loss, until):
        def objective(network):
            return loss(jax.vmap(network)(data.x), data.y, data.weight)

        gradient = eqx.filter_grad(objective)(state.network)
        moved = jax.tree.map(
            lambda p, g: p - jnp.asarray(self.rate, p.dtype) * g,
            state.network,
            gradient,
        )
        is_finite = jnp.all(
            jnp.stack([jnp.all(jnp.isfinite(v)) for v in jax.tree.leaves(moved)])
        )
        is_running = state.status == Status.RUNNING
        goes = is_running & is_finite
        network = jax.tree.map(lambda a, b: jnp.where(goes, a, b), moved, state.network)
        count = state.stats["accepted"] + goes.astype(jnp.int32)
        fails = is_running & ~is_finite
        status = jnp.where(fails, jnp.int32(Status.NONFINITE), state.status)
        return FlowState(
            network,
            count.astype(jnp.float64) * self.rate,
            status,
            {"accepted": count},
            state.memory,
        )


class Risk(AbstractMeasure):
    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network, data):
        return mse(jax.vmap(network)(data.x), data.y, data.weight)


class Norms(AbstractMeasure):
    dims: ClassVar[tuple[str, ...]] = ("neuron",)

    def __call__(self, network, data):
        return jnp.linalg.norm(network.w, axis=1)


class RiskBelow(AbstractStop):
    level: float

    def __call__(self, network, data):
        return mse(jax.vmap(network)(data.x), data.y, data.weight) < self.level


def make(
    key,
    *,
    n: int = 10,
    d: int = 2,
    m: int = 8,
    sigma: float = 0.5,
    scale: float = 0.1,
):
    if m < 1:
        raise ValueError(f"`m` must be a positive integer, got {m}.")
    key_x, key_noise, key_net = jax.random.split(key, 3)
    x = jax.random.normal(key_x, (n, d), jnp.float64)
    mean = jnp.sum(x, axis=1, keepdims=True)
    y = mean + sigma * jax.random.normal(key_noise, (n, 1), jnp.float64)
    data = Dataset(x, y, jnp.ones(n), mean, jnp.ones((1, d)))
    return data, balanced(key_net, m=m, d=d, scale=scale)


EXPERIMENT = Experiment(
    name="small",
    make=make,
    cell={"n": (6, 20), "scale": (0.1, 0.5)},
    seeds=3,
    flow=PlainDescent(),
    loss=half_mse,
    times=(0.0, 1.0, 5.0),
    measures={"risk": Risk()},
    final={"norms": Norms()},
)


def small(**changes):
    return dataclasses.replace(EXPERIMENT, **changes)
