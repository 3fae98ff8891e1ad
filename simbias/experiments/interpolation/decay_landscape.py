"""Weight decay on orthogonal samples: spurious limits until the width is about 2ⁿ.

Boursier et al. study L + (μ/2)‖θ‖² for two-layer ReLU networks.  Their abstract says
that with m ≳ min(nᵈ, 2ⁿ) neurons almost all activation regions contain a global minimum
and no spurious one, that this width is necessary on orthogonal data, and that a small
start can still end at spurious minima.

Here n samples are orthogonal, xᵢ = √d eᵢ, with labels between ½ and 3/2.  A neuron with
a > 0 that is active on a sample stays so while its residual is negative, and one that
is inactive stays so for ever.  The best network has one neuron, active on all samples.
Of several kept groups a larger one pulls more, so that groups inside it vanish.  Hence
a network ends at the best one if one of its m neurons has a > 0 and starts active on
all samples.  Signs are independent, so that

    share of spurious limits = (1 − 2^{−n−1})^m,

half of the networks at m = 2 ln 2 · 2ⁿ.  The initial scale λ is not in it, as long as
no residual changes its sign.

Predictions, before any run:
    the law         holds for λ = 1e-3 and 0.3: |share − law| < 0.05, mean over m, n
    few neurons     m = 2ⁿ/2: more than half of the limits are spurious
    many neurons    control, m = 8 · 2ⁿ: at most a tenth, for both λ
    scaling         the width with half of the limits spurious is ∝ 2ⁿ
    a small start   is no worse on these data: |share(1e-3) − share(0.3)| < 0.05

Reference: Boursier, Bowditch, Englert & Lazić (2025), arXiv:2505.22578, abstract.  The
law is ours.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, mean_of, share_of, slope_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._best import first_neurons, gaps, spurious_shares
from simbias.figures import Law, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import ParameterNorm, TrainLoss
from simbias.stops import Stationary

AXES = ("n", "ratio", "scale")
PAPER = "Boursier et al. (2025), arXiv:2505.22578, abstract; band ours"
OURS = "derived: a positive neuron must start active on all samples; band ours"
SMALL, MIDDLE = 1e-3, 0.3


def make(
    key: PRNGKeyArray,
    *,
    n: Index = 4,
    ratio: Real = 2.0,
    scale: Real = MIDDLE,
    d: int = 4,
    width: int = 128,
) -> tuple[Dataset, AbstractNetwork]:
    """Orthogonal samples with positive labels, and a balanced two-layer ReLU network.

    Args:
        key: random key.
        n: samples, at most d.
        ratio: neurons over 2ⁿ.
        scale: factor λ of the initial weights.
        d: entries of an input.
        width: most neurons there is room for.
    """
    key_y, key_network = jax.random.split(key)
    y = jax.random.uniform(key_y, (d, 1), jnp.float64, 0.5, 1.5)
    is_sample = (jnp.arange(d) < n).astype(jnp.float64)
    x = d**0.5 * jnp.eye(d, dtype=jnp.float64)
    m = jnp.round(ratio * 2.0 ** jnp.asarray(n, jnp.float64))
    network = first_neurons(key_network, m=m, width=width, d=d, scale=scale)
    return Dataset(x, y, is_sample, y), network


experiment = presets(
    Experiment(
        name="decay_landscape",
        make=make,
        cell={
            "n": (2, 3, 4),
            "ratio": (0.5, 1.0, 2.0, 8.0),
            "scale": (SMALL, MIDDLE),
        },
        seeds=20,
        shared=AXES,
        flow=ReluFlow(rtol=1e-5, weight_decay=0.1),
        loss=half_mse,
        times=log_times(10.0, 1000.0, 40),
        measures={"train_loss": TrainLoss(), "norm": ParameterNorm()},
        stop=Stationary(),
    ),
    smoke={
        "cell": {
            "n": (2, 3),
            "ratio": (0.5, 2.0),
            "scale": MIDDLE,
            "d": 3,
            "width": 16,
        },
        "seeds": 4,
        "times": log_times(10.0, 1000.0, 20),
    },
    paper={"cell": {"n": tuple(range(4, 11)), "d": 10, "width": 8192}, "seeds": 100},
)


def seen(ds: xr.Dataset) -> xr.Dataset:
    """Gaps, and the law beside them."""
    found = gaps(ds, experiment(), ("n",))
    m = np.round(ds["ratio"] * 2.0 ** ds["n"])
    return found.assign(law=(1 - 2.0 ** (-ds["n"] - 1)) ** m)


_law = Law(lambda ds: ds["law"], "law")
figure = Panels(
    *(
        spurious_shares(scale, x="ratio", colour="n", laws=(_law,), xlabel="m/2ⁿ")
        for scale in (SMALL, MIDDLE)
    ),
    of=seen,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The law, both ends of the width, its scaling, and the initial scale."""
    found = seen(ds)
    cells = ("n", "ratio")
    rest = (found["spurious"] - found["law"]).mean(cells)
    rows = []
    for scale in (SMALL, MIDDLE):
        text = f"λ = {scale:g}: share of spurious limits − law, mean over n and m"
        rows.append(mean_of(text, at(rest, "scale", scale), (-0.05, 0.05), OURS))
    few, many = (at(found["spurious"], "ratio", v) for v in (0.5, 8.0))
    half = at(found["spurious"], "scale", MIDDLE).mean("seed")
    at_half = np.log([_half(half.sel(n=n)) for n in ds["n"].values])
    kept = np.isfinite(at_half)
    return [
        *rows,
        share_of(
            "m = 2ⁿ/2: share of spurious limits, all n and λ",
            *(few, (0.5, 1), PAPER),
            pooled=("n", "scale"),
        ),
        share_of(
            "control, m = 8·2ⁿ: share of spurious limits, all n and λ",
            *(many, (0, 0.1), PAPER),
            pooled=("n", "scale"),
        ),
        *Claims(needs={"three values of n": bool(kept.sum() > 2)}).rows(
            slope_of(
                "slope of ln(width with half of the limits spurious) in n ln 2",
                *(ds["n"].values[kept] * np.log(2), at_half[kept]),
                *((0.8, 1.2), PAPER),
            )
        ),
        difference_of(
            "share of spurious limits, λ = 0.001 less λ = 0.3, mean over n and m",
            at(rest, "scale", SMALL),
            at(rest, "scale", MIDDLE),
            (-0.05, 0.05),
            OURS,
        ),
        share_of(
            "limits that are proven",
            *(found["known"], (0.9, 1), "ours"),
            pooled=AXES,
        ),
    ]


def _half(share: xr.DataArray) -> float:
    """Width at which a share that falls passes ½, between two ratios; or NaN."""
    ratio, value = np.log(share["ratio"].values), share.values
    below = np.flatnonzero((value[:-1] >= 0.5) & (value[1:] < 0.5))
    if below.size == 0:
        return np.nan
    i = int(below[0])
    part = (value[i] - 0.5) / (value[i] - value[i + 1])
    return float(2.0 ** share["n"]) * np.exp(
        ratio[i] + part * (ratio[i + 1] - ratio[i])
    )
