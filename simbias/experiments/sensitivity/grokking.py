"""Grokking: sums modulo p are memorised, later generalised; sensitivity falls then.

A transformer of one layer learns a + b modulo p from a part of all pairs (a, b).  It
soon fits these pairs.  Only after many more steps is it right on the other pairs, the
test set.  Gaussian noise is added to the embeddings of a and b.  The sensitivity is the
share of training pairs for which the predicted class then changes.  In the paper the
sensitivity falls while the test accuracy rises.

The published network has no layer normalisation.  With layer normalisation the outputs
do not depend on the size of the embeddings.  Weight decay then shrinks the embeddings,
and noise of a fixed size becomes relatively larger.  So there are networks with and
without it, and noise of a fixed size and noise relative to the embeddings.

Control: without weight decay the sample is fitted equally well, and nothing more
happens in the same time.

Reference: Vasudeva, Fu, Zhou, Kau, Huang & Sharan (2024), arXiv:2403.06925, where p =
113, and Power et al. (2022), arXiv:2201.02177; the sizes of the preset `quick` are
ours, those of `paper` are theirs.
"""

import math

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.first_passage import first_passage
from simbias.claims import Claims, difference_of, largest_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.datasets import modular_sums
from simbias.experiment_presets import presets
from simbias.experiments._at_times import at_times
from simbias.experiments._times import rate_of, step_times
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import ClassAccuracy, EmbeddingSensitivity
from simbias.networks import patch_transformer

DECAY = "flow.weight_decay"
AXES = (DECAY, "has_norm")
PAPER = "Vasudeva et al. (2024), arXiv:2403.06925"
NORMED = f"{PAPER}, asked with layer norm, which its network does not have"
POWER = "Power et al. (2022), arXiv:2201.02177"
RATE, STEPS = 3e-3, 2000
NORMS = {False: "no layer norm", True: "layer norm"}
KINDS = {"sensitivity": "noise 0.1", "relative": "relative noise ½"}
# Accuracies from which on pairs count as learned: training pairs, and test pairs.
FITTED, UNDERSTOOD = 0.99, 0.95


def make(
    key: PRNGKeyArray,
    *,
    p: int = 29,
    n: int = 500,
    width: int = 48,
    feed_forward: int = 192,
    heads: int = 2,
    has_norm: bool = True,
    has_skips: bool = True,
) -> tuple[Dataset, AbstractNetwork]:
    """N of the p² pairs, `modular_sums`, and a transformer of one layer.

    Args:
        key: random key of the pairs and of the initial weights.
        p: the modulus.
        n: training pairs, fewer than p².
        width: entries of a state.
        feed_forward: neurons after the attention.
        heads: heads of the attention, a divisor of the width.
        has_norm: whether layer normalisation precedes each part and the read-out.
        has_skips: whether attention and neurons are added to their inputs.

    Raises:
        ValueError: for a size that is no positive integer, or too many pairs.
    """
    key_pairs, key_network = jax.random.split(key)
    data = modular_sums(key_pairs, p=p, n=n)
    network = patch_transformer(
        key_network,
        image=(1, 2, p),
        patch=(1, p),
        k=p,
        width=width,
        depth=1,
        heads=heads,
        feed_forward=feed_forward,
        has_norm=has_norm,
        has_skips=has_skips,
    )
    return data, network


