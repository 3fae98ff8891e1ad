"""Interpolated samples: do two extremal vectors of each sign decide?

At d = 10 and n = 140 a small initialisation interpolates some datasets of a linear
teacher with noise.  For others of the same law and size it ends with a large train
error.  The prediction:

    a dataset is interpolated if and only if it has
    two extremal vectors or more of each sign

Then neurons with aⱼ > 0 gather in two places at least, and so do those with aⱼ < 0.  We
wrote down the prediction, the root and the bands before any of these datasets was run.
Only the claim of a law, which is contradicted, was added later.

Controls: the prediction made from the dataset of another seed; and an initialisation of
λ = 1 (`--cell.scale 1`), which fits every dataset.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, extremal vectors of finite
samples and optimisation threshold; the prediction is ours.
"""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.analysis.share_difference import share_difference
from simbias.claims import Claims, estimate_of, share_of
from simbias.core import Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._draws import once_a_sample, samples
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._rest import interpolates
from simbias.figures import Drawing, Panels, colour_of
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.stops import Stationary
from simbias.theory.extremal_vectors import extremal_vectors

OURS = "ours, docs/interpolation/interpolating_samples.md"
LEAST_TIME = 6000.0
AXES = ("scale",)
# Extremal vectors of each sign.
ENOUGH = 2
# From where on a start is not small, and from where down it is.
LARGE, SMALL = 0.1, 1e-6
# Right in two of three of either kind, and half of the way from chance to certainty.
OFTEN, CLEARLY = 2 / 3, 0.5
# "If and only if" allows for no others, the final time and the search for a few.
FEW = 0.05
# Extremal vectors of a sign from which on they are not told apart in the figure.
DRAWN = 6
# Random starts of the search, fixed so that a stored check can be repeated.
STARTS = 200

experiment = presets(
    Experiment(
        name="interpolating_samples",
        make=noisy_teacher,
        cell={"d": 10, "n": 140, "m": 200, "scale": (1e-9, 1e-6), "n_test": 10},
        seeds=100,
        shared=SHARED,
        # No sample of this root had been seen when the claims were written.
        root=1000,
        # At 1e-4 some two members in a hundred take the wrong side of a saddle.
        flow=ReluFlow(rtol=1e-6),
        loss=half_mse,
        times=log_times(10.0, 6000.0, 28),
        measures={"train_risk": TrainRisk()},
        # Below 5e-5 of the loss of f = 0 the train error is below 0.01 σ², for σ ≥ 0.1:
        # such a member interpolates, and goes on to, since the loss falls.
        stop=Stationary(interpolated=5e-5),
    ),
    # Fewer neurons and samples: nothing is claimed.
    smoke={
        "cell": {"d": 5, "n": 20, "m": 30, "scale": (1e-6, 1.0)},
        "seeds": 6,
        "times": log_times(10.0, 300.0, 4),
    },
    paper={
        "cell": {
            "d": (5, 10, 20),
            "sigma": (0.1, 0.3, 1.0),
            "scale": (1e-20, 1e-12, 1e-9, 1e-6, 1.0),
        },
        "times": log_times(10.0, 20_000.0, 24),
    },
)


def outcomes(ds: xr.Dataset) -> xr.Dataset:
    """The outcome for every dataset, and its extremal vectors.

    `interpolates` is 1, 0 or NaN over (scale, seed); `count` of extremal vectors over
    (seed, sign of aⱼ); `is_predicted`, two of each sign.
    """
    of_seed, every = ds.isel(scale=0), xr.ones_like(ds["seed"], bool)
    found = [_counted(data) for *_, data in samples(of_seed, experiment(), every)]
    count = xr.DataArray(found, {"seed": ds["seed"]}, ("seed", "sign"))
    is_predicted = (count >= ENOUGH).all("sign")
    return ds.assign(
        interpolates=interpolates(ds), count=count, is_predicted=is_predicted
    )


@once_a_sample
def _counted(data: Dataset) -> tuple[int, int]:
    """Places where neurons with aⱼ > 0 and with aⱼ < 0 end: a lower bound by search."""
    listed = extremal_vectors(data, samples=STARTS)
    up, down = ((listed.kind == s) & (s * listed.value > 0) for s in (1, -1))
    return int(up.sum()), int(down.sum())


