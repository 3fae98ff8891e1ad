"""Overrides of an experiment: from a mapping, a TOML file, or the command line.

All three use the same keys:

    preset = "quick"          seeds = 20            dtype = "float64"
    times = [0, 1, 10]        final_time = 1e3      root = 0
    keep = [0, 10]            data = "mine.npz"
    [cell]  n = [50, 100]     [flow]  name = "descent"  rate = 0.1

`cell.KEY` is any argument of the experiment's `make`, `flow.name` picks a flow, and the
other keys of `flow` are its fields.  A list is an axis of the grid.  `data` is a sample
in place of the experiment's own: a file, or a table of its `path` and `sha256`.

tyro, which parses words, has no part in this: a stored run repeats its overrides.
"""

import dataclasses
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any, Literal

import jax
import numpy as np

from simbias.cli._option_names import naming_options
from simbias.core import AbstractFlow, Experiment
from simbias.datasets.npz import Npz
from simbias.drawn_from import SIZES, OnSample
from simbias.ensemble.fields import flow_fields, value_type
from simbias.ensemble.grid import FLOW_PREFIX
from simbias.ensemble.parameters import parameters_of
from simbias.errors import BadInput
from simbias.numerics.exact_numerics import exact_numerics
from simbias.numerics.regular_file import read_regular
from simbias.registry import flows
from simbias.suggestion import suggestion
from simbias.validation.cell_value import checked_value
from simbias.validation.targets import check_targets

# Of a file of overrides, and of its times.
_MOST_BYTES, _MOST_TIMES = 1 << 22, 100_000
TOP_KEYS = (
    *("seeds", "dtype", "root", "pad_to", "times", "final_time", "keep"),
    *("cell", "flow", "data"),
)


def read_toml(path: pathlib.Path) -> dict[str, Any]:
    """A TOML file of overrides.

    Raises:
        ValueError: if it cannot be read or parsed.
    """
    try:
        return tomllib.loads(read_regular(path, _MOST_BYTES).decode())
    except OSError as error:
        raise BadInput(f"`--config`: cannot read {path}: {error.strerror}.") from error
    except ValueError as error:  # also of a number of thousands of digits
        raise BadInput(f"`--config`: {path} is not valid TOML: {error}.") from error
    except RecursionError:
        raise BadInput(
            f"`--config`: {path} is nested too deeply; expected a flat file of options."
        ) from None


def overridden(experiment: Experiment, overrides: Mapping[str, Any]) -> Experiment:
    """The experiment with some of its fields replaced.

    Raises:
        ValueError: for an unknown key or a wrong type, naming the key.
    """
    for key in overrides:
        if key not in TOP_KEYS:
            raise BadInput(f"`{key}` is not an option.{suggestion(key, TOP_KEYS)}")
    if "data" in overrides:
        experiment = _on_sample(experiment, _file(overrides["data"]))
    changes: dict[str, Any] = {}
    if experiment.seeds is None and overrides.get("seeds") is not None:
        raise BadInput(
            f"`seeds` is not an option of `{experiment.name}`: nothing in it is "
            "random, so all seeds would be equal. Leave --seeds out."
        )
    overrides = {k: v for k, v in overrides.items() if (k, v) != ("seeds", None)}
    for key, kind in (("seeds", int), ("root", int), ("pad_to", int)):
        if key in overrides:
            changes[key] = checked_value(key, overrides[key], kind)
    if "dtype" in overrides:
        kinds = Literal["float32", "float64"]
        changes["dtype"] = checked_value("dtype", overrides["dtype"], kinds)
    for key in ("times", "keep"):
        if key in overrides:
            changes[key] = _times(key, overrides[key])
    if "final_time" in overrides:
        final = checked_value("final_time", overrides["final_time"], float)
        times = changes.get("times", experiment.times)
        changes["times"] = stretched = rescaled(times, final)
        moved = dict(zip(times, stretched, strict=True))
        keep = changes.get("keep", experiment.keep)
        changes["keep"] = tuple(moved.get(time, time) for time in keep)
    cell = {**experiment.cell, **_cell(_table("cell", overrides.get("cell", {})))}
    if "flow" in overrides:
        table = _table("flow", overrides["flow"])
        fixed = {k: v for k, v in table.items() if not isinstance(v, (list, tuple))}
        changes["flow"] = _flow(experiment.flow, fixed)
        cell |= _flow_cell(experiment, table)
    changes["cell"] = cell
    changed = dataclasses.replace(experiment, **changes)
    known = parameters_of(experiment.make)
    for key in changed.cell:
        if key not in known and not key.startswith(FLOW_PREFIX):
            raise BadInput(
                f"`cell.{key}` is not an argument of `make`.{suggestion(key, known)}"
            )
    return changed