experiment = presets(
    Experiment(
        name="grokking",
        make=make,
        cell={DECAY: (2.0, 0.0), "has_norm": (False, True)},
        seeds=6,
        shared=("has_norm",),
        flow=Descent(optimiser="adamw", rate=RATE, beta2=0.98, weight_decay=2.0),
        loss=cross_entropy,
        times=step_times(RATE, STEPS, 50),
        measures={
            "sensitivity": EmbeddingSensitivity(),
            "relative": EmbeddingSensitivity(0.5, is_relative=True),
            "accuracy": ClassAccuracy(),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {"p": 5, "n": 15, "width": 8, "feed_forward": 8},
        "times": step_times(RATE, 200, 100),
    },
    paper={
        "cell": {
            DECAY: (1.0, 0.0),
            "flow.rate": 1e-3,
            "p": 113,
            "n": 3831,
            "width": 128,
            "feed_forward": 512,
            "heads": 4,
            "has_norm": False,
            "has_skips": False,
        },
        "flow": Descent(optimiser="adamw", rate=1e-3, weight_decay=1.0),
        "times": step_times(1e-3, 20_000, 200),
    },
)


def sensitivities(part: xr.Dataset) -> xr.DataArray:
    """Both sensitivities, over `noise`."""
    noise = xr.DataArray(["noise 0.1", "noise ½ of the embeddings' size"], dims="noise")
    return xr.concat([part["sensitivity"], part["relative"]], noise)


def cases(ds: xr.Dataset) -> xr.Dataset:
    """Networks with and without layer norm, with and without decay, side by side."""
    ds = ds.sortby("has_norm").sortby(DECAY, ascending=False)
    ds = ds.stack(case=("has_norm", DECAY))
    names = [f"{NORMS[bool(v)]}, decay {w:g}" for v, w in ds["case"].values]
    return ds.drop_vars(["case", "has_norm", DECAY]).assign_coords(case=names)


figure = Panels(
    Curves("accuracy", colour="sample", ylabel="accuracy", ylim=(0, 1.03)),
    Curves(
        sensitivities,
        colour="noise",
        first_colour=2,
        ylabel="sensitivity: share of pairs\nwhose class changes",
    ),
    columns="case",
    of=cases,
    x=lambda part: part["time"] / rate_of(part, RATE),
    xlabel="steps of AdamW",
    names={"sample": {"train": "trained on", "test": "test pairs"}},
    size=(5.4, 3.4),
)


def moments(part: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Times at which the sample is fitted and the test accuracy follows, or NaN."""
    accuracy = part["accuracy"]
    fitted = first_passage(accuracy.sel(sample="train", drop=True), FITTED)
    return fitted, first_passage(accuracy.sel(sample="test", drop=True), UNDERSTOOD)


def _or_never(when: xr.DataArray, part: xr.Dataset) -> xr.DataArray:
    """Infinite, not NaN, for a network with a result that never reaches the level."""
    is_known = part["accuracy"].isel(time=-1, sample=0, drop=True).notnull()
    return when.fillna(np.inf).where(is_known)


def since_fitted(part: xr.Dataset, name: str) -> xr.DataArray:
    """A measure over time, NaN before the sample is fitted."""
    return part[name].where(part["time"] >= moments(part)[0])


def fall(part: xr.Dataset, name: str) -> xr.DataArray:
    """Sensitivity when the sample is first fitted, minus that at the end; by seed."""
    first = at_times(part[name], moments(part)[0])
    return first - part[name].isel(time=-1, drop=True)


def fallen(part: xr.Dataset, name: str) -> xr.DataArray:
    """Time at which the sensitivity has fallen to half since fitting; NaN if never."""
    first = at_times(part[name], moments(part)[0])
    return first_passage(1 - since_fitted(part, name) / first, 0.5)


def together(part: xr.Dataset, name: str) -> xr.DataArray:
    """Correlation of a sensitivity with the test accuracy, after fitting."""
    accuracy = part["accuracy"].sel(sample="test", drop=True)
    return xr.corr(since_fitted(part, name), accuracy, dim="time")


def claims(ds: xr.Dataset) -> list[Claim]:
    """Claims for networks without layer normalisation, as published, and with it."""
    steps = float(ds["time"][-1]) / rate_of(ds, RATE)
    enough = {f"{STEPS} steps": steps >= STEPS - 0.5}
    out = []
    for has_norm in sorted(ds["has_norm"].values):
        part = ds.sel(has_norm=has_norm)
        rows = [*_with_decay(part, bool(has_norm)), *_without_decay(part)]
        out += Claims(enough, NORMS[bool(has_norm)]).rows(*rows)
    return out


def _with_decay(ds: xr.Dataset, has_norm: bool) -> list[Claim]:
    """Fitted early, generalises late; the sensitivity falls meanwhile."""
    out, decay = [], float(ds[DECAY].max())
    if decay == 0:
        return out
    most = ds.sel({DECAY: decay}, drop=True)
    text, paper = f"weight decay {decay:g}", NORMED if has_norm else PAPER
    fitted, understood = moments(most)
    understood = _or_never(understood, most)
    gap = xr.ufuncs.log(understood / fitted)
    said = f"{text}: ln(steps until test accuracy {UNDERSTOOD:.0%} / "
    said += f"steps until train accuracy {FITTED:.0%})"
    out.append(mean_of(said, gap, (math.log(2), np.inf), f"{POWER}; twice: ours"))
    for name, noise in KINDS.items():
        source = paper if name == "sensitivity" else f"{paper}; unit of noise: ours"
        said = f"{text}, {noise}: S when the sample is fitted less S at the end"
        out.append(mean_of(said, fall(most, name), (0, 1), source))
        said = f"{text}, {noise}: correlation of S with the test accuracy, once the "
        said += "sample is fitted"
        both, near = together(most, name), f"{source}; ½ ours"
        out.append(mean_of(said, both, (-1, -0.5), near, within=(-1, 1)))
        said = f"{text}, {noise}: ln(steps until test accuracy {UNDERSTOOD:.0%} / "
        said += "steps until S has halved)"
        with np.errstate(divide="ignore", invalid="ignore"):  # never, or neither
            halved = _or_never(fallen(most, name), most)
            ahead = xr.ufuncs.log(understood / halved)
        out.append(mean_of(said, ahead, (0, np.inf), source))
    return out


def _without_decay(ds: xr.Dataset) -> list[Claim]:
    """The control: fitted equally well, and no generalisation."""
    out, decays = [], ds[DECAY].values
    if decays.min() > 0:
        return out
    none = ds.sel({DECAY: 0.0}, drop=True)
    accuracy, text = none["accuracy"].isel(time=-1), "control, no weight decay"
    said = f"{text}: train accuracy at the end, least"
    fit = accuracy.sel(sample="train")
    out.append(smallest_of(said, fit, (FITTED, 1), "ours: it is fitted alike"))
    said = f"{text}: test accuracy at the end, largest"
    unseen = accuracy.sel(sample="test")
    out.append(largest_of(said, unseen, (0, UNDERSTOOD), "ours: nothing is understood"))
    if decays.max() > 0:
        most = ds.sel({DECAY: decays.max()}, drop=True)
        for name, noise in KINDS.items():
            said = f"{noise}: fall of S with weight decay less that without"
            both = fall(most, name), fall(none, name)
            out.append(difference_of(said, both[0], both[1], (0, 1), "ours"))
    return out