def claims(ds: xr.Dataset) -> list[Claim]:
    """How often the prediction is right, for either kind, and both controls."""
    seen, rows = outcomes(ds), []
    is_yes = seen["is_predicted"].values
    for scale in map(float, ds["scale"].values):
        is_there = seen["interpolates"].sel(scale=scale).values
        where = f"σ = {float(ds['sigma']):g}, d = {int(ds['d'])}, n = {int(ds['n'])}"
        where += f", λ = {scale:g}"
        if scale >= LARGE:
            text = f"control: interpolated of those not predicted, {where}"
            rows.append(share_of(text, is_there[~is_yes], (OFTEN, 1.0), OURS))
        elif scale <= SMALL:
            rows += _of_small_start(is_there, is_yes, where)
    return rows


def _of_small_start(
    is_there: np.ndarray, is_yes: np.ndarray, where: str
) -> list[Claim]:
    """Errors, sensitivity, specificity, and the sum of these less 1, also shifted."""
    won, lost = is_there == 1, is_there == 0
    other, is_wrong = np.roll(is_yes, 1), (is_there != is_yes)[won | lost]
    both = "the two shares' sum less 1"
    better = share_difference(is_yes[won], is_yes[lost])
    chance = share_difference(other[won], other[lost])
    predicted = f"predicted of those interpolated, {where}"
    missed = f"not predicted of those not interpolated, {where}"
    control = f"control, predicted from another draw: {both}, {where}"
    return Claims({"samples of both kinds": won.any() and lost.any()}).rows(
        share_of(f"samples that do the other thing, {where}", is_wrong, (0, FEW), OURS),
        share_of(predicted, is_yes[won], (OFTEN, 1), OURS),
        share_of(missed, ~is_yes[lost], (OFTEN, 1), OURS),
        estimate_of(f"{both}, {where}", better, (CLEARLY, 1), OURS),
        estimate_of(control, chance, (-CLEARLY, CLEARLY), OURS),
    )


def _draw(axes: Axes, part: xr.Dataset) -> None:
    """Datasets with the same numbers are drawn beside each other; shaded: predicted."""
    most = DRAWN + 0.5
    axes.axvspan(ENOUGH - 0.5, most, ymin=0, color="#E6E6E6", lw=0, zorder=0)
    axes.axhspan(0, ENOUGH - 0.5, color="white", lw=0, zorder=0.5)
    points = np.minimum(part["count"].transpose("seed", "sign").values, DRAWN)
    spread, is_there = points + _beside(points), part["interpolates"].values
    for i, label in enumerate(("not", "interpolated")):
        (dots,) = axes.plot(*spread[is_there == i].T, "so"[i], ms=5, label=label)
        dots.set(color=colour_of(1 - i), mfc=colour_of(0) if i else "none")
    axes.set_aspect("equal")
    numbers = range(1, DRAWN + 1)
    names = [*map(str, numbers[:-1]), f"{DRAWN}+"]
    axes.set_xticks(numbers, names)
    axes.set_yticks(numbers, names)
    axes.grid(visible=False)


def _beside(points: np.ndarray) -> np.ndarray:
    """Offsets on a small grid, so that equal points do not hide each other."""
    offsets, seen = np.zeros(points.shape), dict[bytes, int]()
    for i, point in enumerate(points):
        k = seen[point.tobytes()] = seen.get(point.tobytes(), -1) + 1
        offsets[i] = (k % 4 - 1.5) * 0.2, (k // 4 - 1.5) * 0.2
    return offsets


figure = Panels(
    Drawing(
        _draw,
        facet="scale",
        ylabel="extremal vectors, a < 0",
        xlim=(0.5, DRAWN + 0.5),
        ylim=(0.5, DRAWN + 0.5),
    ),
    of=outcomes,
    xlabel="extremal vectors, a > 0",
    names={"scale": "σ = {sigma:g}, d = {d}, n = {n}, λ"},
    title="samples; shaded: predicted to be interpolated",
    size=(3.6, 3.7),
)
