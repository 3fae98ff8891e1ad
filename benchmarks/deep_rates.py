"""How far is descent from the flow, for deep ReLU networks?

The same members under gradient descent at rates that halve.  Of every rate: what is
left to the finest rate, in the outputs on 100 points, and what `rate_difference` says
of it from that rate and the one above.  Two layers stand beside, whose exact flow is
known, and a network of tanh, where the error is of first order.

    python benchmarks/deep_rates.py [--seeds 20] [--json FILE|-] [--smallest]
"""

import argparse
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from _results import machine, written

import simbias
from simbias.analysis.rate_difference import rate_difference
from simbias.flows import Descent, ReluFlow
from simbias.losses import half_mse
from simbias.networks import mlp, standard

RATES = (0.04, 0.02, 0.01, 0.005, 0.0025, 0.00125)
TIMES = (1.0, 3.0, 10.0, 30.0)
KINDS = ("two layers, ReLU", "four layers, ReLU", "four layers, tanh")


def made(kind: str, width: int):
    def make(key, *, n: int = 40):
        key_x, key_network = jax.random.split(key)
        x = jax.random.normal(key_x, (n, 2), jnp.float64)
        y = jnp.sign(x[:, :1] * x[:, 1:])
        data = simbias.Dataset(x, y, jnp.ones(n), y, jnp.eye(2))
        if kind == KINDS[0]:
            return data, standard(key_network, d=2, m=width)
        name = kind.rpartition(" ")[2].lower()
        sizes = (2, width, width, width, 1)
        return data, mlp(key_network, sizes, activation=name)

    return make


class Outputs(simbias.AbstractMeasure):
    """f on 100 points of a circle."""

    dims: ClassVar[tuple[str, ...]] = ("point",)

    def __call__(self, network, data):
        del data
        angle = 2 * jnp.pi * jnp.arange(100) / 100
        points = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
        return jax.vmap(network)(points)[:, 0]


def outputs(kind: str, flow, cell: dict, options: argparse.Namespace) -> xr.DataArray:
    experiment = simbias.Experiment(
        name="deep_rates",
        make=made(kind, options.width),
        cell=cell,
        seeds=options.seeds,
        flow=flow,
        loss=half_mse,
        times=tuple(options.times),
        measures={"outputs": Outputs()},
    )
    return simbias.simulate(experiment, progress=True)["outputs"]


def compare(kind: str, options: argparse.Namespace) -> dict:
    """Median over seeds of the root mean square over points, by rate and time."""
    rates = options.rates
    values = outputs(kind, Descent(), {"flow.rate": tuple(rates)}, options)
    size = lambda array: np.sqrt((array**2).mean("point")).median("seed")
    if kind == KINDS[0]:
        truth = outputs(kind, ReluFlow(rtol=1e-8), {}, options)
    else:
        truth = values.sel({"flow.rate": min(rates)})
    rows = []
    for larger, rate in zip(rates[:-1], rates[1:], strict=True):
        pair = values.sel({"flow.rate": [larger, rate]})
        rows.append(
            {
                "rate": rate,
                "error": size(pair.isel({"flow.rate": 1}) - truth).values.tolist(),
                "rate_difference": size(rate_difference(pair)).values.tolist(),
            }
        )
    if kind != KINDS[0]:
        rows = rows[:-1]  # the finest is the truth
    return {"network": kind, "size": size(truth).values.tolist(), "rates": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    options.width, options.rates, options.times = 50, RATES, TIMES
    if options.smallest:
        options.width, options.rates, options.times = 8, RATES[:3], TIMES[:1]
        options.seeds = 2
    jax.config.update("jax_enable_x64", True)
    kinds = [compare(kind, options) for kind in KINDS]
    document = {"options": vars(options), **machine(), "networks": kinds}
    written(options.json, document)


if __name__ == "__main__":
    main()
