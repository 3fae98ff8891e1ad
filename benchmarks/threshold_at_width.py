"""How did a run of `threshold` go, size by size, and what did it take?

Of the sizes that are finished, in several runs if sizes were added later: the claims,
and per n the median errors over σ², the
directions on which the neurons of each seed ended, how members ended (a limit that is
proven, or the final time), and the work: planes crossed, steps, evaluations, in
medians.  Seconds are those of all processes, sizes that are not finished included.

    simbias run threshold --preset paper --workers 2 --out RUN
    python benchmarks/threshold_at_width.py RUN [RUN ...] [--figure FILE] [--json FILE]
    python benchmarks/threshold_at_width.py --smallest
"""

import argparse
import dataclasses
import json
import os
import pathlib
import tempfile
from typing import Any

import jax
import numpy as np
import xarray as xr
from _results import machine, written

import simbias
from simbias.cli._figures_and_claims import claims_document
from simbias.core import Status
from simbias.experiments import threshold
from simbias.flows.descent import Descent
from simbias.results import is_finished, open_result
from simbias.store.address import place_at
from simbias.store.layout import open_store
from simbias.store.time_taken import time_taken

ENDS = {
    "interpolates": Status.CONVERGED,
    "limit_proven": Status.STATIONARY,
    "final_time": Status.REACHED_TIME,
}
WORK = ("crossings", "accepted", "evaluations")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help="of `threshold`, of other sizes each")
    parser.add_argument("--figure", help="of all their sizes")
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    if not options.runs:
        return written(options.json, of_smallest())
    folders = [pathlib.Path(run) for run in options.runs]
    sizes = xr.concat([finished(folder) for folder in folders], "n", join="exact")
    sizes = sizes.sortby("n")
    if options.figure:
        threshold.figure(sizes).savefig(options.figure, dpi=120)
    return written(options.json, of_runs(folders, sizes))


def finished(folder: pathlib.Path) -> xr.Dataset:
    """The sizes that are finished in a folder that `simbias run` has left."""
    ds = open_result(str(folder))
    whole = [n for n in ds["n"].values if bool(is_finished(ds.sel(n=n)).all())]
    if not whole:
        raise SystemExit(f"{folder}: no size is finished. simbias resume {folder}")
    return ds.sel(n=whole)


def of_runs(folders: list[pathlib.Path], sizes: xr.Dataset) -> dict[str, Any]:
    """What there is to say of all sizes, and what each run took."""
    recipes = [json.loads((f / "config.json").read_text()) for f in folders]
    took = [time_taken(open_store(place_at(str(f)) / "run.zarr")) for f in folders]
    preset = recipes[0].get("preset", "")
    return {
        **claims_document("threshold", preset, sizes, threshold.claims(sizes)),
        **{k: recipes[0][k] for k in ("versions", "device") if k in recipes[0]},
        "runs": [{} if one is None else dataclasses.asdict(one) for one in took],
        "cores": os.cpu_count(),
        "by_n": by_size(sizes),
    }


def of_smallest() -> dict[str, Any]:
    """The same of a run that tells nothing."""
    small = dataclasses.replace(
        threshold.experiment("smoke", m=10),
        cell={**threshold.experiment("smoke", m=10).cell, "n": (8, 12)},
        seeds=2,
        times=(0.0, 1.0),
        flow=Descent(),
    )
    with tempfile.TemporaryDirectory() as folder:
        ds = simbias.simulate(small, store=f"{folder}/run.zarr")
    return {**machine(), "by_n": by_size(ds)}


def by_size(ds: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each n."""
    variance = float(ds["sigma"]) ** 2
    rows = []
    for n in np.atleast_1d(ds["n"]).tolist():
        part = ds.sel(n=n).where(is_finished(ds.sel(n=n)))
        last = part.isel(time=-1)
        over = lambda name, last=last: float(last[name].median()) / variance
        status = part["status"].values
        rows.append(
            {
                "n": n,
                "train_over_sigma2": over("train_risk"),
                "test_over_sigma2": over("test_risk"),
                "effective_width": part["effective_width"].values.ravel().tolist(),
                **{name: int(np.sum(status == end)) for name, end in ENDS.items()},
                "median_end": float(part["end_time"].median()),
                **{
                    f"median_{name}": float(part[name].median())
                    for name in WORK
                    if name in part
                },
            }
        )
    return rows


if __name__ == "__main__":
    main()
