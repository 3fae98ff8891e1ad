"""Sample influence: which sample decides whether a training set is interpolated.

A network is trained on n samples, and from the same start on every n − 1 of them.  To
first order the end without sample i follows from one trajectory: it is the derivative
of the end in the weight of sample i (`simbias.derivative`, through all crossings and
slides of ReLU neurons).  The *gain* of sample i is by how much the loss of the other
samples is lower without it, per sample; the sample of the largest gain decides.

Leaving out is no small perturbation: the weight of a sample goes from 1 to 0, and
neurons may then align elsewhere.  So it is open how often the derivative is right.
There are three predictions.  The change of the output at the sample that is left out
has the order, over samples, that the derivative says.  The derivative names the sample
that decides in more than half of the training sets.  Where leaving out one sample makes
the others interpolated, it names such a sample in more than half of the training sets.

Controls: the next sample, and the largest residual, which needs no derivative.

Reference: Cook (1977), doi:10.2307/1268249, and Koh & Liang (2017), arXiv:1703.04730,
influence functions at a minimum; here the derivative is that of the trajectory.
"""

import dataclasses
import hashlib
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float, PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.spearman import spearman
from simbias.claims import Claims, difference_of, mean_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.experiment_presets import presets
from simbias.experiments._draws import starts
from simbias.experiments._noisy_teacher import noisy_teacher
from simbias.figures import Estimates, Law, Panels, Points, means
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import OutputsAndTargets, TrainRisk
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import is_finished
from simbias.verbs.derivative import derivative

AXES = ("leave",)
END = 100.0
# Interpolated: mean squared error of the samples below this share of σ².
INTERPOLATED = 0.01
OURS = "ours, written before the run"


def make(
    key: PRNGKeyArray,
    *,
    leave: Index = 0,
    n: int = 8,
    d: int = 2,
    m: int = 12,
    sigma: Real = 0.5,
    scale: Real = 0.1,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise; one sample may have the weight 0.

    Args:
        key: random key.
        leave: number of the sample that is left out, from 1 on; 0 for none.
        n: samples.
        d: entries of an input.
        m: neurons.
        sigma: standard deviation of the noise of the targets.
        scale: scale of the initial weights.
    """
    data, network = noisy_teacher(
        key, n=n, d=d, m=m, sigma=sigma, scale=scale, n_test=1
    )
    weight = jnp.where(jnp.arange(1, n + 1) == leave, 0.0, data.weight)
    everything = dataclasses.replace(data, test=None, others={})
    data = dataclasses.replace(data, weight=weight, others={"grid": everything})
    return data, network


experiment = presets(
    Experiment(
        name="sample_influence",
        make=make,
        cell={"leave": tuple(range(9))},
        seeds=200,
        shared=("leave",),
        flow=ReluFlow(rtol=1e-6),
        loss=half_mse,
        times=(0.0, END),
        measures={"train_risk": TrainRisk()},
        final={"outputs": OutputsAndTargets()},
    ),
    smoke={"cell": {"n": 4, "m": 4, "leave": tuple(range(5))}, "seeds": 2},
    paper={"cell": {"n": 20, "m": 50, "leave": tuple(range(21))}, "seeds": 200},
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Gains and outputs without each sample, by running and by the derivative.

    Over seeds and `sample`: `gain` and `named`, the actual and the first-order gain;
    `moved` and `said`, the change of the output at the sample that is left out;
    `residual`, its size with all samples; `fits`, whether the others are interpolated.
    """
    full = at(ds, "leave", 0)
    found = _tangents(full)
    one = ds.sel(leave=ds["leave"] > 0).rename(leave="sample")
    outputs = one["outputs"].sel(curve="network", drop=True)
    y = full["outputs"].sel(curve="target", drop=True)
    f = full["outputs"].sel(curve="network", drop=True)
    number = xr.DataArray(np.arange(1, f.sizes["point"] + 1), dims="point")
    is_own = number == one["sample"]
    rest = lambda v: (v**2).where(~is_own).mean("point")
    own = lambda v: v.where(is_own).sum("point", min_count=1)
    before, predicted = rest(f - y), rest(f + found - y)
    after = rest(outputs - y)
    values = {
        "gain": before - after,
        "named": before - predicted,
        "moved": own(outputs - f),
        "said": own(found),
        "residual": own(abs(f - y) + 0 * found),
        "fits": (after < INTERPOLATED * ds["sigma"] ** 2).astype(float),
        "fitted": (
            full["train_risk"].isel(time=-1) < INTERPOLATED * ds["sigma"] ** 2
        ).astype(float),
    }
    is_known = is_finished(one).all("sample") & found.notnull().all(["sample", "point"])
    return xr.Dataset({k: v.where(is_known) for k, v in values.items()})


_KNOWN: dict[bytes, Float[np.ndarray, "n n"]] = {}


def _tangents(full: xr.Dataset) -> xr.DataArray:
    """df(xⱼ) to first order, without each sample; NaN where there is no derivative."""
    every = xr.ones_like(full["seed"], bool)
    rows = [
        _of_member(data, net) for *_, data, net in starts(full, experiment(), every)
    ]
    count = range(1, len(rows[0]) + 1)
    coords = {"seed": full["seed"].values, "sample": [*count]}
    return xr.DataArray(np.stack(rows), coords, ("seed", "sample", "point"))


def _of_member(data: Dataset, network: Any) -> Float[np.ndarray, "n n"]:
    leaves = jax.tree.leaves(eqx.filter((data, network), eqx.is_array))
    key = hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in leaves))
    if key.digest() not in _KNOWN:
        with exact_numerics():
            leave = -jnp.eye(len(data.x))
            found = derivative(network, data, half_mse, END, weight=leave, rtol=1e-7)
            outputs = lambda net: jax.vmap(net)(data.x)[:, 0]
            push = lambda v: jax.jvp(outputs, (found.network,), (v,))[1]
            _KNOWN[key.digest()] = np.asarray(jax.vmap(push)(found.tangent))
    return _KNOWN[key.digest()]