def kept_file(path: str) -> dict[str, str]:
    """What a run keeps of a file of data: where it is, and its checksum.

    Raises:
        ValueError: if it is no sample.
    """
    with naming_options({"path": "--data"}):
        law = Npz(str(pathlib.Path(path).expanduser().resolve()))
    return {"path": law.path, "sha256": law.sha256}


def _checksum(value: Any) -> Any:
    return value.get("sha256") if isinstance(value, Mapping) else None


def _file(value: Any) -> Npz:
    if isinstance(value, str):
        return Npz(value)
    if not isinstance(value, Mapping) or {*value} != {"path", "sha256"}:
        raise BadInput(
            f"`data` must be the name of a file, got {value!r}. Example: mine.npz."
        )
    return Npz(**{k: checked_value(f"data.{k}", v, str) for k, v in value.items()})


def _on_sample(experiment: Experiment, law: Npz) -> Experiment:
    """The experiment on a sample of a file; its sizes are those of the file.

    Raises:
        ValueError: for targets that its loss does not take.
    """
    with exact_numerics():
        check_targets(experiment.loss, (), law(jax.random.key(0)))
    cell = {k: v for k, v in experiment.cell.items() if k not in SIZES}
    make = OnSample(law, experiment.make)
    # The sizes of the experiment that the file has rows for, or else all of its rows.
    n: Any = cell.get("n", parameters_of(make)["n"].default)
    rows = law.rows
    sizes = tuple(v for v in n if v <= rows) if isinstance(n, tuple) else min(n, rows)
    return dataclasses.replace(experiment, make=make, cell={**cell, "n": sizes or rows})


def moved(steps: list[dict[str, Any]], path: str) -> list[dict[str, Any]]:
    """Overrides whose file of data lies elsewhere now.

    Raises:
        ValueError: if they name no file, or it is another one.
    """
    files = [step["data"] for step in steps if "data" in step]
    if not files:
        raise BadInput(
            "`--data`: this run does not use a file of data, but the experiment's own "
            "dataset. Leave --data out."
        )
    here = kept_file(path)
    if any(_checksum(file) != here["sha256"] for file in files):
        raise BadInput(
            f"`--data`: {path} is not the file that this run was started with (its "
            "checksum differs). Give that file."
        )
    return [{**step, "data": here} if "data" in step else step for step in steps]


def rescaled(times: tuple[float, ...], final: float) -> tuple[float, ...]:
    """The same number of times, the last one at `final`.

    Raises:
        ValueError: unless `final` is positive.
    """
    if not final > 0:
        raise BadInput(f"`final_time` must be positive, got {final}. Example: 1e3.")
    if not times or not times[-1] > 0:
        raise BadInput(
            "`final_time` rescales `times`, whose last one must be positive, got "
            f"{times}."
        )
    return tuple(float(t) for t in np.asarray(times) * (final / times[-1]))


def _flow(current: AbstractFlow, table: Mapping[str, Any]) -> AbstractFlow:
    table = dict(table)
    name = table.pop("name", None)
    if name is not None:
        known = flows()
        name = checked_value("flow.name", name, Literal[tuple(known)])  # pyright: ignore
        if known[name] is not type(current):
            current = known[name]()
    fields = flow_fields(type(current))
    changes = {}
    for key, value in table.items():
        if key not in fields:
            raise BadInput(
                f"`flow.{key}` is not a field of {type(current).__name__}."
                + suggestion(key, ("name", *fields))
            )
        changes[key] = _field(f"flow.{key}", value, fields[key][0])
    return dataclasses.replace(current, **changes)


def _field(name: str, value: Any, kind: Any) -> Any:
    if value is None and value_type(kind) is not kind:
        return None
    return checked_value(name, value, value_type(kind))


def _flow_cell(experiment: Experiment, table: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the flow that belong to the cell: axes, and what replaces an axis."""
    out = {}
    for name, value in table.items():
        key = FLOW_PREFIX + name
        # The command line repeats the flow's own values, which replace nothing.
        is_new = value != getattr(experiment.flow, name, value)
        if isinstance(value, (list, tuple)):
            out[key] = tuple(value)
        elif key in experiment.cell and is_new:
            out[key] = value
    return out


def _cell(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}


def _times(name: str, value: Any) -> tuple[float, ...]:
    if not isinstance(value, (list, tuple)):
        raise BadInput(f"`{name}` must be a list of numbers, got {value!r}.")
    if len(value) > _MOST_TIMES:
        raise BadInput(
            f"`{name}` must have at most {_MOST_TIMES} values, got {len(value)}."
        )
    return tuple(float(checked_value(name, v, float)) for v in value)


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadInput(f"`{name}` must be a table, got {value!r}.")
    return value
