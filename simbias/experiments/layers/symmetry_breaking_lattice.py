"""Symmetry breaking on 4096 angles: the exact flow agrees, unless δ is below a step.

The two neurons are those of `symmetry_breaking`, under the exact ReLU flow.  The inputs
are equispaced angles on a circle instead of N(0, I), and the output weights are frozen
at 1.  The samples between the two hyperplanes pull the neurons apart.  A lattice has no
sample in a small angle.  For δ ≥ 1e-3 the escape times are those of the closed form.
For smaller δ the lattice decides.  If the hyperplane of equal neurons lies midway
between two angles (`offset` ½), the neurons never separate.  If it contains an angle
(`offset` 0), they separate early for every δ.

Reference: Brutzkus & Globerson (2017), arXiv:1702.07966, for the loss; the rest is
derived.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, farthest_of, largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.experiment_presets import presets
from simbias.experiments.layers._two_neurons import (
    circle,
    escape_times,
    gaps,
    own_and_other,
    quarters,
    start,
)
from simbias.figures import Curves, Law, Panels, Points
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import GaussianLoss, IncomingWeights, TrainLoss
from simbias.networks import TwoLayer
from simbias.theory.two_neurons import gap

LAW = "flow of the closed form, theory.two_neurons"
SLIDE = "slide of the lecture: 0.49/0.51 becomes 0.01/0.99"
AXES = ("delta", "offset")
LEAST_TIME = 24.0
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-7
# The lattice is fine for δ ≥ FINE/n, and decides for δ ≤ COARSE/n: 1e-3 and 1e-4 of
# 4096 angles.  Two neurons at ½ ± δ have an angle of 4δ, the lattice one of 2π/n.
FINE, COARSE = 4.09, 0.41


def make(
    key: PRNGKeyArray,
    *,
    delta: Real = 0.01,
    size: Real = 0.5,
    offset: Real = 0.5,
    n: int = 4096,
) -> tuple[Dataset, AbstractNetwork]:
    """Two ReLU neurons at `size` ± `delta`, and n angles; output weights stay 1.

    Args:
        key: random key.
        delta: δ, the initial difference of the neurons.
        size: the mean of the initial weights.
        offset: distance of the hyperplane of equal neurons from an angle, in spacings.
        n: number of angles.
    """
    del key
    w = start(delta, size)
    network = TwoLayer(w, jnp.ones((2, 1), jnp.float64))
    return circle(n, offset), dataclasses.replace(network, frozen=("a",))


experiment = presets(
    Experiment(
        name="symmetry_breaking_lattice",
        make=make,
        cell={"offset": (0.0, 0.5), "delta": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)},
        seeds=None,
        flow=ReluFlow(rtol=1e-8),
        loss=half_mse,
        times=quarters(30.0),
        measures={
            "weights": IncomingWeights(),
            "loss": GaussianLoss(),
            "lattice_loss": TrainLoss(half_mse),
        },
    ),
    smoke={
        "cell": {"offset": 0.5, "delta": (1e-5, 1e-1), "n": 512},
        "times": quarters(24.0),
    },
    paper={
        "cell": {
            "delta": tuple(10.0 ** (-k / 4) for k in range(24, 3, -1)),
            "n": (1024, 4096, 16_384),
        }
    },
)


def expected(ds: xr.Dataset) -> xr.DataArray:
    """The gap of the closed form at the times of a result, over δ and time."""
    times, size = ds["time"].values, float(ds["size"])
    rows = [gap(float(d), times, size) for d in ds["delta"].values]
    coords = {"delta": ds["delta"].values, "time": times}
    return xr.DataArray(np.reshape(rows, (-1, len(times))), coords, ("delta", "time"))


figure = Panels(
    Curves(
        gaps,
        colour="delta",
        line="offset",
        is_graded=True,
        spread="none",
        yscale="log",
        title="gap",
        laws=(Law("closed", "closed form", ":", "black"),),
    ),
    Points(
        lambda part: escape_times(gaps(part)),
        colour="offset",
        has_median=False,
        x="delta",
        xlabel="δ",
        xscale="log",
        ylim=(0, None),
        title="time at which the gap is ¼ (no mark: never)",
        laws=(Law(lambda part: escape_times(part["closed"]), "closed form", ":"),),
    ),
    names={"delta": "δ"},
    of=lambda ds: moved(ds).assign(closed=expected(moved(ds))),
)


def moved(ds: xr.Dataset) -> xr.Dataset:
    """The networks with a gap at the start."""
    return ds.isel(seed=0).sel(delta=ds["delta"] > 0)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Agreement where the lattice is fine; what happens where it is not."""
    ds = moved(ds)
    n, delta, off = int(ds["n"]), ds["delta"], {"tolerance": TOLERANCE}
    above, below = f"δ ≥ {FINE / n:.1g}", f"δ ≤ {COARSE / n:.1g}"
    fine, coarse = ds.sel(delta=delta * n >= FINE), ds.sel(delta=delta * n <= COARSE)
    midway = at(gaps(coarse), "offset", 0.5)
    held = escape_times(at(gaps(coarse), "offset", 0.0))
    own, other = own_and_other(fine["weights"].isel(time=-1))
    ratio = escape_times(gaps(fine)) / escape_times(expected(fine))
    early = f"{above}: escape time over that of the closed form, farthest from 1"
    least, most = f"{above}: larger weight, least", f"{above}: smaller weight, largest"
    never = f"{below}, offset ½: gap at the end over δ, farthest from 1"
    same = f"{below}, offset 0: latest escape over the earliest"
    none = "no angle between the hyperplanes; tolerance ours"
    law = "ours; by the closed form 1.54 for δ = 1e-6 over 1e-4"
    kept = midway.isel(time=-1) / midway["delta"]
    spread = held.max("delta") / held.min("delta") if held.size else held
    return [
        *Claims(needs={"512 angles": n >= 512}).rows(
            farthest_of(early, ratio, 1, (0.98, 1.02), f"{LAW}; 2 % ours", **off)
        ),
        smallest_of(least, own, (0.99, 1.01), SLIDE, **off),
        largest_of(most, abs(other), (0, 0.01), SLIDE, **off),
        farthest_of(never, kept, 1, (0.999, 1.001), none),
        largest_of(same, spread, (1, 1.1), law, **off),
    ]
