"""Effects side by side: one number each, and a rule that is fixed before a run."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import xarray as xr

from simbias.analysis.at_stage import STAGES, at_stage
from simbias.analysis.verdicts import effect_table, expected_errors
from simbias.core import Status

Values = Callable[[xr.Dataset], xr.DataArray]
NOT_LEARNED = "task not learned"
TOO_FEW = "too few members have the number"


def _always(setting: str) -> str:  # noqa: ARG001
    return ""


@dataclasses.dataclass(frozen=True)
class Effect:
    """An effect, its scalar, and the rule; 0 is no effect.

    Args:
        title: as in a figure.
        text: what the scalar is.
        scalar: of the members of a part, one number each, NaN for none; or the stage at
            which it is `staged`.
        least: smallest scalar that counts as the effect.
        low: least value of the scalar.
        high: largest value.
        full: a scalar of full strength, for a figure.
        staged: what is seen of the effect at every time, over `time`.
        least_staged: smallest of these that counts.
        is_learned: whether a member has learned its task.
        why_undefined: of a setting, why the effect makes no sense there, or "".
        bound_staged: `staged` lies between minus this and this.
    """

    title: str
    text: str
    scalar: Values | Literal["early", "end"]
    least: float
    low: float
    high: float
    full: float
    staged: Values
    least_staged: float
    is_learned: Values
    why_undefined: Callable[[str], str] = _always
    bound_staged: float = np.inf

    def number(self, part: xr.Dataset) -> xr.DataArray:
        """The scalar of every member of a part."""
        if callable(self.scalar):
            return self.scalar(part)
        return at_stage(self.staged(part), part["loss"], self.scalar)

    def why(self, settings: xr.DataArray) -> xr.DataArray:
        """Why the effect makes no sense in a setting, or ""."""
        return settings.copy(data=[self.why_undefined(str(v)) for v in settings.values])


def member_effects(
    ds: xr.Dataset, effects: Mapping[str, Effect], rows: str, settings: str
) -> xr.Dataset:
    """`scalar` of every member and `staged` at every stage, NaN where undefined.

    A member that has failed, has not learned its task, or belongs to a setting in which
    the effect makes no sense, has none.

    Args:
        ds: over `rows`, `settings`, `seed` and any other axes; `loss` over `time`.
        effects: of every place along `rows`.
        rows: axis of the effects, each with a task of its own.
        settings: axis that says where an effect makes sense.
    """
    out = []
    for name in ds[rows].values:
        effect, part = effects[str(name)], ds.sel({rows: name}, drop=True)
        is_learned, staged = effect.is_learned(part), effect.staged(part)
        is_sound = (part["status"] == int(Status.REACHED_TIME)) & is_learned
        stages = [at_stage(staged, part["loss"], stage) for stage in STAGES]
        every = xr.concat(stages, "stage", coords="minimal", compat="override")
        one = xr.Dataset({"scalar": effect.number(part), "staged": every})
        has_sense = effect.why(part[settings]) == ""
        out.append(one.where(is_sound & has_sense).assign(is_learned=is_learned))
    index = xr.DataArray(ds[rows].values, dims=rows, name=rows)
    found = xr.concat(out, index, coords="minimal", compat="override")
    others = [k for k in ds["status"].dims if k not in (rows, "seed")]
    found = found.assign_coords(stage=[*STAGES])
    return found.transpose(rows, *others, "seed", "stage")


def effect_matrix(
    ds: xr.Dataset, effects: Mapping[str, Effect], rows: str, settings: str
) -> xr.Dataset:
    """The verdict on every effect in every cell, over `rows` and all axes but seeds.

    value, low, high: the mean of the scalar and its interval; verdict; count: members
    with a scalar; learned: share of the members that have learned the task; stage: the
    first at which the effect is observed, "" for none; why: why it is undefined.  The
    attributes state the rule.  Arguments are those of `member_effects`.
    """
    found = member_effects(ds, effects, rows, settings)
    names = found[rows]
    of = lambda name: _row(effects[str(name)], found.sel({rows: name}), settings)
    out = [of(name) for name in names.values]
    whole = xr.concat(out, names, coords="minimal", compat="override")
    whole["count"] = found["scalar"].notnull().sum("seed")
    whole["learned"] = found["is_learned"].mean("seed")
    defined = int((whole["verdict"] != "undefined").sum())
    rule = {f"least_{k}": effects[k].least for k in map(str, names.values)}
    whole = whole.assign_attrs(false_verdicts_at_most=expected_errors(defined), **rule)
    return whole.transpose(*(k for k in found["scalar"].dims if k != "seed"))


def observed_stages(matrix: xr.Dataset, rows: str) -> xr.DataArray:
    """Share of the observed cells of an effect that are first observed at each stage.

    Args:
        matrix: of `effect_matrix`.
        rows: axis of the effects.

    Returns:
        Over `rows` and `stage`; 0 for an effect that is observed in no cell.
    """
    is_seen = matrix["verdict"] == "observed"
    cells = [k for k in is_seen.dims if k != rows]
    count = [((matrix["stage"] == k) & is_seen).sum(cells) for k in STAGES]
    whole = xr.concat(count, xr.DataArray([*STAGES], dims="stage", name="stage"))
    return (whole / np.maximum(is_seen.sum(cells), 1)).transpose(rows, "stage")


def _row(effect: Effect, found: xr.Dataset, settings: str) -> xr.Dataset:
    scalar, bound = found["scalar"], effect.bound_staged
    seen = effect_table(scalar, least=effect.least, low=effect.low, high=effect.high)
    # Most of the members must have reached a stage.
    staged = effect_table(
        found["staged"], least=effect.least_staged, low=-bound, high=bound
    )
    is_there = staged["verdict"] == "observed"
    is_defined = seen["verdict"] != "undefined"
    first = is_there.argmax("stage")
    first = first.copy(data=np.array(STAGES)[first.values])
    stage = xr.where(is_defined & is_there.any("stage"), first, "")
    is_learned = found["is_learned"].mean("seed") >= 0.5
    why = effect.why(found[settings])
    why = xr.where(why != "", why, xr.where(is_learned, TOO_FEW, NOT_LEARNED))
    seen = seen.assign(stage=stage, why=xr.where(is_defined, "", why))
    return seen[["verdict", "stage", "why", "value", "low", "high"]]
