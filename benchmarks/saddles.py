"""Do members end for good, and do they leave saddles when it is said?

Small members of the threshold experiment (d = 2, m = 50, λ = 1e-8), ended by
`Stationary` and else followed to t = 10⁶.  For each n: how they ended and when; and of
each wait at a saddle, from the first record on at which `EscapeTime` says that it will
take as long again, the time that it names, and the one at which the train error then
fell fastest per ln t, which is known to a record, 7 %.

    python benchmarks/saddles.py [--json FILE|-] [--smallest]
"""

import argparse
import dataclasses

import jax
import numpy as np
from _results import machine, written

from simbias.core import Status
from simbias.experiments import threshold as paper
from simbias.flows.relu_flow import ReluFlow
from simbias.measures.rest.escape_time import EscapeTime
from simbias.measures.risk.train_risk import TrainRisk
from simbias.stops.stationary import Stationary
from simbias.verbs.simulate import simulate

# Records before this time are of neurons that still turn.
SETTLED = 300.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    sizes, m, seeds, times, last = (5, 10), 50, 10, 200, 1e6
    if options.smallest:
        sizes, m, seeds, times, last = (5,), 10, 2, 4, 10.0
    ds = simulate(
        dataclasses.replace(
            paper.experiment("quick", n=sizes, d=2, m=m, n_test=2),
            seeds=seeds,
            flow=ReluFlow(rtol=1e-6),
            times=tuple(np.geomspace(1.0, last, times).tolist()),
            measures={"train_risk": TrainRisk(), "escape": EscapeTime()},
            final={},
            stop=Stationary(),
        )
    )
    rows = [row(ds.sel(n=n)) | {"n": n} for n in sizes]
    about = {"d": 2, "m": m, "seeds": seeds, "final_time": last}
    written(options.json, {**about, **machine(), "rows": rows})


def row(ds) -> dict:
    """Of one n."""
    status = ds["status"].values
    time = ds["time"].values
    found = [
        {"seed": int(seed)} | wait
        for seed in ds["seed"].values
        for wait in waits(time, *(ds[k].sel(seed=seed).values for k in MEASURES))
    ]
    return {
        "statuses": {Status(s).name: int((status == s).sum()) for s in set(status)},
        "end_times": np.sort(ds["end_time"].values).tolist(),
        "waits": found,
    }


MEASURES = ("train_risk", "escape")


def waits(time, risk, escape) -> list[dict]:
    """Of one member: from when on, the time that was named, and that of the fall."""
    out, until = [], SETTLED
    fall = -np.diff(risk) / np.diff(np.log(time))
    for i in np.flatnonzero(np.isfinite(escape) & (escape >= time)):
        named = time[i] + escape[i]
        if time[i] < until or named > time[-1] / 2:
            continue
        later = (time[:-1] >= time[i]) & (time[:-1] < 2 * named)
        j = int(np.argmax(np.where(later, fall, -np.inf)))
        seen = float(np.sqrt(time[j] * time[j + 1]))
        out.append({"from": float(time[i]), "named": float(named), "seen": seen})
        until = seen
    return out


if __name__ == "__main__":
    main()
