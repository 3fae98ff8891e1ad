"""Spectra and risks of the networks of `random_design`."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.analysis.at import at
from simbias.theory.random_matrices import marchenko_pastur


def members(ds: xr.Dataset, n: int, ratio: float) -> xr.Dataset:
    """The networks with n samples and d = ratio · n inputs; NaN if there are none."""
    return at(at(ds, "n", n), "d", ratio * n)


def risk(ds: xr.Dataset) -> xr.DataArray:
    """E‖ŵ − w*‖² over the noise, at every penalty: bias + σ² variance."""
    terms = ds["ridge_risk"].isel(time=-1)
    return terms.sel(term="bias") + ds["sigma"] ** 2 * terms.sel(term="variance")


def least_norm_risk(ds: xr.Dataset) -> xr.DataArray:
    """Risk of the interpolator of least norm."""
    return risk(ds).sel(penalty=0.0, drop=True)


def best_ridge(ds: xr.Dataset) -> xr.DataArray:
    """Risk at the penalty above 0 whose mean over the seeds is least."""
    seen = risk(ds).isel(penalty=slice(1, None)).drop_vars("penalty")
    # A sum, to which a network that failed adds nothing, for every penalty.
    return seen.isel(penalty=seen.sum("seed").argmin("penalty"))


def least_eigenvalues(ds: xr.Dataset) -> xr.DataArray:
    """n·λmin(XXᵀ) of one n at d = n, by seed."""
    n = int(ds["n"])
    part = at(ds, "d", n)
    return part["status"].copy(data=n * n * spectrum(part)[:, 0])


def spectrum(ds: xr.Dataset) -> Float[np.ndarray, "s r"]:
    """Eigenvalues of XᵀX/n that are not 0 by its shape, of one n and d."""
    values = ds["spectrum"].isel(time=-1).transpose("seed", "mode").values
    rank = int(min(ds["n"], ds["d"]))
    # Smaller samples of a run have NaN after their last eigenvalue.
    count = max(rank, int(np.isfinite(values).any(axis=0).sum()))
    return values[:, count - rank : count]


def kolmogorov(values: Float[np.ndarray, "s r"], *, ratio: float) -> float:
    """Largest distance to Marchenko–Pastur, all seeds pooled and zeros counted."""
    pooled = np.sort(values.ravel())
    at_zero = max(0.0, 1 - 1 / ratio)
    _, law = marchenko_pastur(pooled, ratio=ratio)
    steps = at_zero + (1 - at_zero) * np.arange(len(pooled) + 1) / len(pooled)
    return float(np.max([law - steps[:-1], steps[1:] - law]))
