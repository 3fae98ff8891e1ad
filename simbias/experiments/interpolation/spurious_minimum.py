"""Spurious minima: a small start against the best found, as n passes m·d.

A small initialisation ends near one regression per sign, at every width.  Is this the
global minimum?  The same network is trained on the same dataset from many large
initialisations.  The least train error found is an upper bound of the global minimum.
So the gap to it is a lower bound of the distance of the small initialisation from the
global minimum.  With few samples both interpolate.  At n = m·d a large initialisation
still fits nearly all of the noise, and the small one does not.  So its error does not
come from a lack of expressivity.  Suppose that a hidden weight reduces the train error
by σ²/n, as in a regression.  Two groups leave (m − 2)d weights free.  Then the gap to
the best found closes like (m − 2)d/n.

Networks are followed to a proven limit, at most to t = 1000.  A limit is *spurious* if
another network fits the sample better by more than 0.01 σ² (`_rest.spurious`): at n =
m·d the best one found, which has the same width; at n ≤ m one that interpolates
(`theory.least_loss`).  Predictions of this, before the run with it: at n = m·d more
than half of the first small starts end at spurious limits, at n ≤ d less than half.

A seed is a dataset.  `start` numbers the networks that are trained on it.  The small
initialisation is compared with the best of them.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348; the three regimes are those
of the discussion of that paper on OpenReview (ICLR 2025, reviewer of the expressivity).
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import Claims, estimate_of, median_of
from simbias.core import (
    AbstractNetwork,
    Claim,
    Dataset,
    Estimate,
    Experiment,
    Index,
    Real,
)
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import noisy_teacher
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._rest import share_either_way, spurious
from simbias.figures import Curves, Law, Panels, VerticalLaw
from simbias.flows import Descent, ReluFlow
from simbias.losses import half_mse
from simbias.measures import ExcessRisk, ParameterNorm, TrainRisk
from simbias.results import is_finished
from simbias.stops import Stationary, TrainRiskBelow

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
LEAST_TIME = 300.0
REVIEW = "discussion of the paper on OpenReview (ICLR 2025): global, spurious, global"
DERIVED = "derived: a free weight takes σ²/n, as in a regression; " + REVIEW
AXES = ("n", "scale", "start")


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    start: Index = 0,
    d: int = 5,
    m: int = 20,
    sigma: Real = 0.3,
    scale: Real = 1e-3,
    n_test: int = 2000,
) -> tuple[Dataset, AbstractNetwork]:
    """The dataset of a key, and one of its initial networks.

    Args:
        key: random key.
        n: samples to train on.
        start: number of the initial network.
        d: entries of an input.
        m: width: neurons of a hidden layer.
        sigma: standard deviation of the noise of the targets.
        scale: scale of the initial weights.
        n_test: samples of the test set.
    """
    sizes = {"n": n, "d": d, "m": m, "sigma": sigma, "scale": scale, "n_test": n_test}
    data, _ = noisy_teacher(key, **sizes)
    _, network = noisy_teacher(jax.random.fold_in(key, start), **sizes)
    return data, network


experiment = presets(
    Experiment(
        name="spurious_minimum",
        make=make,
        cell={
            "n": (5, 10, 30, 100, 300, 1000),
            "m": 20,
            "d": 5,
            "scale": (1e-3, 1.0, 3.0),
            "start": (0, 1, 2),
        },
        seeds=6,
        shared=("n", "d", "m", "sigma", "scale", "start", "n_test"),
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=log_times(1.0, 1000.0, 10),
        measures={
            "train_risk": TrainRisk(),
            "excess_risk": ExcessRisk(),
            "norm": ParameterNorm(),
        },
        stop=Stationary(),
    ),
    smoke={
        "cell": {"n": (4, 40), "scale": (1e-3, 1.0), "start": (0, 1), "n_test": 200},
        "seeds": 2,
        "pad_to": 40,
        "times": log_times(1.0, 300.0, 8),
        # They compile in a fraction of the time.
        "flow": Descent(rate=0.1),
        "stop": TrainRiskBelow(1e-8),
    },
    paper={
        "cell": {
            # m·d of every pair is one of them.
            "n": (10, 25, 50, *(100 * 2**i for i in range(11))),
            "m": (20, 80, 320),
            "d": (5, 10),
            "start": tuple(range(20)),
        },
        "seeds": 20,
        "times": log_times(1.0, 10_000.0, 20),
    },
)


def spurious_share(ds: xr.Dataset, n: int) -> Estimate:
    """Share of the first small starts with a spurious limit, of known or unknown."""
    here = ds.sel(n=[n])
    best = ends(here)["best"] * here["sigma"] ** 2
    one = here.isel(scale=[0], start=[0])
    return share_either_way(spurious(one, experiment(), best))


def ends(ds: xr.Dataset) -> xr.Dataset:
    """Train error over σ² at the end, over (n, seed), and over m and d if several.

    `small`: of the smallest λ, median over starts; `best`: the least of all members on
    the sample; `gap` = small − best, a lower bound of the distance from the global
    minimum.
    """
    ds = ds.isel(time=-1)
    final = ds["train_risk"].where(is_finished(ds)) / ds["sigma"] ** 2
    small = final.isel(scale=0, drop=True).median("start")
    best = final.min(["scale", "start"])
    found = xr.Dataset({"small": small, "best": best, "gap": small - best})
    return found.assign_coords(starts=ds.sizes["start"])


def _law_of_gap(found: xr.Dataset) -> xr.DataArray:
    """The law where it is below ½."""
    law = _free(found) / found["n"]
    return law.where(law < 0.5)


def _free(found: xr.Dataset) -> int:
    """Hidden weights that two groups leave free."""
    return (int(found["m"]) - 2) * int(found["d"])


figure = Panels(
    Curves(
        lambda found: found[["small", "best"]].to_array("from"),
        colour="from",
        mark="o",
        spread="none",
        title="train error over σ², median of seeds",
        laws=(Law(1, line=":", colour="black"),),
    ),
    Curves(
        "gap",
        mark="o",
        title="small start − best found",
        laws=(
            VerticalLaw(lambda found: found["m"] * found["d"], "n = m·d"),
            Law(_law_of_gap, "(m − 2)d/n"),
        ),
    ),
    of=ends,
    x="n",
    xlabel="samples n",
    xscale="log",
    names={"from": {"small": "small start", "best": "best of all starts"}},
    title="m = {m}, d = {d}, t = {time:g}, {starts} starts per sample and scale",
    size=(4.8, 3.8),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both interpolate; the gap at n = m·d; how the gap closes."""
    found = ends(ds)
    m, d = int(found["m"]), int(found["d"])
    where = f"m = {m}, d = {d}, t = {float(ds['time'][-1]):g}"
    last = found.isel(n=-1)
    few, most = found["n"].values[found["n"].values <= 2 * d], int(last["n"])
    same = found.sel(n=found["n"] == m * d)
    text = f"train error of the small start over σ², n = {{}}, {where}"
    gap = f"gap to the best found over σ², n = m·d, {where}"
    fitted = f"best train error over σ², n = m·d, {where}"
    closes = f"gap to the best found over (m − 2)d/n σ², n = {most}, {where}"
    shut = last["gap"] * most / _free(found)
    share = "n = {}: share of spurious limits of the first small start"
    limit = lambda n, band, source, before="": [
        estimate_of(before + share.format(n), spurious_share(ds, n), band, source)
        for n in ds["n"].values[ds["n"].values == n]
        if "norm" in ds
    ]
    return [
        # No network is below 0, so that this bounds what is missed from above.
        # Up to d samples two regressions interpolate all; 2d is next to n*.
        *(
            median_of(text.format(n), found["small"].sel(n=n), (0, 0.01), PAPER)
            for n in few
        ),
        *Claims(needs={"n = m·d": same.sizes["n"] > 0}).rows(
            median_of(gap, same["gap"], (0.25, np.inf), PAPER),
            median_of(fitted, same["best"], (0, 0.25), PAPER),
        ),
        *Claims(needs={"n ≥ 10·m·d": most >= 10 * m * d}).rows(
            median_of(closes, shut, (0.5, 1.5), DERIVED)
        ),
        *limit(m * d, (0.5, 1), REVIEW),
        *limit(d, (0, 0.5), REVIEW, "control, "),
    ]
