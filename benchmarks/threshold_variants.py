"""Is the optimisation threshold there with other steps, activations and starts?

The same samples (a larger n adds to them) under each variant: exact flow,
gradient descent and SGD at small and large rates, Adam, GELU, a hidden bias, the
standard start, and a large start that shows what the width can fit.  Per variant: n* by
three definitions with intervals over seeds, train and test error over σ² at
the largest n, and the train error against n.

    python benchmarks/threshold_variants.py [--json FILE|-] [--figure FILE] [--smallest]

The clock of Adam is steps × rate, the distance a weight moves, not time.  Variants that
FILE holds already, for the same options, are kept and not run again.
"""

import argparse
import dataclasses
import json
import pathlib
import time
from typing import Any

import jax
import numpy as np
from _results import machine, written
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis._threshold import Threshold
from simbias.analysis.largest_interpolated import largest_interpolated
from simbias.analysis.median_crossing import median_crossing
from simbias.analysis.threshold import threshold
from simbias.core import AbstractFlow
from simbias.experiments import threshold_scaling as paper
from simbias.experiments._times import log_times
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.flows.relu_flow import ReluFlow
from simbias.results import is_failed
from simbias.stops.train_risk_below import TrainRiskBelow
from simbias.verbs.simulate import simulate

EXACT = ReluFlow(rtol=1e-4)
# Of Adam: the distance that is walked.
DISTANCE = 30.0


@dataclasses.dataclass(frozen=True)
class Variant:
    """`final` is the end on the flow's clock; None is that of the exact flow."""

    group: str
    flow: AbstractFlow
    cell: dict[str, Any] = dataclasses.field(default_factory=dict)
    final: float | None = None


def _adam(rate: float) -> Descent:
    return Descent(optimiser="adam", rate=rate)


