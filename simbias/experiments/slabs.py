"""A network looks at the simplest of fifty coordinates that all tell the class.

In LMS-5 the first coordinate is linear and the others have five slabs; in MS-5-7 the
first has five slabs and the others seven.  Every coordinate classifies alone, and all
of them together do so with a far larger margin.  Yet SGD finds a network that depends
on the first alone: with it randomised the area under the ROC curve is ½, with all the
others randomised it stays 1.  An ensemble of such networks is no better.

Reference: Shah et al. (2020), The pitfalls of simplicity bias in neural networks,
arXiv:2006.07710, sections 3 and 4, and notebooks 01 and 04 of its repository.
"""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from simbias.core import Claim, Experiment
from simbias.experiments._curves import curves
from simbias.experiments._slabs import (
    PAPER,
    auc_rows,
    chance_band,
    draw_logits,
    draw_plane,
    draw_way,
    final_measures,
    is_learned,
    make,
    measures,
)
from simbias.figures.style import blank, style
from simbias.flows.descent import Descent
from simbias.losses import logistic
from simbias.stops.train_accuracy_above import TrainAccuracyAbove

RATE = 0.1
_PRESETS: dict[str, dict[str, Any]] = {
    "smoke": {
        "cell": {"d": 10, "n": 4000, "n_test": 2000},
        "seeds": 2,
        "updates": (250, 4000),
    },
    "quick": {
        "cell": {"law": ("LMS-5", "MS-5-7"), "d": 20, "n": 40_000, "n_test": 5000},
        "seeds": 3,
        "updates": (250, 30_000),
    },
    "paper": {
        "cell": {"law": ("LMS-5", "MS-5-7")},
        "seeds": 3,
        "updates": (250, 40_000),
    },
}


def experiment(preset: str = "quick", **cell: Any) -> Experiment:
    """The experiment; keyword arguments replace values of the cell."""
    chosen = dict(_PRESETS[preset])
    every, last = chosen.pop("updates")
    held = {"law": "LMS-5", "d": 50, "n": 100_000, "n_test": 10_000, "noise": 0.0}
    return Experiment(
        name="slabs",
        make=make,
        cell={**held, "m": 100, "depth": 2, "draw": 0, **chosen.pop("cell"), **cell},
        flow=Descent(rate=RATE, batch=256, weight_decay=5e-5),
        loss=logistic,
        times=tuple(RATE * k for k in range(0, last + 1, every)),
        measures=measures(),
        final=final_measures(),
        stop=TrainAccuracyAbove(1 - 1e-4),
        dtype="float32",
        **chosen,
    )


def figure(ds: xr.Dataset) -> Figure:
    """The way, the logits at the end, and the decision boundary; a row per law."""
    label, part = next(curves(ds, "law"))
    with style():
        rows = part.sizes["law"]
        whole = blank(12.0, 3.4 * rows + 0.3)
        panels = whole.subplots(rows, 3, squeeze=False)
        for i in range(rows):
            cell = part.isel(law=i)
            draw_way(panels[i, 0], cell)
            draw_logits(panels[i, 1], cell)
            draw_plane(panels[i, 2], cell)
            title = cell["law"].item() + (f", {label}" if label else "")
            panels[i, 0].set_title(title)
            panels[i, 1].set_title("test logits")
            panels[i, 2].set_title("P(f > 0)")
        panels[0, 0].legend(loc="center right")
        panels[0, 1].legend()
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The three AUC of every law, of each network and of their ensemble."""
    out = []
    for label, part in curves(ds, "law"):
        for i in range(part.sizes["law"]):
            cell = part.isel(law=i)
            law = cell["law"].item()
            where = law + (f", {label}" if label else "")
            bands = {"nothing": (0.999, 1.0), "complex": (0.999, 1.0)}
            bands["simple"] = chance_band(cell)
            for randomised, text, seen in auc_rows(cell):
                if law in ("MS-5", "MS-7") and randomised != "nothing":
                    continue  # a control without a simple coordinate
                low, high = bands[randomised]
                out.append(Claim(f"{where}: {text}", seen, low, high, PAPER))
            out.append(_share_of_first(cell, law, where))
    return out


def _share_of_first(cell: xr.Dataset, law: str, where: str) -> Claim:
    """What the AUC cannot show: how much of the variance is due to S."""
    shares = cell["feature_dependence"].sel(dependence="variance_share")
    rest = shares.isel(feature=slice(1, None)).max("feature").values.max()
    seen = float(rest) if is_learned(cell) and law[:2] == "LM" else np.nan
    text = f"{where}: largest share of Var f of a complex coordinate"
    return Claim(text, seen, 0.0, 0.05, "ours")
