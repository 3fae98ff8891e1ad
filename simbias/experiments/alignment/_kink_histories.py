"""Histories of the networks of `stewart_snapshots`: losses, directions and kinks."""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.analysis.kinks import kinks
from simbias.core import Dataset
from simbias.datasets import stewart_1d
from simbias.experiments.alignment._alignment import exit_time
from simbias.losses import half_mse
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.early_limit import early_limit

# A kink is a change of slope by this much; kinks closer than SAME are one.
BEND = 0.05
SAME = 0.02
_ENDS = ("line", "alive", "law")


def sample() -> Dataset:
    """The 40 points, the same for every network: the published code has one dataset."""
    return stewart_1d(jax.random.key(0), n_test=1)


def kinks_of(weights: Float[np.ndarray, "m 3"]) -> Float[np.ndarray, "q 2"]:
    """Position and change of slope of the kinks of one network."""
    return kinks(weights, bend=BEND, same=SAME)


def histories(ds: xr.Dataset) -> xr.Dataset:
    """Loss, directions and kinks over the networks (stacked) and time.

    Also, for each network, `exit`: the time at which the loss begins to fall.  `line`:
    mean squared error of the least-squares line.  `alive`: number of neurons with aⱼ <
    0 that are active on a point at the last record before the exit.  `law`: this number
    by `theory.early_limit`.  The last two are NaN if the loss never falls.
    """
    flat = members(ds)
    rows, risk = flat["neuron_weights"].values, flat["train_risk"]
    count = np.array([[len(kinks_of(w)) for w in member] for member in rows])
    left = exit_time(risk)
    ends = np.array(
        [
            _at_the_exit(flat.isel(member=i), float(left[i]))
            for i in range(flat.sizes["member"])
        ]
    )
    columns = {k: ("member", ends[:, i]) for i, k in enumerate(_ENDS)}
    return xr.Dataset(
        {
            "train_risk": risk,
            "directions": flat["effective_width"],
            "kinks": (("member", "time"), count),
            "exit": left,
            **columns,
        }
    )


def members(ds: xr.Dataset) -> xr.Dataset:
    """The networks along one axis, small λ first, and time."""
    others = [k for k in ds["status"].dims if k != "scale"]
    flat = ds.stack(member=["scale", *others], create_index=False)
    return flat.transpose("member", "time", ...)


def _at_the_exit(member: xr.Dataset, left: float) -> tuple[float, float, float]:
    """In the order of `_ENDS`."""
    data = sample()
    rows, time = member["neuron_weights"].values, member["time"].values
    rows = rows[:, np.isfinite(rows[-1]).all(axis=1)]
    with exact_numerics():
        w, a = jnp.asarray(rows[0, :, :2]), jnp.asarray(rows[0, :, 2])
        limit = early_limit(data, half_mse, w, a)
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]
    line = np.linalg.lstsq(x, y, rcond=None)[1][0] / len(y)
    if not np.isfinite(left):
        return float(line), np.nan, np.nan
    i = int(np.searchsorted(time, left, side="right")) - 1
    # A neuron that slides is on its hyperplane to rounding.
    heights = x @ rows[i, :, :2].T / np.linalg.norm(rows[i, :, :2], axis=1)
    is_negative, is_dead = rows[0, :, 2] < 0, (limit.rate == 0) & (limit.time < time[i])
    is_alive = (heights > 1e-9).any(axis=0)
    seen, law = (float(np.sum(is_negative & who)) for who in (is_alive, ~is_dead))
    return float(line), seen, law