GELU = {"activation": "gelu"}
SLOW = Descent(rate=0.1)
VARIANTS = {
    "exact flow": Variant("steps", EXACT),
    "GD, rate 0.1": Variant("steps", SLOW),
    "GD, rate 0.7": Variant("steps", Descent(rate=0.7)),
    "SGD of 16, rate 0.1": Variant("steps", Descent(rate=0.1, batch=16)),
    "SGD of 16, rate 0.4": Variant("steps", Descent(rate=0.4, batch=16)),
    "Adam, rate 0.003": Variant("Adam and GELU", _adam(0.003), final=DISTANCE),
    "GELU, GD, rate 0.1": Variant("Adam and GELU", SLOW, GELU),
    "GELU, Adam, rate 0.003": Variant(
        "Adam and GELU", _adam(0.003), GELU, final=DISTANCE
    ),
    "hidden bias, GD": Variant("network and start", SLOW, {"has_bias": True}),
    "standard start, GD": Variant(
        "network and start", SLOW, {"initial": "standard", "scale": 1.0}
    ),
    "large start, λ = 1, GD": Variant("network and start", SLOW, {"scale": 1.0}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--n", type=int, nargs="+", default=[8, 12, 18, 27, 40, 80, 160]
    )
    parser.add_argument("--m", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--time", type=float, default=1000.0)
    parser.add_argument("--only", nargs="+", choices=list(VARIANTS))
    parser.add_argument("--json", default="-")
    parser.add_argument("--figure", type=pathlib.Path)
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    if options.smallest:
        options.n, options.m, options.seeds, options.time = [8, 16], 8, 2, 5.0
        options.only = ["GD, rate 0.1"]
    jax.config.update("jax_enable_x64", True)
    known = {row["variant"]: row for row in there(options)}
    rows = []
    for name in options.only or VARIANTS:
        rows.append(known.get(name) or measured(name, options))
        if options.json != "-":  # what there is so far
            written(options.json, document(options, rows))
    if options.json == "-":
        written("-", document(options, rows))
    if options.figure is not None:
        figure(rows).savefig(options.figure, dpi=110)


def asked(options: argparse.Namespace) -> dict[str, str]:
    return {k: str(getattr(options, k)) for k in ("n", "m", "seeds", "time")}


def there(options: argparse.Namespace) -> list[dict]:
    """Rows of an earlier run with the same options."""
    path = pathlib.Path(options.json)
    if options.json == "-" or not path.exists():
        return []
    before = json.loads(path.read_text())
    return before["variants"] if before["options"] == asked(options) else []


def document(options: argparse.Namespace, rows: list[dict]) -> dict:
    return {"options": asked(options), **machine(), "variants": rows}


def measured(name: str, options: argparse.Namespace) -> dict:
    """One row of the table."""
    variant, began = VARIANTS[name], time.perf_counter()
    cell = {
        "n": tuple(options.n),
        "d": 5,
        "m": options.m,
        "scale": 1e-3,
        "n_test": 2000,
        "seeds": options.seeds,
    }
    base = paper.experiment("quick", pad_to=max(options.n), **(cell | variant.cell))
    final = options.time
    if variant.final is not None:
        final = variant.final * options.time / 1000.0
    ds = simulate(
        dataclasses.replace(
            base,
            flow=variant.flow,
            times=log_times(final / 1000, final, 12),
            stop=TrainRiskBelow(1e-8),
        ),
        progress=True,
    )
    errors = paper.final_errors(ds)
    train, test = errors["train_risk"], errors["test_risk"]
    last = dict(n=int(train["n"].max()))
    interpolates = (train < 0.01).astype(float).where(train.notnull())
    middle = lambda v: [float(x) for x in v.median("seed").transpose("n").values]
    return {
        "variant": name,
        "group": variant.group,
        "final": final,
        "n": [int(n) for n in train["n"]],
        "largest_n_with_median_below_0.01": described(
            largest_interpolated(train, 0.01)
        ),
        "n_star_half_interpolate": described(threshold(interpolates)),
        "n_star_median_above_half": described(median_crossing(train, 0.5)),
        "share_interpolating": [float(v) for v in interpolates.mean("seed").values],
        "median_train_over_variance": middle(train),
        "median_test_over_variance": middle(test),
        "train_at_largest_n": float(train.sel(last).median("seed")),
        "test_at_largest_n": float(test.sel(last).median("seed")),
        "median_evaluations": float(np.median(ds["evaluations"])),
        "members": int(ds["status"].size),
        "failed": int(is_failed(ds).sum()),
        "seconds": round(time.perf_counter() - began, 1),
    }


def described(found: Threshold) -> dict:
    ends = {"estimate": found.value, "low": found.low, "high": found.high}
    plain = {k: float(v) if np.isfinite(v) else None for k, v in ends.items()}
    return plain | {"sentence": found.describe()}


def figure(rows: list[dict]) -> Figure:
    """Train error against n by group of variants, and n* with intervals."""
    groups = list(dict.fromkeys(row["group"] for row in rows))
    with style():
        whole = blank(11.0, 10.0)
        panels = whole.subplots(2, 2).ravel()
        forest = panels[-1]
        for axes, group in zip(panels[:-1], groups, strict=True):
            mine = [r for r in rows if r["group"] == group]
            if mine[0] is not rows[0]:
                mine = [rows[0], *mine]
            _curves(axes, mine, group)
        _forest(forest, rows)
    return whole


def _curves(axes: Axes, rows: list[dict], group: str) -> None:
    for i, row in enumerate(rows):
        colour = "black" if i == 0 else COLOURS[i - 1]
        n = row["n"]
        axes.plot(
            n,
            row["median_train_over_variance"],
            "o-",
            ms=3,
            lw=1.6 if i == 0 else 1,
            color=colour,
            label=row["variant"],
        )
    axes.axhline(1, color="black", linestyle=":", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks(n, [str(v) for v in n])
    axes.minorticks_off()
    axes.set_ylim(-0.03, 1.5)
    axes.set_xlabel("samples n")
    axes.set_title(f"train error over σ²: {group}")
    axes.legend(loc="upper left")


def _forest(axes: Axes, rows: list[dict]) -> None:
    kinds = {
        "n_star_half_interpolate": ("o", "half of the networks below 0.01 σ²"),
        "n_star_median_above_half": ("s", "median rises to σ²/2"),
    }
    for i, row in enumerate(rows):
        for j, (kind, (mark, label)) in enumerate(kinds.items()):
            found, y = row[kind], i + 0.3 * j
            colour = COLOURS[j]
            low = found["low"] if found["low"] is not None else row["n"][0]
            high = found["high"] if found["high"] is not None else row["n"][-1] * 1.3
            axes.plot(
                [max(low, row["n"][0] * 0.8), high], [y, y], "-", color=colour, lw=1.5
            )
            if found["estimate"] is not None:
                axes.plot(
                    found["estimate"],
                    y,
                    mark,
                    ms=5,
                    color=colour,
                    label=label if i == 0 else None,
                )
    axes.set_yticks(range(len(rows)), [row["variant"] for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    n = rows[0]["n"]
    axes.set_xticks(n, [str(v) for v in n])
    axes.minorticks_off()
    axes.set_title("n* and 95 % interval; no mark: not on the grid")
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.1))


if __name__ == "__main__":
    main()