def _equal(part: xr.Dataset) -> xr.DataArray:
    """The diagonal, over the range of what is said."""
    ends = np.linspace(float(part["said"].min()), float(part["said"].max()), 2)
    return xr.DataArray(ends, {"said": ends}, ("said",))


def shares(ds: xr.Dataset) -> xr.Dataset:
    """Whether the deciding sample is named: by the derivative, the residual, the next.

    `decides` over seeds and `rule`: the sample of largest gain.  `opens`: any sample
    without which the others are interpolated, where the whole is not and one exists.
    """
    gain, fits = ds["gain"], ds["fits"] > 0
    named = ds["named"].fillna(-np.inf).argmax("sample")
    rules = {
        "derivative": named,
        "residual": ds["residual"].fillna(-np.inf).argmax("sample"),
        "next": (named + 1) % ds.sizes["sample"],
    }
    rule = xr.concat(list(rules.values()), xr.Variable("rule", list(rules)))
    is_known = gain.notnull().all("sample")
    best = gain.fillna(-np.inf).argmax("sample")
    is_open = is_known & fits.any("sample") & (ds["fitted"] == 0)
    opens = fits.isel(sample=rule)
    return xr.Dataset(
        {
            "decides": (rule == best).astype(float).where(is_known),
            "opens": opens.astype(float).where(is_open),
            "chance": fits.mean("sample").where(is_open),
        }
    )


figure = Panels(
    Points(
        "moved",
        x="said",
        xlabel="by the derivative",
        ylabel="by running",
        title="change of f(xᵢ) without sample i",
        laws=(Law(_equal, "equal"),),
    ),
    Points(
        "gain",
        x="named",
        xlabel="by the derivative",
        ylabel="by running",
        title="gain of the others",
        xscale={"value": "symlog", "linthresh": 1e-2},
        yscale={"value": "symlog", "linthresh": 1e-2},
    ),
    Estimates(
        lambda ds: means(shares(ds)["decides"]),
        x=lambda ds: shares(ds)["rule"],
        xlabel="",
        ylim=(0, 1),
        title="share of sets whose deciding sample is named",
    ),
    of=numbers,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Order of the changes, the sample that decides, and both controls."""
    seen = numbers(ds)
    found, is_known = shares(seen), seen["gain"].notnull().all("sample")
    order = xr.apply_ufunc(
        spearman,
        seen["said"],
        seen["moved"],
        input_core_dims=[["sample"], ["sample"]],
        vectorize=True,
    ).where(is_known)
    by = lambda name, rule: found[name].sel(rule=rule, drop=True)
    decides, opens = "names the sample that decides", "names a sample that opens"
    size = 1 / seen.sizes["sample"]
    text = "derivative less residual: share that names the sample that decides"
    return Claims({"seeds with a derivative": bool(is_known.any())}).rows(
        share_of("training sets with a derivative", is_known, (0.9, 1), OURS),
        mean_of("rank correlation of the changes of f(xᵢ)", order, (0.7, 1), OURS),
        share_of(f"derivative {decides}", by("decides", "derivative"), (0.5, 1), OURS),
        share_of(
            f"control: the next sample {decides}",
            by("decides", "next"),
            (0, 0.3),
            f"chance: {size:.2g}",
        ),
        difference_of(
            text,
            by("decides", "derivative"),
            by("decides", "residual"),
            (0, 1),
            "ours: the derivative knows more",
        ),
        share_of(
            f"derivative {opens} interpolation, where one does",
            by("opens", "derivative"),
            (0.5, 1),
            OURS,
        ),
        mean_of(
            "the same less the share of samples that do",
            by("opens", "derivative") - found["chance"],
            (0, 1),
            OURS,
        ),
    )
