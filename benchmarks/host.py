"""How much of a run's time is spent outside its compiled rounds?

    python benchmarks/host.py [--json FILE|-] [--repeats N] [--smallest]

Of the time of the engine's threads, compiling apart: the programs that draw, start and
take members, which compute as well, and the rest, which is the host's.
"""

import argparse
import dataclasses

import jax
import numpy as np
from _results import load, machine, written
from _stores import tiny
from _tally import Tally, compile_cache

from simbias.core import Experiment
from simbias.ensemble import engine
from simbias.ensemble.bar import Bar
from simbias.ensemble.calls import Calls
from simbias.ensemble.events import Members
from simbias.ensemble.programs import Programs
from simbias.ensemble.table import Table
from simbias.experiments import threshold
from simbias.experiments._times import log_times
from simbias.verbs.simulate import simulate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    document = {
        "load_before": load(),
        **machine(),
    }
    with compile_cache():
        document["cases"] = host(options.smallest, options.repeats)
    written(options.json, document)


def host(is_smallest: bool, repeats: int) -> list[dict]:
    """Time of the stations' threads outside compiled rounds, compiling apart."""
    cases = {"cheap": (20, 100, 1000, "quick"), "dear": (400, 200, 40, "quick")}
    if is_smallest:
        cases, repeats = {"smallest": (8, 8, 4, "smoke")}, 1
    out = []
    for name, (n, m, members, preset) in cases.items():
        experiment = dataclasses.replace(
            threshold.experiment(preset, n=n, m=m, scale=1e-3),
            seeds=members,
            times=log_times(1.0, 1000.0, 30),
        )
        if is_smallest:  # which compiles in no time
            experiment = tiny(members)
        rows = [one_host(experiment) for _ in range(repeats)]
        row = {key: float(np.median([r[key] for r in rows])) for key in rows[0]}
        shape = {"n": n, "m": m, "members": members, "times": len(experiment.times)}
        each = [r["share_outside_rounds"] for r in rows]
        out.append({"case": name, **shape, **row, "each": each})
    return out


def one_host(experiment: Experiment) -> dict[str, float]:
    parts = ("begin", "take", "harvest", "next")
    # Loads what Python calls one operation at a time, once for all runs of a process.
    seeds = int(experiment.seeds or 1)
    if seeds > 4:
        simulate(dataclasses.replace(experiment, seeds=2))
    with Tally() as tally:
        tally.watch(engine.Stations, "_drive", "station")
        tally.watch(Programs, "advance", "advance", waits=True)
        tally.watch(Calls, "__call__", "programs", waits=True)
        for name in ("begin", "take"):
            tally.watch(Programs, name, name)
        tally.watch(engine, "harvest", "harvest")
        tally.watch(Members, "take", "next")
        tally.watch(Table, "put", "table")
        tally.watch(Bar, "show", "bar")
        simulate(experiment)
    busy = tally.seconds["station"]
    rounds = tally.counts["advance"]
    # A round is one of the programs.
    others = tally.seconds["programs"] - tally.seconds["advance"]
    return {
        "stations": float(tally.counts["station"]),
        "seconds_per_station": busy / tally.counts["station"],
        "compile_per_station": tally.seconds["compile"] / tally.counts["station"],
        "rounds": float(rounds),
        "seconds_per_round": tally.seconds["advance"] / rounds,
        "share_outside_rounds": 1 - tally.seconds["advance"] / busy,
        "share_other_programs": others / busy,
        "share_host": 1 - tally.seconds["programs"] / busy,
        **{f"share_{name}": tally.seconds[name] / busy for name in parts},
        "share_main_thread": (tally.seconds["table"] + tally.seconds["bar"]) / busy,
        "milliseconds_outside_per_member": 1e3
        * (busy - tally.seconds["advance"])
        / seeds,
    }


if __name__ == "__main__":
    main()
