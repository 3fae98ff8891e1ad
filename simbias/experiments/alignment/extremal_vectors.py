"""Extremal vectors: the directions that small neurons align to, and how many each.

Small neurons do not interact: wⱼ' = aⱼD(wⱼ).  They end at the extremal vectors, the
critical directions of G(w) = (1/n) Σ yᵢ (w·xᵢ)₊ on the sphere.  Here a network of scale
1e-60 is trained until every neuron has arrived; f is still of order 1e-60.  So each
neuron is one search, and its KKT residual certifies the direction found.

For a linear teacher on Gaussian inputs D(w) → Σβ*/2 for every w, so all extremal
vectors gather at ±Σβ*.  To leading order the angle has independent normal coordinates:

    E tan² = 2 (d − 1)(1 + σ²)/n,   |G| → ‖Σβ*‖/2      (Σ = I, ‖β*‖ = 1)

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, extremal vectors of finite
samples; the constants are ours.
"""

import functools
import itertools

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.estimates import estimates
from simbias.analysis.wilson import share_interval
from simbias.claims import largest_of, statistic_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.experiments.alignment._basins import AXES as AXES
from simbias.experiments.alignment._basins import SAME, extremes
from simbias.figures import Estimates, Law, Panels, Points
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import AngularDeviation, NeuronWeights
from simbias.networks import balanced

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
LEAST_TIME = 120.0
DERIVED = "derived: central limit theorem for D(β*), see the file"


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    d: int = 2,
    sigma: Real = 0.3,
    m: int = 50,
    scale: Real = 1e-60,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and m neurons in random directions."""
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=1)
    return data, balanced(key_network, m=m, d=d, scale=scale)


experiment = presets(
    Experiment(
        name="extremal_vectors",
        make=make,
        cell={"n": (50, 400), "d": (2, 5)},
        seeds=20,
        flow=ReluFlow(rtol=1e-5),
        loss=half_mse,
        times=(0.0, 5.0, 10.0, 20.0, 40.0, 120.0),
        measures={"axis_deviation": AngularDeviation(quantile=1.0)},
        final={"neuron_weights": NeuronWeights()},
    ),
    smoke={"cell": {"n": 60, "d": 2}, "seeds": 8},
    paper={
        "cell": {
            "n": (50, 100, 200, 400, 800, 1600, 3200),
            "d": (2, 5, 20),
            "sigma": (0.3, 1.0, 3.0),
            "m": 1000,
        },
        "seeds": 100,
    },
)


def law(n: np.ndarray, d: float, sigma: float) -> np.ndarray:
    """Root mean square of the tangent of the angle with ±β*, to leading order."""
    return np.sqrt(2 * (d - 1) * (1 + sigma**2) / n)


def drawn(ds: xr.Dataset) -> xr.Dataset:
    """Extremal vectors found, by `cell` of σ and d, with the law of the angle."""
    found = extremes(ds, experiment("smoke")).stack(cell=("sigma", "d"))
    found = found.reset_index("cell").transpose("cell", "n", ...)
    pairs = list(zip(found["sigma"].values, found["d"].values, strict=True))
    laws = [law(found["n"].values, float(d), sigma) for sigma, d in pairs]
    one = (found["count"] == 1).astype(float).where(found["count"].notnull())
    shares = one.stack(start=("seed", "sign")).drop_vars(["start", "seed", "sign"])
    alone = estimates(share_interval, shares, over=("start",)).to_array("end")
    beside = xr.DataArray(1.04 ** np.arange(len(pairs)), dims="cell")
    names = [f"d = {d:g}, σ = {sigma:g}" for sigma, d in pairs]
    found = found.assign(law=(("cell", "n"), laws), alone=alone)
    return found.assign(beside=found["n"] * beside).assign_coords(cell=names)


each = functools.partial(Points, colour="cell", x="beside", xlabel="samples n")
figure = Panels(
    each(
        "angle",
        title="angle of extremal vectors with ±β*; line: law (rms)",
        yscale="log",
        laws=(Law("law", line="-"),),
    ),
    each("share", title="neurons of a sign in the largest basin", ylim=(0, 1.05)),
    Estimates(
        "alone",
        colour="cell",
        is_joined=True,
        title="signs with one basin only, 95 %",
        x="n",
        xlabel="samples n",
        ticks=True,
        ylim=(0, 1.05),
    ),
    of=drawn,
    xscale="log",
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Certified, near ±Σβ*, and at the predicted distance."""
    found = extremes(ds, experiment("smoke"))
    definition = f"definition of extremal vectors, {PAPER}"
    text = "KKT residual of a direction, largest"
    out = [largest_of(text, found["residual"], (0.0, SAME), definition)]
    for sigma, d in itertools.product(found["sigma"].values, found["d"].values):
        part = found.sel(sigma=sigma, d=d)
        out += _claims_of_law(part.sortby("n"), float(sigma), float(d))
    return out


def _claims_of_law(part: xr.Dataset, sigma: float, d: float) -> list[Claim]:
    """Bands: three standard errors of as many independent normal coordinates."""
    n, starts = part["n"].values.astype(float), part.sizes["seed"] * part.sizes["sign"]
    tangent = np.tan(part["angle"].transpose("n", "seed", "sign").values)
    rms = np.sqrt((tangent**2).mean(axis=(1, 2)))
    ratio, error = rms / law(n, d, sigma), 3 / np.sqrt(2 * (d - 1) * starts)
    where = f"d = {d:g}, σ = {sigma:g}, n = {n[-1]:g}"
    last = part.isel(n=-1)
    rate = float(last["rate"].mean(skipna=False))
    middle = 0.5 + (d - 1) * (1 + sigma**2) / (2 * n[-1])
    wide = 3 * np.sqrt(((3 + sigma**2) / 2 - 0.25) / n[-1] / starts)
    angle = f"angle with ±β* (rms of tan) over its law, {where}"
    grows = f"growth rate |G|, mean, {where}"
    stray = f"neurons that end on the side of the other sign, share, {where}"
    out = [
        statistic_of(angle, ratio[-1], (1 - error, 1 + error), DERIVED),
        statistic_of(grows, rate, (middle - wide, middle + wide), DERIVED),
        largest_of(stray, last["stray"], (0.0, 0.0), PAPER),
    ]
    if len(n) > 1:
        centred = np.log(n) - np.log(n).mean()
        slope = float(centred @ np.log(rms) / (centred @ centred))
        error = float(error / np.sqrt(centred @ centred))
        text = f"exponent of n in the angle, d = {d:g}, σ = {sigma:g}"
        out.append(statistic_of(text, slope, (-0.5 - error, -0.5 + error), PAPER))
    return out
