"""Of how many samples does training leave nothing, size by size, and how did they end?

Of runs of `threshold_scaling`, or of others with its axes: per d, m, λ and n how many
seeds interpolate (a train error below 0.01 σ²), how many are at a limit that is proven
(interpolation among them), the median train error over σ², and of how many the verdict
is the same from the next smaller λ.

    simbias run threshold_scaling --cell.d 20 --cell.n 27 40 60 90 140 220 400 700
    python benchmarks/interpolation_shares.py RUN [RUN ...] [--json FILE|-]
    python benchmarks/interpolation_shares.py --smallest
"""

import argparse
import dataclasses
import json
import tempfile
from typing import Any

import jax
import numpy as np
import xarray as xr
from _results import machine, written

import simbias
from simbias.core import Status
from simbias.experiments import threshold_scaling
from simbias.results import is_finished, open_result

AXES = ("d", "m", "scale", "n")
# Of the noise: what is left is then no noise any more.
LEVEL = min(threshold_scaling.LEVELS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help="folders that `simbias run` has left")
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    if not options.runs:
        return written(options.json, {**machine(), "rows": of_smallest()})
    results = map(open_result, options.runs)
    runs = [{**about(ds), "rows": shares(ds)} for ds in results]
    return written(options.json, {"runs": runs})


def about(ds: xr.Dataset) -> dict[str, Any]:
    """What was run, and where."""
    recipe = json.loads(ds.attrs["configuration"])
    cell = {k: v for k, v in recipe["cell"].items() if k != "n_test"}
    kept = {k: json.loads(ds.attrs[k]) for k in ("versions",) if k in ds.attrs}
    return {
        "experiment": recipe["name"],
        "cell": cell,
        "seeds": ds.sizes["seed"],
        "rtol": recipe["flow"].get("rtol"),
        "final_time": recipe["times"][-1],
        **kept,
    }


def shares(ds: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each (d, m, λ, n)."""
    ds = ds.expand_dims([k for k in AXES if k not in ds.dims]).sortby("scale")
    left = ds["train_risk"].isel(time=-1) / ds["sigma"] ** 2
    left = left.where(is_finished(ds)).transpose(*AXES, "seed")
    status = ds["status"].transpose(*AXES, "seed").values
    is_proven = np.isin(status, (Status.CONVERGED, Status.STATIONARY))
    rows = []
    for place in np.ndindex(*left.shape[:-1]):
        values = left.values[place]
        row: dict[str, Any] = {
            k: ds[k].values[i].item() for k, i in zip(AXES, place, strict=True)
        }
        row |= {
            "seeds": len(values),
            "failed": int(np.isnan(values).sum()),
            "interpolated": int((values < LEVEL).sum()),
            "limit_proven": int(is_proven[place].sum()),
            "median_train_over_sigma2": float(np.nanmedian(values)),
        }
        d, m, scale, n = place
        if scale:
            smaller = left.values[d, m, scale - 1, n]
            row["same_from_smaller"] = int(
                ((smaller < LEVEL) == (values < LEVEL)).sum()
            )
        rows.append(row)
    return rows


def of_smallest() -> list[dict[str, Any]]:
    """Of a run that tells nothing."""
    small = dataclasses.replace(
        threshold_scaling.experiment("smoke", n=(4, 6), m=10, seeds=2),
        times=(0.0, 1.0),
    )
    with tempfile.TemporaryDirectory() as folder:
        return shares(simbias.simulate(small, store=f"{folder}/run.zarr"))


if __name__ == "__main__":
    main()
