"""Sums of waves, and the times at which a network learns each of them."""

import dataclasses
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.first_passage import first_passage
from simbias.analysis.rank_correlation import rank_correlation
from simbias.core import Dataset, Estimate
from simbias.errors import BadInput
from simbias.measures import Amplitudes
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integers

RAHAMAN = "Rahaman et al. (2019), arXiv:1806.08734"
Sizes = Literal["equal", "rising"]
# Share of its amplitude at which a frequency counts as learned.
LEVEL = 0.5
_LEAST_NETS, _RESAMPLES = 6, 1999


def frequencies(count: int, spacing: int = 1) -> tuple[int, ...]:
    """K = s, 2s, …, count · s."""
    return tuple(spacing * j for j in range(1, count + 1))


def check_waves(sizes: str, count: int, spacing: int, n: int) -> None:
    """Raise for names and numbers that give no waves on n points, or no order of them.

    Raises:
        ValueError: for a name that is not known, a number that is no positive integer,
            fewer than three waves, or a frequency of half of n, Nyquist's, or above.
    """
    one_of("sizes", sizes, get_args(Sizes))
    positive_integers(count=count, spacing=spacing, n=n)
    if count < 3:
        raise BadInput(f"`count` must be 3 or more, to be in an order, got {count}.")
    if 2 * count * spacing >= n:
        raise BadInput(
            f"`n` must be above {2 * count * spacing}, twice the highest frequency "
            f"(Nyquist's), got {n}."
        )


def waves(
    key: PRNGKeyArray, x: Float[Array, "n d"], *, sizes: Sizes, count: int, spacing: int
) -> Dataset:
    """The sample xᵢ ↦ Σ A_k sin(2πki/n + φ_k), with phases drawn uniformly.

    `others["grid"]` has the same sample without any padding.  So measures on all of it
    have a size that follows n.
    """
    n, k = len(x), np.asarray(frequencies(count, spacing))
    phase = jax.random.uniform(key, (count,), jnp.float64, maxval=2 * jnp.pi)
    # k i modulo n is exact, so that the angle is.
    angle = jnp.asarray(2 * np.pi * (np.outer(k, np.arange(n)) % n) / n)
    heights = jnp.asarray(_heights(k, sizes))[:, None]
    y = jnp.sum(heights * jnp.sin(angle + phase[:, None]), axis=0)[:, None]
    grid = Dataset(x, y, jnp.ones(n), y, jnp.eye(x.shape[1]))
    return dataclasses.replace(grid, others={"grid": grid})


# Of every frequency on the grid of `waves`, whatever its size and that of the waves.
GRID_AMPLITUDES = Amplitudes(None, None, "grid")


def of_waves(found: xr.DataArray, ds: xr.Dataset) -> xr.DataArray:
    """Values of a result at the frequencies of the target, k = s, 2s, …."""
    k = list(frequencies(int(ds["count"]), int(ds.get("spacing", 1))))
    return found.isel(frequency=k).assign_coords(frequency=k)


def _heights(k: Float[np.ndarray, " q"] | np.ndarray, sizes: str) -> np.ndarray:
    """A_k: 1, or in proportion to k, up to 1."""
    return k / k.max() if sizes == "rising" else np.ones(len(k))


def shares(ds: xr.Dataset) -> xr.DataArray:
    """2|f̂(k)|/(N A_k): 1 where a frequency is learned."""
    seen = of_waves(ds["amplitudes"], ds)
    k = seen["frequency"].values
    if "sizes" not in ds.dims:
        return seen / xr.DataArray(
            _heights(k, str(ds["sizes"].item())), dims="frequency"
        )
    kinds = ds["sizes"].values
    rows = np.stack([_heights(k, str(kind)) for kind in kinds])
    heights = xr.DataArray(rows, {"sizes": kinds}, ("sizes", "frequency"))
    return seen / heights


def times_to(share: xr.DataArray, level: float = LEVEL) -> xr.DataArray:
    """Times at which a share first reaches a level, interpolated; NaN if never."""
    return first_passage(share, level)


def places(share: xr.DataArray, level: float = LEVEL) -> xr.DataArray:
    """Values that order the frequencies: the later learned, the larger.

    The time to the level.  If it is not reached: the last time plus the missing share
    at the end.
    """
    end = share.isel(time=-1)
    late = float(share["time"][-1]) * (1 + level - end)
    return times_to(share, level).fillna(late).where(end.notnull())


def order_of_medians(when: xr.DataArray) -> Estimate:
    """Rank correlation of k with the median place over networks.

    Its interval comes from resampled networks, by percentiles, and needs six.  A
    published heat map shows the mean over networks, and so this order rather than that
    of a single network.
    """
    seen = when.dropna("seed").transpose("seed", "frequency")
    rho = float(rank_correlation(seen.median("seed"), "frequency"))
    count = seen.sizes["seed"]
    if count < _LEAST_NETS:
        why = f"of {count} nets, an interval needs {_LEAST_NETS}"
        return Estimate(rho, -np.inf, np.inf, why)
    draws = np.random.default_rng(0).integers(count, size=(_RESAMPLES, count))
    medians = np.median(seen.values[draws], axis=1)
    drawn = xr.DataArray(medians, dims=("draw", "frequency"))
    low, high = np.quantile(rank_correlation(drawn, "frequency"), [0.025, 0.975])
    return Estimate(
        rho, min(low, rho), max(high, rho), "bootstrap of nets, percentiles"
    )
