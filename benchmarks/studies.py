"""Runs beside the checks, on which pages of the documentation report.

Each study is one command line or several.  Stored per command: its claims, processor,
versions and device, and what the run has of the following rows.  By (d, m, λ, n): how
many seeds interpolate (train error below 0.01 σ²), how many networks ended at a proven
limit (interpolation counts as one), the median train error over σ², and how many seeds
have the same verdict from the next smaller λ.  Of `interpolating_samples`: datasets by
prediction and result.  Of `bias_matrix`: verdicts, shares of the variance (of all
settings), differences between wide and deep networks, stages, and correlations.

    python benchmarks/studies.py [NAME ...] [--runs FOLDER] [--results FOLDER]
    python benchmarks/studies.py --smallest

A run that FOLDER has is continued, a finished one is read.
"""

import argparse
import collections
import itertools
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
from typing import Any

import jax
import numpy as np
import xarray as xr
from _results import machine, written

from simbias.analysis.effects import observed_stages
from simbias.analysis.spearman import row_correlations
from simbias.core import Status
from simbias.experiments import bias_matrix, interpolating_samples, threshold_scaling
from simbias.results import is_finished, open_result

AXES = ("d", "m", "scale", "n")
_ENDS = ("share", "low", "high")
# In units of σ²: the train error below which a network interpolates.
LEVEL = min(threshold_scaling.LEVELS)

_FEW = "interpolating_samples --cell.scale 1e-100 --final-time 12000"
_SCALING = "threshold_scaling --cell.scale 1e-12 1e-14"
_TINY = "threshold_scaling --cell.d 20 --cell.n 220 400 700 --final-time 20000"
STUDIES = {
    "threshold_contrast": [
        "threshold --cell.scale 1e-3 --cell.n 20 60 200 400 --seeds 12"
        " --final-time 1000"
    ],
    "threshold_widths": [
        "threshold_scaling --cell.d 5 --cell.n 8 12 18 27 40 60 --seeds 16"
        " --cell.scale 1e-8 --cell.m 50 200 800 3200"
    ],
    "interpolation_shares": [
        "threshold_scaling",
        _SCALING,
        f"{_SCALING} --cell.n 220 400 700",
        f"{_SCALING} --cell.d 20 --pad-to 160 --cell.n 27 40 60 90 140",
        f"{_SCALING} --cell.d 20 --cell.n 220 400 700",
        f"{_TINY} --cell.scale 1e-30 1e-100",
        f"{_TINY} --cell.scale 1e-250",
        "threshold_scaling --cell.d 10 --cell.scale 1e-6 --seeds 16"
        " --cell.n 27 40 60 90 140 220",
    ],
    "interpolating_samples_more": [
        f"{_FEW} --root 1100",
        _FEW,
        f"{_FEW} --root 1100 --flow.rtol 1e-4",
        f"{_FEW} --flow.rtol 1e-4",
    ],
    "order_of_limits_more": [
        "order_of_limits --root 3012 --seeds 36",
        "order_of_limits --cell.d 3 --cell.m 24 --cell.n 4 9 27",
        "order_of_limits --cell.d 5 --cell.m 50 --cell.n 6 20 80",
    ],
    "phase_diagram_more": [
        "phase_diagram --cell.d 5 --cell.m 60 --cell.n 5 10 20 60 --seeds 32"
    ],
    "bias_matrix_dependence": ["bias_matrix --preset paper"],
    "bias_matrix_wider": [
        "bias_matrix --cell.setting"
        " 'uniform relu wide512 rich' 'uniform relu deep rich'"
        " 'uniform relu wide512 lazy' 'uniform relu deep lazy'"
    ],
    "stragglers_more": [
        "stragglers --root 2040 --seeds 160",
        "stragglers --cell.sigma 0.5 --cell.d 3 --cell.n 200 800 --root 2040"
        " --seeds 160",
    ],
}
SMALLEST = [
    "threshold_scaling --preset smoke --cell.n 4 6 --cell.m 10 --seeds 2 --final-time 1"
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(STUDIES)}")
    parser.add_argument("--runs", help="where runs are kept")
    parser.add_argument("--results", help="where JSON is written; else it is printed")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    if unknown := {*options.names} - {*STUDIES}:
        parser.error(f"no study of this name: {', '.join(sorted(unknown))}")
    jax.config.update("jax_enable_x64", True)
    wanted = {k: v for k, v in STUDIES.items() if k in (options.names or STUDIES)}
    if options.smallest:
        wanted = {"smallest": SMALLEST}
    with tempfile.TemporaryDirectory() as folder:
        runs = pathlib.Path(options.runs or folder)
        for name, commands in wanted.items():
            documents = [
                of_run(command, runs / f"{name}-{i}")
                for i, command in enumerate(commands)
            ]
            where = f"{options.results}/{name}.json" if options.results else "-"
            written(where, documents)


