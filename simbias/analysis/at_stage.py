"""What there is at a stage of training, by how far the loss has fallen."""

from typing import Literal, get_args

import xarray as xr

from simbias.errors import BadInput

Stage = Literal["start", "early", "late", "end"]
STAGES: tuple[Stage, ...] = get_args(Stage)
# Fall of the loss up to which a stage lasts.
FALL = {"early": 0.5, "late": 0.1}


def at_stage(values: xr.DataArray, loss: xr.DataArray, stage: Stage) -> xr.DataArray:
    """The value at "start", "early", "late" or "end", for each place of the other axes.

    "early" is the last record before the loss is half of what it was at the start,
    "late" the last before it is a tenth; NaN where it does not fall so far.

    Args:
        values: over `time` and any other axes.
        loss: of the same networks at the same times.
        stage: one of the four.

    Raises:
        ValueError: for another stage.
    """
    if stage not in STAGES:
        raise BadInput(f"`stage` must be one of {', '.join(STAGES)}, got {stage!r}.")
    if stage in ("start", "end"):
        return values.isel(time=0 if stage == "start" else -1, drop=True)
    has_fallen = loss / loss.isel(time=0, drop=True) <= FALL[stage]
    is_before = has_fallen.cumsum("time") == 0
    last = (is_before.sum("time") - 1).clip(min=0)
    return values.isel(time=last).drop_vars("time").where(has_fallen.any("time"))
