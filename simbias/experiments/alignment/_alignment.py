"""The times at which neurons align and at which the loss begins to fall."""

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.analysis.parts import with_axes
from simbias.errors import BadInput

# The scale λ of the run that finds the extremal vectors.
REFERENCE = 1e-60
COSINES = (0.9, 0.99)
# A neuron whose rate of growth in the reference is below this has died.
ALIVE = 0.01
GRID = ("n", "d", "m", "scale")


def alignment(ds: xr.Dataset) -> xr.Dataset:
    """Alignment of every neuron, over (n, d, m, scale, seed) and `neuron`.

    `time`: time at which its cosine with its extremal vector passes each of `COSINES`
    (axis `cosine`); NaN if never, or if it died.  `exit`: time at which the loss begins
    to fall, NaN for the reference.  `rate`: growth rate |G| of the neuron in the
    reference.  `died`: whether it died.

    Raises:
        ValueError: if the smallest λ is too large to find extremal vectors.
    """
    ds = with_axes(ds, GRID)
    if not float(ds["scale"][0]) <= REFERENCE:
        raise BadInput(
            f"`scale` must hold {REFERENCE:g}, whose end gives the extremal vectors, "
            f"got {ds['scale'].values.tolist()}. Example: --cell.scale 1e-3 1e-60."
        )
    each = (*GRID, "seed")
    order = ("n", "d", "m", "seed", "neuron", "scale", "time", "weight")
    weights = ds["neuron_weights"].transpose(*order).values
    time = ds["time"].values
    half = int(np.searchsorted(time, time[-1] / 2))
    found, rate = np.full((2, *weights.shape[:6]), np.nan), []
    for i, d in enumerate(ds["d"].values):
        # Columns (w, a, NaN where other members have more inputs).
        w = weights[:, i, ..., :d]
        size = np.abs(w).max(axis=-1, keepdims=True)
        length = np.linalg.norm(w / size, axis=-1, keepdims=True)
        unit = w / size / length
        # Scale 0 is the reference.
        turned = _turned(unit, unit[..., :1, -1:, :])
        history = xr.DataArray(turned, {"time": time}, (*"nmjhs", "time"))
        for k, cosine in enumerate(COSINES):
            level = -np.log(np.tan(np.arccos(cosine) / 2))
            found[k, :, i] = first_passage(history, float(level)).values
        grown = np.log(size * length)[..., 0, :, 0]
        rate.append((grown[..., -1] - grown[..., half]) / (time[-1] - time[half]))
    rate = np.stack(rate, axis=1)
    died = np.where(np.isfinite(rate), rate < ALIVE, False)
    left = exit_time(ds["train_risk"].transpose(*each, "time"))
    neurons = order[:5]
    out = xr.Dataset(
        {
            "time": (("cosine", *neurons, "scale"), found),
            "rate": (neurons, rate),
            "died": (neurons, died),
            "exit": (each, left.values),
        },
        {k: ds[k].values for k in each} | {"cosine": list(COSINES)},
        {"sigma": float(ds["sigma"])},
    )
    return out.assign(time=out["time"].where(~out["died"]))


def aligned_before_exit(found: xr.Dataset) -> xr.DataArray:
    """1 for a neuron that aligned before the exit, 0 if not, NaN if it died."""
    before = found["time"].sel(cosine=max(COSINES)) < found["exit"]
    return before.where(found["rate"] >= ALIVE)


def _turned(unit: np.ndarray, target: np.ndarray) -> np.ndarray:
    """−ln tan(ψ/2), accurate for small and for blunt angles; ∞ when aligned."""
    near = np.linalg.norm(unit - target, axis=-1)
    far = np.linalg.norm(unit + target, axis=-1)
    with np.errstate(divide="ignore"):
        return np.log(far) - np.log(near)


# The loss has moved when it has lost this share.
EXIT = 0.01


def exit_time(risk: xr.DataArray) -> xr.DataArray:
    """Time at which the loss has fallen by the share `EXIT`; NaN if it never does.

    The decrease of the loss grows exponentially at first, so its logarithm is
    interpolated.

    Args:
        risk: train error over time and any other axes, from time 0 on.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.log((1 - risk / risk.isel(time=0)).values)
    return first_passage(risk.copy(data=lost), float(np.log(EXIT)))
