"""Weight decay: interpolation first, then a slow fall of the norm.

The flow of L + (μ/2)‖θ‖² from a start of order one.  Boursier, Pesme & Dragomir show,
for smooth L and μ → 0, that it follows the flow of L to critical points of L, and then,
at times τ/μ, the Riemannian gradient flow of the norm on the manifold of these points.
On the slow clock τ = μt the trajectories of all small μ are then the same.  For ReLU
networks the paper has experiments.  Here the exact flow is compared with itself at a
smaller μ.  The teacher is linear and without noise.

Predictions, before any run:
    slow clock           sup over 0.1 ≤ τ ≤ 3.2 of ‖θ_μ(τ/μ) − θ_ref(τ/μ_ref)‖ is
                         proportional to μ: the network is O(μ) from the manifold
    slow phase           the sample stays fitted, the norm falls by more than half, and
                         so does the excess risk by at least a fifth
    control, one neuron  its critical points are isolated: the excess risk stays

The last one was wrong: of 10 samples a neuron is active on fewer than d = 5, most
often, and then its critical points are not isolated.  So there is a second control,
predicted before its own run: one neuron and 40 samples, `--preset control`.

Reference: Boursier, Pesme & Dragomir (2025), arXiv:2505.20172.  The rate and the bands
are ours.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.slope_along import slope_along
from simbias.claims import Claims, largest_of, median_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.figures import Curves, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import ExcessRisk, NeuronWeights, ParameterNorm, TrainLoss
from simbias.networks.two_layer_init import balanced

AXES = ("m", "flow.weight_decay")
DECAY = "flow.weight_decay"
PAPER = "Boursier et al. (2025), arXiv:2505.20172, for smooth L; band ours"
OURS = "derived: a single neuron has isolated critical points; band ours"
# Four records in a decade, of the flow's clock and of the slow one.
SLOW = tuple(10 ** (k / 4) for k in range(-4, 3))
_TIMES = tuple(10 ** (k / 4) for k in range(2, 17))
_DECAYS = tuple(10 ** (k / 2) for k in range(-3, -8, -1))


def make(
    key: PRNGKeyArray,
    *,
    m: int = 40,
    n: int = 10,
    d: int = 5,
    scale: Real = 2.0,
    n_test: int = 1000,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher without noise, and a two-layer ReLU network without biases.

    Args:
        key: random key.
        m: neurons.
        n: training samples.
        d: entries of an input.
        scale: factor λ of the initial weights.
        n_test: samples of the test set.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=0.0, n_test=n_test)
    return data, balanced(key_network, m=m, d=d, scale=scale)


experiment = presets(
    Experiment(
        name="norm_drift",
        make=make,
        cell={"m": (1, 40), DECAY: _DECAYS},
        seeds=20,
        shared=("m",),
        flow=ReluFlow(rtol=1e-6, weight_decay=_DECAYS[0]),
        loss=half_mse,
        times=(0.0, *_TIMES),
        measures={
            "weights": NeuronWeights(),
            "norm": ParameterNorm(),
            "excess_risk": ExcessRisk(),
            "train_loss": TrainLoss(),
        },
    ),
    smoke={
        "cell": {"m": (1, 6), "n": 4, "d": 2, "n_test": 50, DECAY: (0.1, 0.01)},
        "seeds": 2,
        "times": (0.0, *(10 ** (k / 4) for k in range(0, 11))),
    },
    paper={"cell": {"m": (1, 40, 160)}, "seeds": 100},
    control={"cell": {"m": 1, "n": 40}},
)


def slow(ds: xr.Dataset) -> xr.Dataset:
    """The result at times τ/μ, over μ (increasing) and τ; NaN where it has none."""
    parts = []
    for decay in np.sort(ds[DECAY].values):
        part, times = at(ds, DECAY, decay), np.asarray(SLOW) / decay
        apart = np.abs(ds["time"].values[None, :] / times[:, None] - 1)
        part = part.isel(time=xr.DataArray(np.argmin(apart, axis=1), dims="tau"))
        is_one = xr.DataArray(np.min(apart, axis=1) < 0.01, dims="tau")
        parts.append(part.drop_vars("time").where(is_one))
    out = xr.concat(parts, DECAY, coords="minimal", compat="override")
    return out.assign_coords(tau=list(SLOW))


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """On the slow clock: distances to the least μ, and what is left at the end.

    `distance` is the largest over τ, relative to the norm of the reference at τ = 0.1.
    """
    seen = slow(ds)
    size = lambda v: (v**2).sum(("neuron", "weight")) ** 0.5
    reference = seen["weights"].isel({DECAY: 0}, drop=True)
    both = seen["norm"] + seen["norm"].isel({DECAY: 0}, drop=True)
    is_known = both.notnull().all("tau")
    apart = size(seen["weights"] - reference) / size(reference.isel(tau=0))
    apart = apart.where(is_known).isel({DECAY: slice(1, None)})
    left = lambda name: seen[name].isel(tau=-1) / seen[name].isel(tau=0)
    return seen.assign(
        apart=apart,
        distance=apart.max("tau"),
        norm_left=left("norm").isel({DECAY: 0}),
        risk_left=left("excess_risk").isel({DECAY: 0}),
        unfitted=(seen["train_loss"].max("tau") / ds["train_loss"].isel(time=0)).isel(
            {DECAY: 0}
        ),
    )


def _over_tau(name: str, ylabel: str) -> Curves:
    """Of the widest networks, on the slow clock."""
    return Curves(
        lambda ds: at(ds[name], "m", max),
        x="tau",
        colour=DECAY,
        spread="none",
        xscale="log",
        yscale="log",
        xlabel="τ = μt",
        ylabel=ylabel,
    )


figure = Panels(
    Curves(
        lambda ds: at(ds["distance"], "m", max),
        x=DECAY,
        spread="each",
        mark="o",
        xscale="log",
        yscale="log",
        xlabel="weight decay μ",
        ylabel="largest distance",
    ),
    _over_tau("apart", "distance to the least μ"),
    _over_tau("norm", "½‖θ‖²"),
    _over_tau("excess_risk", "excess risk"),
    of=numbers,
    across=2,
    names={DECAY: {v: f"μ = {v:.1e}" for v in _DECAYS}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The rate at which the slow clocks agree, the slow phase, and the control."""
    seen = numbers(ds)
    wide, one = at(seen, "m", max), at(seen, "m", 1)
    least = float(ds[DECAY].min())
    far = wide["distance"].where(wide[DECAY] >= 10 * least * 0.99, drop=True)
    log = xr.ufuncs.log(far)
    rate = slope_along(log, xr.ufuncs.log(far[DECAY]), DECAY)
    falls = (far.isel({DECAY: 0}) < far.isel({DECAY: -1})).where(rate.notnull())
    given = {"40 neurons or more": int(ds["m"].max()) >= 40, "μ ≤ 1e-3": least <= 1e-3}
    text = "excess risk at τ = 3.2 over that at τ = 0.1"
    control = median_of(
        f"control, one neuron: {text}", one["risk_left"], (0.95, 1.05), OURS
    )
    if int(ds["m"].max()) == 1:
        return Claims({"μ ≤ 1e-3": least <= 1e-3}).rows(control)
    return Claims(given).rows(
        median_of("exponent of the distance in μ", rate, (0.7, 1.3), PAPER),
        share_of("networks whose distance falls with μ", falls, (0.9, 1), PAPER),
        largest_of(
            "loss in the slow phase over the first", wide["unfitted"], (0, 1e-3), PAPER
        ),
        median_of(
            "‖θ‖² at τ = 3.2 over that at τ = 0.1", wide["norm_left"], (0, 0.5), PAPER
        ),
        median_of(text, wide["risk_left"], (0, 0.8), PAPER),
        control,
    )
