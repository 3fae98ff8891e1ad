"""Steps of a loss: falls, each after a plateau."""

import numpy as np
import scipy
import xarray as xr

from simbias.errors import BadInput

# Fall in one record, as a share of L(0), below which a loss counts as at rest.
_REST = 1e-5


def loss_steps(
    loss: xr.DataArray,
    *,
    dim: str = "time",
    depth: float = 10.0,
    least: float = 0.01,
    most: int = 8,
) -> xr.Dataset:
    """Steps of L: peaks of gᵢ = (Lᵢ₋₁ − Lᵢ)/L₀ between places of slow fall.

    A peak is a step if g is `depth` times smaller somewhere before it and somewhere
    after it, on both sides before any higher peak.  A plateau is read at the record
    before the slowest fall; the last, where several are as slow.  Steps that are lower
    than `least` L₀ are left out.  A loss that falls fastest at once has no plateau
    before that fall, and no step there.

    Only ratios of g count, so that the unit of time does not matter, but records must
    be evenly spaced, and two steps within one record are one.

    Args:
        loss: positive, over `dim` and other axes.
        dim: the axis of time.
        depth: least ratio of the fall at its fastest and on the plateaus.
        least: least height of a step, as a share of L₀.
        most: room for so many steps; later ones are left out.

    Returns:
        `count` of all steps, and over a new axis `step`, NaN where there is none: the
        records `before` and `after`, and the `level` L/L₀ and `height` ΔL/L₀.

    Raises:
        ValueError: if there is no such axis, or `depth` is not above 1.
    """
    if dim not in loss.dims:
        raise BadInput(f"`dim` must be one of {loss.dims}, got {dim!r}.")
    if not depth > 1:
        raise BadInput(f"`depth` must be above 1, got {depth}. Example: depth=10.0.")

    found = xr.apply_ufunc(
        lambda row: _steps(row, depth, least, most),
        loss,
        input_core_dims=[[dim]],
        output_core_dims=[["kind", "step"]],
        vectorize=True,
    )
    names = ("before", "after", "level", "height", "count")
    values = {k: found.isel(kind=i) for i, k in enumerate(names)}
    values["count"] = values["count"].isel(step=0)
    return xr.Dataset(values).assign_coords(step=np.arange(1, most + 1))


def _steps(row: np.ndarray, depth: float, least: float, most: int) -> np.ndarray:
    out = np.full((5, most), np.nan)
    if len(row) < 4 or not np.all(np.isfinite(row)) or row[0] <= 0:
        return out
    level = row / row[0]
    log = np.log(np.maximum(level[:-1] - level[1:], _REST))
    peaks, _ = scipy.signal.find_peaks(log, prominence=np.log(depth))
    rest = _slowest(log, peaks)
    peaks = peaks[level[rest[:-1]] - level[rest[1:]] >= least]
    rest = _slowest(log, peaks)
    before, after = rest[:-1][:most], rest[1:][:most]
    found = (before, after, level[before], level[before] - level[after])
    out[:4, : len(before)] = found
    out[4] = len(peaks)
    return out


def _slowest(log: np.ndarray, peaks: np.ndarray) -> np.ndarray:
    """Records before the slowest falls between peaks, and the last record."""
    ends = [0, *peaks]
    last = lambda part: len(part) - 1 - int(np.argmin(part[::-1]))
    slow = [a + last(log[a:b]) for a, b in zip(ends, peaks, strict=False)]
    return np.array([*slow, len(log)], dtype=int)
