"""Deep linear networks: modes in order of size, and the law of the product alone.

W = W_N ⋯ W_1 learns a matrix of singular values 4, 2, 1 on white inputs.  From a small
start every mode waits and then is learned at once, the largest first, so that the
effective rank rises in steps; one matrix learns all at one rate.  From layers that are
balanced, W_{j+1}ᵀ W_{j+1} = W_j W_jᵀ, the product moves by a law of its own,
Ẇ = −Σⱼ (WWᵀ)^{(j−1)/N} ∇ (WᵀW)^{(N−j)/N}: gradient flow in another metric, to the same
minimum.  Without balance there is no such law: the control.

Reference: Saxe, McClelland & Ganguli (2014), arXiv:1312.6120; Arora, Cohen & Hazan
(2018), arXiv:1802.06509; the sizes are ours.
"""

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.linear.linear_modes import linear_modes
from simbias.errors import BadInput
from simbias.experiments.linear._deep_linear import (
    STRENGTHS,
    Start,
    started,
)
from simbias.experiments.linear._deep_linear_claims import (
    chosen,
    levels,
    modes,
    same_minimum,
    steps,
    without_balance,
)
from simbias.figures.band import band
from simbias.figures.laws import law_level, law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.gradient_flow import PRECISE, GradientFlow
from simbias.losses import half_mse
from simbias.measures.linear.early_strengths import EarlyStrengths
from simbias.measures.linear.effective_rank import EffectiveRank
from simbias.measures.linear.end_to_end_error import EndToEndError
from simbias.measures.linear.mode_strengths import ModeStrengths
from simbias.measures.risk.train_loss import TrainLoss
from simbias.presets import presets
from simbias.stops.train_risk_below import TrainRiskBelow
from simbias.theory.mode_strength import mode_strength

# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 30.0
AXES = ("start", "depth")


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

    More inputs than outputs: of a square product the sign of the determinant stays.

    Args:
        key: random key.
        start: see `started`.
        depth: N, number of matrices, 1 to 4.
        n: samples, d or more.
        d: inputs, three or more.
        m: width of the hidden layers, three or more if there are any.
        scale: of the initial product, times the size that belongs to its start.

    Raises:
        ValueError: for a name that is not known, or a size or number out of range.
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
        # Nothing moves any more, and what is relative would be of rounding.
        stop=TrainRiskBelow(1e-20),
    ),
    smoke={"cell": {"depth": 2}, "seeds": 3, "times": _FINE},
    paper={"cell": {"m": 100}, "seeds": 100},
)


def figure(ds: xr.Dataset) -> Figure:
    """Modes of two starts, effective rank, and the law of the product."""
    depths = [int(v) for v in ds["depth"].values]
    with style():
        whole = blank(9.6, 6.8)
        (small, aligned), (rank, law) = whole.subplots(2, 2)
        for axes, start, depth in (
            (small, "small", min(depths, key=lambda v: abs(v - 2))),
            (aligned, "aligned", max(depths)),
        ):
            _draw_modes(axes, ds, start, depth)
        for i, depth in enumerate(depths):
            part, label = chosen(ds, "small", depth), f"N = {depth}"
            if part is not None:
                band(rank, part["time"], part["effective_rank"], colour=COLOURS[i])
                rank.lines[-1].set_label(label)
            for start, line in (("balanced", "-"), ("unbalanced", "--")):
                part = chosen(ds, start, depth)
                if part is not None and depth > 1:
                    seen = part["end_to_end"].sel(law="velocity")
                    text = f"{start}, {label}"
                    band(law, part["time"], seen, line, colour=COLOURS[i], label=text)
        for level in levels():
            law_level(rank, level)
        rank.set_title("effective rank, small start; dotted: 1, 2, 3 modes")
        rank.set_ylim(0.9, 3.1)
        law.set_yscale("log")
        law.set_ylim(1e-16, 1e6)
        law.set_title("|Ẇ + ψ(∇)|/|Ẇ|, law of the product")
        law.legend(ncols=2, loc="upper right")
        rank.legend(loc="lower right", ncols=2)
        for axes in (small, aligned, rank, law):
            axes.set_xlim(0, 30 if axes is not law else 15)
            axes.set_xlabel("time")
    return whole


def _draw_modes(axes: Axes, ds: xr.Dataset, start: str, depth: int) -> None:
    part = chosen(ds, start, depth)
    if part is None:
        return
    for i, s in enumerate(STRENGTHS):
        seen = part["strengths"].isel(mode=i)
        band(axes, part["time"], seen, colour=COLOURS[i], label=f"s = {s:g}")
        first = part["early_strengths"].isel(mode=i, time=0)
        middle = first.median().item()
        if float(first.min()) > 0 and middle < s:
            law = mode_strength(part["time"].values, middle, s, depth)
            law_line(axes, part["time"], law, colour="black")
    axes.set_title(f"mode strengths, {start} start, N = {depth}; dashed: law")
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.9))


def claims(ds: xr.Dataset) -> list[Claim]:
    """Escape, order, steps; no law of the product without balance; one minimum."""
    out = []
    for depth in (int(v) for v in ds["depth"].values):
        for kind in (modes, steps, without_balance):
            out += kind(ds, depth)
    return [*out, same_minimum(ds)]
