"""Depth and detail: coarse and fine levels of a Cantor set, by depth.

The class is whether x lies in a Cantor set of five cuts or in a gap.  A network of five
hidden layers with weights written by hand is right everywhere.  What Adam finds depends
on where the gaps are.  Let P(j) be the accuracy of a classifier that resolves exactly j
levels.  If P rises early (coarse gaps), the trained network is nearly right.  If all
gaps are of the last level, its accuracy stays at ½ at every depth.  In between, the
accuracy follows P.

The published code has five coordinates, each of which determines the class, and 20
ReLUs in each layer, with biases of 0.1.  It uses the hinge loss and Adam with learning
rate 0.005 and batch size 100.  We do the same, except for fresh samples in every step
instead of 50,000 fixed ones, 10,000 steps instead of 10⁶, and the degree −2, coarser
than the published ones (0 and above).

Reference: Malach & Shalev-Shwartz (2019), arXiv:1903.03488, and cantor.py and
network.py of its repository (the values of its figures could not be read).
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import cantor
from simbias.experiment_presets import presets
from simbias.experiments._times import even_times
from simbias.experiments.boolean._published_start import cantor_by_hand, published_start
from simbias.figures import COLOURS, Law, Panels, Points
from simbias.flows import Descent
from simbias.losses import hinge
from simbias.measures import TrainSignAccuracy
from simbias.theory.approximation_curve import approximation_curve

PAPER = "Malach & Shalev-Shwartz (2019), arXiv:1903.03488"
RATE = 0.005
LEVELS = 5
# What the claims on trained networks are about: 10,000 steps.
TRAINED = 50.0
COARSE, FINE = -2.0, 100.0
AXES = ("degree", "depth")


def make(
    key: PRNGKeyArray,
    *,
    degree: Real = 0.0,
    depth: int = 5,
    d: int = 5,
    m: int = 20,
    n: int = 4000,
) -> tuple[Dataset, AbstractNetwork]:
    """Samples for the accuracy, the law of fresh samples, and a network of that depth.

    Args:
        key: random key.
        degree: −2 has the coarsest gaps; with a large degree, such as 100, all gaps
            are of the last level.
        depth: number of hidden layers.
        d: number of coordinates, each of which determines the class.
        m: neurons of each hidden layer.
        n: samples on which the accuracy is measured.
    """
    key_data, key_network = jax.random.split(key)
    data = cantor(key_data, n=n, d=d, levels=LEVELS, degree=degree)
    return data, published_start(key_network, (d, *[m] * depth, 1), bias=0.1)


experiment = presets(
    Experiment(
        name="cantor",
        make=make,
        cell={"degree": (COARSE, 0.0, 2.0, FINE), "depth": (1, 2, 3, 4, 5)},
        seeds=6,
        flow=Descent(rate=RATE, batch=100, sampling="fresh", optimiser="adam"),
        loss=hinge,
        times=even_times(50.0, 10),
        measures={"accuracy": TrainSignAccuracy()},
        dtype="float32",
    ),
    smoke={
        "cell": {"degree": (COARSE, FINE), "depth": 1, "n": 1000},
        "times": even_times(2.5, 2),
    },
    paper={
        "cell": {"degree": (COARSE, 0.0, 1.0, 2.0, 4.0, FINE)},
        "seeds": 20,
        "times": even_times(5000.0, 100),
    },
)


def law(part: xr.Dataset) -> xr.DataArray:
    """P(j) of one degree."""
    curve = approximation_curve(LEVELS, float(part["degree"]))
    return xr.DataArray(curve, {"level": np.arange(LEVELS + 1)})


def by_hand(part: xr.Dataset) -> xr.DataArray:
    """Accuracy of the networks by hand that resolve 1, …, 5 levels, on 20,000 rows."""
    d, degree = int(part["d"]), float(part["degree"])
    data = cantor(jax.random.key(0), n=20_000, d=d, levels=LEVELS, degree=degree)
    level = np.arange(1, LEVELS + 1)
    known = [cantor_by_hand(d, int(j)) for j in level]
    is_right = [(jax.vmap(net)(data.x) > 0) == (data.y > 0) for net in known]
    return xr.DataArray(jnp.stack(is_right).mean((1, 2)), {"level": level})


figure = Panels(
    Points(
        lambda part: (
            part["accuracy"].isel(time=-1).expand_dims(who=["trained, depth j"])
        ),
        colour="who",
        has_median=False,
        ylabel="accuracy",
        ylim=(0.45, 1.03),
        laws=(
            Law(law, "P(j)", ":", "black"),
            Law(by_hand, "by hand, j levels", "x", COLOURS[2]),
        ),
    ),
    columns="degree",
    x="depth",
    xlabel="level j, or depth",
    names={
        "degree": {COARSE: "p = −2, coarse", 0.0: "p = 0, even"}
        | {p: f"p = {p:g}" for p in (1.0, 2.0, 4.0)}
        | {FINE: f"p = {FINE:g}, only the finest"}
    },
    size=(3.0, 3.6),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Coarse learned, fine not; between them the accuracy follows P."""
    end = ds["accuracy"].isel(time=-1)
    best = end.max("depth", skipna=False)
    # Of every seed: |best accuracy − P(j)|, the mean over the curves, for each level.
    laws = xr.concat([law(ds.sel(degree=p)) for p in ds["degree"]], ds["degree"])
    off = abs(best - laws).mean("degree", skipna=False)
    nearest = int(np.argmin(np.nan_to_num(off.mean("seed").values, nan=np.inf)))
    own, others = off.isel(level=nearest), off.drop_isel(level=nearest)
    others = others.min("level", skipna=False)
    follows = f"|best accuracy − P({nearest})| over the curves"
    seen = "ours; the level is the nearest, as seen"
    coarse, fine = at(best, "degree", COARSE), at(at(end, "depth", 5), "degree", FINE)
    source = f"{PAPER} (?)"
    extremes = (
        mean_of("coarse gaps: accuracy of the best depth", coarse, (0.9, 1), "ours"),
        mean_of("fine gaps: accuracy at depth 5", fine, (0.45, 0.55), source),
    )
    text = f"{follows} − the same of the next level"
    curves = Claims({"two degrees": ds.sizes["degree"] > 1}).rows(
        mean_of(follows, own, (0, 0.05), seen),
        difference_of(text, own, others, (-np.inf, 0), seen),
    )
    is_trained = float(ds["time"][-1]) >= TRAINED
    return Claims({f"t ≥ {TRAINED:g}": is_trained}).rows(*extremes, *curves)
