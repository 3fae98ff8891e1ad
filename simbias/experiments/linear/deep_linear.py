"""Deep linear networks: modes in order of size, and the law of their product.

W = W_N ⋯ W_1 learns a matrix with singular values 4, 2, 1 on white inputs.  From a
small initialisation every mode waits and is then learned quickly, the largest first.
So the effective rank rises in steps.  One matrix learns all modes at one rate.  With
balanced layers, W_{j+1}ᵀ W_{j+1} = W_j W_jᵀ, the product follows a law of its own,
Ẇ = −Σⱼ (WWᵀ)^{(j−1)/N} ∇ (WᵀW)^{(N−j)/N}.  This is gradient flow in another metric,
with the same minimum.  Control: without balance the law does not hold.

Reference: Saxe, McClelland & Ganguli (2014), arXiv:1312.6120; Arora, Cohen & Hazan
(2018), arXiv:1802.06509; the sizes are ours.
"""

from collections.abc import Callable

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import linear_modes
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments.linear._deep_linear import STRENGTHS, Start, started
from simbias.experiments.linear._deep_linear_claims import (
    law_of_strengths,
    layers,
    levels,
    one_matrix,
)
from simbias.figures import Curves, Law, Panels
from simbias.flows.gradient_flow import PRECISE, GradientFlow
from simbias.losses import half_mse
from simbias.measures import (
    EarlyStrengths,
    EffectiveRank,
    EndToEndError,
    ModeStrengths,
    TrainLoss,
)
from simbias.stops import TrainRiskBelow

LEAST_TIME = 30.0
AXES = ("start", "depth")
ARORA = "Arora, Cohen & Hazan (2018), arXiv:1802.06509 (?)"


def make(
    key: PRNGKeyArray,
    *,
    start: Start = "small",
    depth: int = 2,
    n: int = 12,
    d: int = 5,
    m: int = 32,
    scale: Real = 1.0,
) -> tuple[Dataset, AbstractNetwork]:
    """A target of three modes, and a network of `depth` matrices, hidden layers of m.

    There are more inputs than outputs, because the flow of a square product keeps the
    sign of the determinant.

    Args:
        key: random key.
        start: initialisation, see `started`.
        depth: N, number of matrices, 1 to 4.
        n: samples, d or more.
        d: inputs, three or more.
        m: width of the hidden layers, three or more if there are any.
        scale: factor on the initial product, whose size depends on `start`.
    """
    if isinstance(d, int) and d < len(STRENGTHS):
        raise BadInput(
            f"`d` must be {len(STRENGTHS)} or more, one for each mode of the target, "
            f"got {d}. Example: d=5."
        )
    key_data, key_network = jax.random.split(key)
    data = linear_modes(key_data, n=n, d=d, k=len(STRENGTHS), strengths=STRENGTHS)
    network = started(key_network, data, start=start, depth=depth, m=m, scale=scale)
    return data, network


_FINE = tuple(round(0.1 * i, 1) for i in range(301))

experiment = presets(
    Experiment(
        name="deep_linear",
        make=make,
        cell={
            "start": ("aligned", "balanced", "small", "unbalanced"),
            "depth": (1, 2, 3, 4),
        },
        seeds=20,
        flow=GradientFlow(PRECISE, rtol=1e-12),
        loss=half_mse,
        times=(*_FINE, *(30.0 + i for i in range(1, 171))),
        measures={
            "strengths": ModeStrengths(),
            "early_strengths": EarlyStrengths(),
            "effective_rank": EffectiveRank(),
            "end_to_end": EndToEndError(),
            "train_loss": TrainLoss(),
        },
        # Below this nothing moves, and relative errors would show rounding only.
        stop=TrainRiskBelow(1e-20),
    ),
    smoke={"cell": {"depth": 2}, "seeds": 3, "times": _FINE},
    paper={"cell": {"m": 100}, "seeds": 100},
)


def _modes(start: str, depth: Callable) -> Curves:
    """Strengths for one initialisation and depth, with their law."""
    first = lambda part: part["early_strengths"].isel(time=0)
    law = lambda part: law_of_strengths(part, first(part), int(part["depth"]))
    return Curves(
        "strengths",
        colour="mode",
        of=lambda ds: at(at(ds, "start", start), "depth", depth),
        title=f"mode strengths, {start} start, N = {{depth}}; dashed: law",
        laws=(Law(law, colour="black"),),
    )


def _off_the_law(ds: xr.Dataset) -> xr.DataArray:
    """|Ẇ + ψ(∇)|/|Ẇ| with and without balance, for two layers or more."""
    gap = ds["end_to_end"].sel(law="velocity").where(ds["depth"] > 1)
    return gap.isel(start=np.isin(gap["start"], ("balanced", "unbalanced")))


figure = Panels(
    _modes("small", lambda depths: min(depths, key=lambda depth: abs(depth - 2))),
    _modes("aligned", max),
    Curves(
        "effective_rank",
        colour="depth",
        of=lambda ds: at(ds, "start", "small"),
        title="effective rank, small start; dotted: 1, 2, 3 modes",
        ylim=(0.9, 3.1),
        laws=tuple(Law(level, line=":", colour="black") for level in levels()),
    ),
    Curves(
        _off_the_law,
        colour="depth",
        line="start",
        title="|Ẇ + ψ(∇)|/|Ẇ|, law of the product",
        yscale="log",
        xlim=(0, 15),
        ylim=(1e-16, 1e6),
    ),
    across=2,
    legend="inside",
    of=lambda ds: ds.sel(time=slice(0, 30)),
    names={"depth": "N", "mode": {i: f"s = {s:g}" for i, s in enumerate(STRENGTHS)}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Escape times, order, steps; no law without balance; the same minimum."""
    rows = []
    for depth in ds["depth"].values.tolist():
        of = at(ds, "depth", depth)
        small, name = at(of, "start", "small"), f"N = {depth}, small start"
        if depth == 1:
            rows += one_matrix(small, name)
            continue
        gap = at(of, "start", "unbalanced")["end_to_end"].sel(law="velocity")
        text = f"N = {depth}, unbalanced start (control): |Ẇ + ψ(∇)|/|Ẇ| at its most"
        rows += [
            *layers(small, depth, name),
            smallest_of(
                f"{text}, least member", gap.max("time"), (0.05, np.inf), "ours"
            ),
        ]
    end = np.sqrt(2 * ds["train_loss"].isel(time=-1))
    text = "every start and depth: |W − M| at the end, M that of the linear model"
    return [*rows, largest_of(f"{text}, largest", end, (0, 1e-6), ARORA)]
