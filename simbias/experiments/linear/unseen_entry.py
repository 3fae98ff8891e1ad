"""The unobserved entry grows without bound: no norm explains the completion.

Of a 2 × 2 matrix w₁₂ = w₂₁ = 1 and w₂₂ = 0 are observed.  Balanced factors that begin
with det > 0 keep det > 0, so w₁₁w₂₂ > w₁₂w₂₁.  As w₂₂ goes to 0, w₁₁ goes to ±∞, and so
does every norm.  The effective rank falls to 1.  Control: from det < 0 this does not
happen.

In float64 two factors lose the sign of the determinant.  Their smaller singular value
falls exponentially in ∫ w₂₂, below the error of the larger one, and then changes its
sign.  The flow is therefore integrated in the logarithms of the singular values and the
angles of their vectors, where det > 0 by construction.  The factors are trained as
well, for comparison.

Reference: Razin & Cohen (2020), arXiv:2005.06398; starts and times are ours.
"""

import functools
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.linear._entries import (
    Factors,
    SingularCoordinates,
    half_sum,
    rotation,
)
from simbias.experiments.linear._unseen_entry_claims import bound, grows, lost, rests
from simbias.figures import Curves, Law, Panels
from simbias.flows.gradient_flow import STIFF, GradientFlow
from simbias.measures import (
    DeterminantSign,
    EffectiveRank,
    LogDeterminant,
    MatrixEntry,
    TrainLoss,
)
from simbias.stops import TrainRiskBelow
from simbias.validation.sample import one_of
from simbias.validation.values import positive

LEAST_TIME = 1e4
AXES = ("det", "depth", "form")
Det = Literal["positive", "negative"]
Form = Literal["singular values", "factors"]


def make(
    key: PRNGKeyArray,
    *,
    det: Det = "positive",
    depth: int = 2,
    form: Form = "singular values",
    scale: Real = 0.1,
) -> tuple[Dataset, AbstractNetwork]:
    """The three entries, and an initial matrix, the same in either form.

    σ₁ = scale, σ₂ from 0.2 to 0.8 of it, uniform; angles uniform; layers balanced.

    Args:
        key: random key of the initial matrix.
        det: sign of the initial determinant.
        depth: number of factors: 2, 3 or 4.
        form: whether singular values or factors are trained.
        scale: largest initial singular value.
    """
    one_of("det", det, get_args(Det))
    one_of("form", form, get_args(Form))
    if depth not in (2, 3, 4):
        raise BadInput(f"`depth` must be 2, 3 or 4, got {depth!r}. Example: depth=2.")
    positive("scale", scale)
    u = jax.random.uniform(key, (depth + 2,), jnp.float64)
    values = scale * jnp.stack([jnp.ones(()), 0.2 + 0.6 * u[0]])
    angles = 2 * jnp.pi * u[1:]
    whole = SingularCoordinates(jnp.log(values), angles[:2], depth, det == "positive")
    x = jnp.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = jnp.array([[1.0], [1.0], [0.0]])
    data = Dataset(x, y, jnp.ones(3), y, jnp.eye(2))
    if form == "singular values":
        return data, whole
    left, right = whole.frames()
    frames = [right, *(rotation(angle) for angle in angles[2:]), left]
    root = values ** (1 / depth)
    pairs = zip(frames, frames[1:], strict=False)
    return data, Factors(tuple((b * root[None, :]) @ a.T for a, b in pairs))


experiment = presets(
    Experiment(
        name="unseen_entry",
        make=make,
        cell={
            "det": ("positive", "negative"),
            "depth": (2, 3),
            "form": ("singular values", "factors"),
        },
        seeds=20,
        shared=("det", "depth", "form"),
        flow=GradientFlow(STIFF, rtol=1e-8),
        loss=half_sum,
        times=log_times(0.1, 1e5, 61),
        measures={
            "entry": MatrixEntry(),
            "loss": TrainLoss(half_sum),
            "effective_rank": EffectiveRank(),
            "orientation": DeterminantSign(),
            "log_determinant": LogDeterminant(),
        },
        # At a zero of the loss a step would only be rounding.
        stop=TrainRiskBelow(1e-22),
    ),
    smoke={
        "cell": {"depth": 2, "form": "singular values"},
        "seeds": 2,
        "times": log_times(0.1, 1e4, 26),
    },
    paper={
        "cell": {"depth": (2, 3, 4)},
        "seeds": 200,
        "times": log_times(0.1, 1e7, 81),
    },
)


CASES = {
    "det > 0": ("positive", "singular values"),
    "det > 0, factors": ("positive", "factors"),
    "det < 0": ("negative", "singular values"),
}
# Losses at which the bound is shown.
LOSSES = xr.Dataset(coords={"loss": np.geomspace(1e-6, 0.1, 100)})["loss"]


def _cases(ds: xr.Dataset) -> xr.Dataset:
    """Signs and forms of the figure, along `case`."""
    parts = [at(at(ds, "det", det), "form", form) for det, form in CASES.values()]
    names = xr.DataArray(list(CASES), dims="case")
    seen = [
        part[["entry", "loss", "effective_rank"]].reset_coords(drop=True)
        for part in parts
    ]
    return xr.concat(seen, names).assign(size=lambda ds: abs(ds["entry"]))


_curves = functools.partial(Curves, colour="depth", line="case")
figure = Panels(
    _curves(
        lambda ds: ds["size"].where(ds["case"] != "det < 0"),
        x="loss",
        spread="each",
        title="|w₁₁| from det > 0, and what it must exceed",
        yscale="log",
        xlim=(1, 1e-6),
        ylim=(1e-2, 1e3),
        laws=(Law(lambda _: bound(LOSSES), "(1 − e)²/e", line="-", colour="black"),),
    ),
    _curves("size", title="|w₁₁|, unobserved", yscale="log", ylim=(1e-5, 1e3)),
    _curves(
        lambda ds: ds["effective_rank"].where(ds["case"] != "det > 0, factors"),
        title="effective rank",
        ylim=(0.95, 2.05),
    ),
    xscale="log",
    names={"depth": "N"},
    of=_cases,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """From det > 0 unbounded and of rank 1, from det < 0 converged and of rank 2."""
    rows = []
    for depth in ds["depth"].values.tolist():
        part, name = ds.sel(depth=depth), f"N = {depth}"
        positive, negative = (at(part, "det", k) for k in ("positive", "negative"))
        rows += grows(at(positive, "form", "singular values"), name)
        if depth == 2:
            rows += lost(positive, f"{name}, det > 0")
        rows += rests(at(negative, "form", "singular values"), name)
    return rows
