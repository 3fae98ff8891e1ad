"""Four neurons that replace their groups and are then trained alone."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.core import AbstractFlow, Dataset, Experiment
from simbias.ensemble.grid import FLOW_PREFIX
from simbias.experiments._draws import samples
from simbias.losses import logistic
from simbias.measures import NeuronWeights
from simbias.networks import TwoLayer
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.origin import origin
from simbias.verbs.simulate import solve

_COUNT = 4


def embedded(cell: xr.Dataset, experiment: Experiment, since: float) -> np.ndarray:
    """Distance of four neurons, trained alone from a time on, per seed and later time.

    Neurons are grouped once.  At the first time of at least `since` every group becomes
    one neuron, which continues without the others; see `on_their_own`.
    """
    late = cell.sel(time=slice(since, None))
    groups = late["direction_groups"].transpose("seed", "time", ...).values
    regrouped = late["embedding_distance"].transpose("seed", "time")
    out = np.full(regrouped.shape, np.nan)
    if not out.size:
        return out
    of_flow = [k for k in cell.coords if str(k).startswith(FLOW_PREFIX)]
    changes = {str(k).removeprefix(FLOW_PREFIX): cell[k].item() for k in of_flow}
    flow = dataclasses.replace(origin(cell, None).flow, **changes)
    is_there = regrouped.notnull().all("time")
    for (i,), _, data in samples(cell, experiment, is_there):
        one = groups[i], regrouped.values[i]
        out[i] = on_their_own(*one, data, flow, late["time"].values)
    return out


def on_their_own(
    groups: Float[np.ndarray, "t g 2"],
    regrouped: Float[np.ndarray, " t"],
    data: Dataset,
    flow: AbstractFlow,
    times: Float[np.ndarray, " t"],
) -> Float[np.ndarray, " t"]:
    """A bound on rms(f − f₄)/rms(f) on the data, f₄ trained alone from the first time.

    At the first time each of the four heaviest groups becomes one balanced neuron with
    the sum of the group.  The four neurons follow the same flow.  Let g be the function
    of the groups of f at each time, and δ = rms(f − g)/rms(f):

        rms(f − f₄)/rms(f) ≤ δ + (1 + δ) rms(g − f₄)/rms(g)

    Args:
        groups: s_g of `DirectionGroups`, at all times.
        regrouped: δ, from `EmbeddingDistance`.
        data: the dataset.
        flow: flow of the wide network.
        times: times of the rows; the neurons are replaced at the first.
    """
    kept = np.argsort(-np.linalg.norm(groups[0], axis=1))[:_COUNT]
    size = np.sqrt(np.linalg.norm(groups[0][kept], axis=1))
    # Groups with a > 0 come first.
    sign = np.where(np.arange(groups.shape[1]) < groups.shape[1] // 2, 1.0, -1.0)
    with exact_numerics():
        w, a = groups[0][kept] / size[:, None], (sign[kept] * size)[:, None]
        few = TwoLayer(jnp.asarray(w), jnp.asarray(a))
        later = tuple(float(t) for t in times - times[0])
        run = solve(few, data, flow, logistic, later, {"weights": NeuronWeights()})
    x, out = np.asarray(data.x), []
    for sums, weights in zip(groups, run.records["weights"], strict=True):
        heaviest = np.argsort(-np.linalg.norm(sums, axis=1))[:_COUNT]
        g = np.maximum(x @ sums[heaviest].T, 0) @ sign[heaviest]
        f = np.maximum(x @ weights[:, :2].T, 0) @ weights[:, 2]
        out.append(np.linalg.norm(g - f) / np.linalg.norm(g))
    return regrouped + (1 + regrouped) * np.array(out)