def of_run(command: str, out: pathlib.Path) -> dict[str, Any]:
    """What one run says.

    Raises:
        CalledProcessError: if it fails.
    """
    words = [sys.executable, "-m", "simbias", "run", *shlex.split(command)]
    log = subprocess.DEVNULL
    subprocess.run([*words, "--out", out], check=True, stdout=log, stderr=log)
    made = json.loads((out / "config.json").read_text())
    about = {k: made[k] for k in ("versions", "device")}
    claims = json.loads((out / "claims.json").read_text())
    # The processor is that of this process: a run that was kept may be from another.
    document = {"command": f"simbias run {command}", **machine(), **about, **claims}
    ds = open_result(out)
    if claims["experiment"] == "interpolating_samples":
        document["counts"] = counts(ds)
    elif claims["experiment"].startswith("threshold"):
        document["rows"] = shares(ds)
    elif claims["experiment"] == "bias_matrix":
        document |= of_matrix(ds)
    return document


def shares(ds: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each (d, m, λ, n)."""
    ds = ds.expand_dims([k for k in AXES if k not in ds.dims]).sortby("scale")
    left = ds["train_risk"].isel(time=-1) / ds["sigma"] ** 2
    left = left.where(is_finished(ds)).transpose(*AXES, "seed")
    is_limit = _is_proven(ds).transpose(*AXES, "seed").values
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
            "limit_proven": int(is_limit[place].sum()),
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


def counts(ds: xr.Dataset) -> dict[str, int]:
    """Datasets by what was predicted and what came out, and proven limits."""
    seen = interpolating_samples.outcomes(ds)
    names = {True: "predicted", False: "not_predicted"}
    ends = {True: "interpolated", False: "not"}
    return {
        f"{names[is_so]}_and_{ends[fits]}": int(
            ((seen["is_predicted"] == is_so) & (seen["interpolates"] == fits)).sum()
        )
        for is_so in names
        for fits in ends
    } | {"limit_proven": int(_is_proven(ds).sum())}


def of_matrix(ds: xr.Dataset) -> dict[str, Any]:
    """What the matrix says: verdicts, and on what they depend."""
    table = bias_matrix.table(ds)
    stages = observed_stages(table, "bias")
    shapes = {setting.split()[2] for setting in map(str, ds["setting"].values)}
    wide = "wide512" if "wide512" in shapes else "wide"
    gap = bias_matrix.paired_differences(ds, wide)
    biases = [str(k) for k in table["bias"].values]
    rounded = lambda values: [round(float(v), 4) for v in np.ravel(values)]
    of_bias = lambda part: rounded([part[k] for k in ("value", "low", "high")])
    found: dict[str, Any] = {
        "verdicts": {
            k: dict(
                collections.Counter(np.ravel(table["verdict"].sel(bias=k)).tolist())
            )
            for k in biases
        },
        "why_undefined": dict(
            collections.Counter(v for v in np.ravel(table["why"]).tolist() if v)
        ),
        f"{wide}_less_deep": {k: of_bias(gap.sel(bias=k)) for k in biases},
        "stages": {k: rounded(stages.sel(bias=k)) for k in biases},
    }
    if wide == "wide":
        shared = bias_matrix.dependence(ds)
        together = row_correlations(table["value"], "bias", "setting")
        found["shares"] = {
            k: {
                str(source): rounded([of.sel(source=source)[e] for e in _ENDS])
                for source in of["source"].values
            }
            | {"cells": int(of["cells"]), "left_out": int(of["missing"])}
            for k in biases
            for of in [shared.sel(bias=k)]
        }
        found["correlations"] = {
            f"{a}, {b}": rounded(
                [together[k].sel(bias=a, other=b) for k in ("rho", "low", "high")]
            )
            for a, b in itertools.combinations(biases, 2)
        }
    return found


def _is_proven(ds: xr.Dataset) -> xr.DataArray:
    return ds["status"].isin((Status.CONVERGED, Status.STATIONARY))


if __name__ == "__main__":
    main()
