"""The learning rate of each optimiser of the bias matrix.

Three rates for each, on a tenth of the settings and on seeds of another root than the
matrix.  The best rate is the one with which most networks learn their task; of equal
ones, the smallest.  `simbias/experiments/matrix/_optimisers.py` has the result.

    python benchmarks/matrix_rates.py [--json FILE|-] [--run FOLDER] [--smallest]
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
from typing import Any

import jax
import xarray as xr
from _results import machine, written

from simbias.analysis.effects import member_effects
from simbias.analysis.parts import with_axes
from simbias.experiments.matrix._optimisers import RATES
from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._settings import AXES
from simbias.results import open_result

# A tenth of the settings, on which learning rates are chosen.
TENTH = (
    "uniform relu wide rich",
    "uniform tanh deep lazy",
    "steps tanh equal rich",
    "steps relu deep lazy",
    "heavy tanh wide rich",
    "heavy linear equal lazy",
    "clusters relu deep rich",
    "clusters linear wide lazy",
)
_RUN = ["bias_matrix", "--root", "1", "--seeds", "4", "--flow.rate", "0", "1", "2"]
_RUN += ["--cell.setting", *TENTH]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--run", help="folder in which the run is kept, or continued")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    words = _RUN
    if options.smallest:
        words = ["bias_matrix", "--preset", "smoke", "--cell.bias", "spectral"]
        words += ["--flow.optimiser", "gd", "--flow.rate", "0", "1", "--seeds", "1"]
    with tempfile.TemporaryDirectory() as folder:
        out = options.run or f"{folder}/run"
        command = [sys.executable, "-m", "simbias", "run", *words, "--out", out]
        log = subprocess.DEVNULL
        subprocess.run(command, check=True, stdout=log, stderr=log)
        rows = shares(open_result(out))
    document = {
        "command": f"simbias run {shlex.join(words)}",
        **machine(),
        "rows": rows,
    }
    written(options.json, document)


def shares(ds: xr.Dataset) -> list[dict[str, Any]]:
    """For each optimiser and rate, the share of networks that learn their task."""
    ds = with_axes(ds, [*AXES, "flow.rate"])
    learned = member_effects(ds, ROWS, "bias", "setting")["is_learned"]
    learned = learned.where(ds["status"] == 1, False).astype(float)
    every = learned.mean(["bias", "setting", "seed"])
    rows = []
    for name in map(str, ds["flow.optimiser"].values):
        share = every.sel({"flow.optimiser": name}).values
        for place, value in zip(ds["flow.rate"].values, share, strict=True):
            rate = RATES[name].tried[int(place)]  # pyright: ignore
            is_best = bool(int(place) == int(share.argmax()))
            rows.append(
                {
                    "optimiser": name,
                    "rate": rate,
                    "learned": round(float(value), 4),
                    "is_best": is_best,
                }
            )
    return rows


if __name__ == "__main__":
    main()
