"""From a result to the matrix: scalars, intervals, verdicts and stages."""

import numpy as np
import xarray as xr

from simbias.analysis.verdicts import effect_interval, expected_errors, verdict
from simbias.core import Status
from simbias.experiments.matrix._rows import ROWS, STAGES, Row
from simbias.experiments.matrix._scalars import at_stage
from simbias.experiments.matrix._settings import parsed

CELL = ("setting", "flow.optimiser")
NOT_LEARNED = "task not learned"
TOO_FEW = "too few members have the number"


def scalars(ds: xr.Dataset) -> xr.Dataset:
    """`scalar` of every member and `staged` at every stage, NaN where undefined.

    Over bias, setting, optimiser and seed.  A member that has failed, has not learned
    its task, or belongs to a setting in which the bias makes no sense, has none.
    """
    out = []
    for name in ds["bias"].values:
        row, part = ROWS[str(name)], ds.sel(bias=name, drop=True)
        is_sound = (part["status"] == int(Status.REACHED_TIME)) & _has_sense(row, part)
        is_sound = is_sound & row.is_learned(part)
        staged = row.staged(part)
        stages = [at_stage(part, staged, stage) for stage in STAGES]
        every = xr.concat(stages, "stage", coords="minimal", compat="override")
        one = xr.Dataset({"scalar": row.scalar(part), "staged": every})
        out.append(one.where(is_sound).assign(is_learned=row.is_learned(part)))
    index = xr.DataArray(ds["bias"].values, dims="bias", name="bias")
    found = xr.concat(out, index, coords="minimal", compat="override")
    found = found.assign_coords(stage=[*STAGES])
    return found.transpose("bias", *CELL, "seed", "stage")


def matrix(ds: xr.Dataset) -> xr.Dataset:
    """The matrix, over bias, setting and optimiser.

    value, low, high: the mean of the scalar and its interval; verdict; count: members
    with a scalar; learned: share of the members that have learned the task; stage: the
    first at which the bias is observed, "" for none; why: why it is undefined.  The
    attributes state the rule.
    """
    found = scalars(ds)
    shape = found["scalar"].isel(seed=0).shape
    text = lambda: np.full(shape, "", dtype="<U64")
    number = lambda: np.full(shape, np.nan)
    names = ("verdict", "stage", "why")
    out = {k: text() for k in names} | {k: number() for k in ("value", "low", "high")}
    for at in np.ndindex(*shape):
        row = ROWS[str(found["bias"].values[at[0]])]
        values, staged = found["scalar"].values[at], found["staged"].values[at]
        seen = effect_interval(values, low=row.low, high=row.high)
        said = verdict(seen, row.least)
        out["verdict"][at] = said
        out["value"][at], out["low"][at], out["high"][at] = (
            seen.value,
            seen.low,
            seen.high,
        )
        out["stage"][at] = _first_stage(staged, row) if said != "undefined" else ""
        if said == "undefined":
            setting = parsed(str(found["setting"].values[at[1]]))
            is_learned = found["is_learned"].values[at].mean() >= 0.5
            why = TOO_FEW if is_learned else NOT_LEARNED
            out["why"][at] = row.why_undefined(setting) or why
    dims = ("bias", *CELL)
    variables = {name: (dims, values) for name, values in out.items()}
    variables["count"] = (dims, found["scalar"].notnull().sum("seed").values)
    variables["learned"] = (dims, found["is_learned"].mean("seed").values)
    defined = int((out["verdict"] != "undefined").sum())
    rule = {f"least_{k}": ROWS[k].least for k in found["bias"].values}
    attributes = {"false_verdicts_at_most": expected_errors(defined), **rule}
    coords = {k: found[k].values for k in dims}
    return xr.Dataset(variables, coords, attributes)


def _has_sense(row: Row, part: xr.Dataset) -> xr.DataArray:
    names = [str(v) for v in part["setting"].values]
    has = [row.why_undefined(parsed(name)) == "" for name in names]
    return xr.DataArray(has, dims="setting", coords={"setting": part["setting"]})


def _first_stage(staged: np.ndarray, row: Row) -> str:
    """`staged` over seed and stage; most of the members must have reached it."""
    for i, stage in enumerate(STAGES):
        bound = row.bound_staged
        seen = effect_interval(staged[:, i], low=-bound, high=bound)
        if verdict(seen, row.least_staged) == "observed":
            return stage
    return ""
