"""How far networks with weight decay end from the best network of any width."""

import json
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.estimates import estimates
from simbias.analysis.wilson import share_interval
from simbias.core import Experiment, Index, Real, Status
from simbias.experiments._draws import once_a_sample, samples
from simbias.figures import Estimates, ends
from simbias.networks import TwoLayer
from simbias.networks.two_layer_init import balanced
from simbias.theory.best_network import best_network

DECAY = "flow.weight_decay"
# A proven limit moves G by less than 2e-6 of itself: above this a gap is none of that.
SPURIOUS = 1e-4


def first_neurons(
    key: PRNGKeyArray, *, m: Index | Real, width: int, d: int, scale: Real
) -> TwoLayer:
    """A balanced start of m neurons, with width − m neurons of weight 0 beside them.

    So networks of several widths share a program, and the first neurons a start.
    """
    full = balanced(key, m=width, d=d, scale=width**0.5)
    count = jnp.asarray(m, jnp.float64)
    is_some = jnp.arange(width, dtype=jnp.float64) < count
    factor = jnp.where(is_some, scale / jnp.sqrt(count), 0.0)[:, None]
    return TwoLayer(full.w * factor, full.a * factor)


def gaps(ds: xr.Dataset, experiment: Experiment, axes: tuple[str, ...]) -> xr.Dataset:
    """Relative gap of L + (μ/2)‖θ‖² at the end to its bound over all networks.

    `gap` is that of limits that are proven, NaN elsewhere; `spurious` is whether it is
    above 1e-4, `known` whether the limit is proven.

    Args:
        ds: a result with `train_loss` and `norm`.
        experiment: the one with its `make`.
        axes: on which the sample depends, beside seeds.
    """
    decay = _decays(ds)
    others = {k: 0 for k in ds["status"].dims if k not in (*axes, "seed")}
    one = ds.isel(others)
    wanted = xr.ones_like(one["status"], bool)
    bounds = []
    for mu in np.atleast_1d(decay.values):
        bound = once_a_sample(lambda data, mu=mu: best_network(data, float(mu)).bound)
        found = np.full(wanted.shape, np.nan)
        for place, _, data in samples(one, experiment, wanted):
            found[place] = bound(data)
        bounds.append(xr.DataArray(found, wanted.coords, wanted.dims))
    least = xr.concat(bounds, xr.Variable(DECAY, np.atleast_1d(decay.values)))
    least = least if DECAY in ds.dims else least.isel({DECAY: 0}, drop=True)
    least = least.drop_vars([*others], errors="ignore")
    end = ds.isel(time=-1)
    is_known = ds["status"] == int(Status.STATIONARY)
    has_run = ds["status"] != int(Status.RUNNING)
    gap = ((end["train_loss"] + decay * end["norm"]) / least - 1).where(is_known)
    return xr.Dataset(
        {
            "gap": gap,
            "spurious": (gap > SPURIOUS).astype(float).where(is_known),
            "known": is_known.astype(float).where(has_run),
        }
    )


def spurious_shares(scale: float, **options: Any) -> Estimates:
    """Share of the proven limits from one λ that are spurious, with its interval."""
    share = lambda ds: estimates(
        share_interval, at(ds["spurious"], "scale", scale), over=("seed",)
    )
    return Estimates(
        lambda ds: ends(share(ds)),
        beside=0.03,
        xscale={"value": "log", "base": 2},
        ylim=(-0.05, 1.05),
        ylabel="spurious limits, share",
        title=f"λ = {scale:g}",
        **options,
    )


def _decays(ds: xr.Dataset) -> xr.DataArray:
    """Every μ of a result, or the one of its flow."""
    if DECAY in ds.coords:
        return ds[DECAY]
    return xr.DataArray(json.loads(ds.attrs["configuration"])["flow"]["weight_decay"])
