"""How many members have a limit that is proven, when, and do they go there?

Members of the threshold experiment (d = 5, λ = 1e-8), once ended by `Stationary` and
once followed to the final time whatever happens.  For each n: how each member ended,
when, and how far those whose limit was proven still moved, per neuron and relative to
its size; `Stationary` says that this is at most its tolerance.  Then how far they were
in the end from where `landing_point` had put them, with its own bound, and when those
that did not end will leave the saddle that they are at, by `EscapeTime`.

    python benchmarks/proven_limits.py [--json FILE|-] [--smallest]
"""

import argparse
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written

from simbias.core import AT_REST, Status
from simbias.experiments import threshold as paper
from simbias.flows.relu_flow import ReluFlow
from simbias.limits.landing_point import landing_point
from simbias.losses import half_mse
from simbias.measures.rest.escape_time import EscapeTime
from simbias.measures.risk.train_risk import TrainRisk
from simbias.stops.stationary import Stationary
from simbias.verbs.simulate import simulate

TOLERANCE = 1e-3


def neurons(network, data):
    """Weights of every neuron, w and a."""
    del data
    return jnp.concatenate([network.w, network.a], axis=1)


def landing(network, data):
    """The same where the member goes, and the bound on that; NaN if it is not known."""
    found = landing_point(network, data, half_mse)
    missed = jnp.where(found.is_known, found.error, jnp.nan)
    return jnp.append(neurons(found.network, data).ravel(), missed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    sizes, m, seeds, times = (10, 30, 60, 100, 200, 400), 200, 10, 60
    if options.smallest:
        sizes, m, seeds, times = (8,), 10, 2, 4
    last = 10.0 if options.smallest else 10_000.0
    experiment = dataclasses.replace(
        paper.experiment("quick", n=sizes, m=m, n_test=2),
        seeds=seeds,
        flow=ReluFlow(rtol=1e-6),
        times=tuple(np.geomspace(1.0, last, times).tolist()),
        measures={"train_risk": TrainRisk()},
        final={"neurons": neurons, "landing": landing, "escape": EscapeTime()},
        stop=Stationary(tolerance=TOLERANCE),
    )
    ended = simulate(experiment)
    on = simulate(dataclasses.replace(experiment, stop=None))
    rows = [row(ended.sel(n=n), on.sel(n=n)) | {"n": n} for n in sizes]
    about = {"m": m, "seeds": seeds, "final_time": last, "tolerance": TOLERANCE}
    written(options.json, {**about, **machine(), "rows": rows})


def row(ended, on) -> dict:
    """Of one n."""
    status, time = ended["status"].values, ended["end_time"].values
    here, there = (ds["neurons"].values for ds in (ended, on))
    size = np.linalg.norm(here, axis=2)
    moved = np.linalg.norm(there - here, axis=2) / np.where(size > 0, size, 1)
    is_proven = np.isin(status, AT_REST) & (on["status"].values == Status.REACHED_TIME)
    landed, bound = np.split(ended["landing"].values, [-1], axis=1)
    missed = np.linalg.norm(there - landed.reshape(here.shape), axis=2)
    missed = (missed / np.where(size > 0, size, 1)).max(axis=1)
    is_landed = is_proven & np.isfinite(bound[:, 0])
    leaves = (time + ended["escape"].values)[status == Status.REACHED_TIME]
    lower = ended["train_risk"].isel(time=-1) - on["train_risk"].isel(time=-1)
    return {
        "statuses": {Status(s).name: int((status == s).sum()) for s in set(status)},
        "end_times": np.sort(time).tolist(),
        "moved": [float(v.max()) for v in moved[is_proven]],
        "missed": missed[is_landed].tolist(),
        "missed_at_most": bound[is_landed, 0].tolist(),
        "leaves_at": [float(v) if np.isfinite(v) else None for v in leaves],
        "train_risk_less": [float(v) for v in lower.values[is_proven]],
    }


if __name__ == "__main__":
    main()
