"""How many extremal vectors the samples of a run have."""

import functools

import jax.numpy as jnp
import numpy as np
import xarray as xr

from simbias.core import Dataset, Experiment
from simbias.experiments._draws import samples
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.extremal_vectors import extremal_vectors

SIGNS = (1, -1)
# Random starts of the search, fixed so that a stored check can be repeated.
STARTS = 200


def extremal_counts(
    ds: xr.Dataset, experiment: Experiment, axes: tuple[str, ...]
) -> xr.DataArray:
    """Those at which neurons with aⱼ > 0 and with aⱼ < 0 end, over (*axes, sign).

    What no start of the search reaches is missing: a lower bound.

    Args:
        ds: a result that has `axes`, and one value on every other axis of the grid.
        experiment: one with the `make` of the result.
        axes: what a sample depends on.
    """
    ds = ds.isel(seed=0)
    wanted = xr.ones_like(ds["status"], bool).transpose(*axes)
    counts = np.zeros((*wanted.shape, len(SIGNS)))
    for place, _, data in samples(ds, experiment, wanted):
        x, y = (np.ascontiguousarray(v, np.float64) for v in (data.x, data.y))
        counts[place] = _counted(x.tobytes(), y.tobytes(), x.shape[1])
    coords = {k: ds[k].values for k in axes} | {"sign": [*SIGNS]}
    return xr.DataArray(counts, coords, (*axes, "sign"))


@functools.lru_cache(10_000)
def _counted(x: bytes, y: bytes, d: int) -> tuple[int, int]:
    """Of one sample: figure and claims both ask, and a search takes a second."""
    inputs, targets = (np.frombuffer(v).reshape(-1, k) for v, k in ((x, d), (y, 1)))
    with exact_numerics():
        rows, target = jnp.asarray(inputs), jnp.asarray(targets)
        data = Dataset(rows, target, jnp.ones(len(rows)), target, rows[:0])
        listed = extremal_vectors(data, samples=STARTS)
    up, down = ((listed.kind == s) & (s * listed.value > 0) for s in SIGNS)
    return int(up.sum()), int(down.sum())
