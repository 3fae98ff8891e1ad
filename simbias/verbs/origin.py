"""The experiment that a result came from, as far as one of its members needs it."""

import dataclasses
import functools
import importlib
import json
import platform
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from simbias.core import CellValue, Experiment
from simbias.datasets.npz import Npz
from simbias.drawn_from import OnSample
from simbias.ensemble.configuration import configuration, with_current_names
from simbias.ensemble.grid import FLOW_PREFIX, Cell, make_cell
from simbias.errors import BadInput
from simbias.introspection.reachable_source import reachable_source
from simbias.store.compatible import differences, without_digests
from simbias.store.source import source_differences

# Where a result may name functions by itself.
_MAKERS, _LOSSES, _OPTIMISERS = "simbias.experiments.", "simbias.losses.", "optax."


def origin(
    ds: xr.Dataset,
    experiment: Experiment | None,
    fields: tuple[str, ...] = ("make", "flow", "loss"),
) -> Experiment:
    """The experiment of a result: the one given, if it is, or found by its names.

    Args:
        ds: a result, or a part of one.
        experiment: that was run; None for one of `simbias.experiments`.
        fields: in which the two must agree.

    Raises:
        ValueError: for another experiment, or none where none can be found.
    """
    stored = _stored(ds)
    if experiment is None:
        experiment = Experiment(
            name=stored["name"],
            make=_make(stored["make"]),
            cell={},
            seeds=stored["seeds"],
            flow=_flow(stored["flow"]),
            loss=_function(stored["loss"], _LOSSES),
            times=tuple(stored["times"]),
            measures={},
            dtype=stored["dtype"],
            root=stored["root"],
        )
    ours = configuration(experiment)
    theirs = json.loads(ds.attrs.get("source", "null"))
    # In the order of `configuration.source`, which tells lambdas of one name apart.
    named = [name for name in ("make", "loss", "flow") if name in fields]
    own = reachable_source({name: getattr(experiment, name) for name in named})
    for field in fields:
        if not _is_same(ours[field], stored[field], ds, bool(own and theirs)):
            raise BadInput(
                f"`experiment.{field}` differs from that of the result: expected "
                f"{stored[field]}, got {ours[field]}. Give the experiment that was run."
            )
    if changed := source_differences(own, theirs, is_part=True):
        raise BadInput(
            f"the code of `experiment` ({', '.join(named)}) differs from that of the "
            "result. Restore it, or run the experiment again. Differences (result -> "
            "here):"
            "\n  " + "\n  ".join(changed)
        )
    same = {name: stored[name] for name in ("dtype", "root")}
    # Results of earlier versions know nothing of these.
    same |= {"pad_to": stored.get("pad_to", 0)}
    same |= {"shared": tuple(stored.get("shared", ()))}
    return dataclasses.replace(experiment, **same)


def values_of(ds: xr.Dataset) -> dict[str, list[CellValue]]:
    """Every argument of `make` and field of the flow in the cell, with its values.

    They are those that were run: a coordinate holds 1 and 2.5 as floats.

    Raises:
        ValueError: for a part of a result that does not say where on an axis it lies.
    """
    return {key: _values(ds, key, given) for key, given in _stored(ds)["cell"].items()}


def _values(ds: xr.Dataset, key: str, given: Any) -> list[CellValue]:
    """Those of the values of a key that this part of a result has."""
    known = given if isinstance(given, list) else [given]
    if key not in ds.coords:
        if isinstance(given, list):
            raise BadInput(
                f"this part of the result has lost its value of `{key}`. Select it "
                f"without drop=True, or add the value: assign_coords({key}=…)."
            )
        return known
    places = np.asarray(known).tolist()
    seen = np.atleast_1d(ds[key].values).tolist()
    if strangers := [v for v in seen if v not in places]:
        raise BadInput(
            f"`{key}` = {strangers[0]!r} is not a value of the run, which has {known}."
        )
    return [known[places.index(value)] for value in seen]


def root_and_dtype(ds: xr.Dataset) -> tuple[int, str]:
    """The seed of the root key, and the precision of the run."""
    stored = _stored(ds)
    return stored["root"], stored["dtype"]


def drawn_cell(experiment: Experiment, values: Mapping[str, CellValue]) -> Cell:
    """The cell that a member is drawn in, of an experiment as `origin` has it."""
    is_own = lambda key: not key.startswith(FLOW_PREFIX) and values[key] is not None
    own = {key: values[key] for key in values if is_own(key)}
    return make_cell(experiment.make, own, experiment.shared)


def _stored(ds: xr.Dataset) -> dict[str, Any]:
    if "configuration" not in getattr(ds, "attrs", {}):
        raise BadInput(
            "expected a result of `simulate` or `open_result`, or a part of one, got "
            f"a {type(ds).__name__} without the attributes of a result."
        )
    return with_current_names(json.loads(ds.attrs["configuration"]))


def _is_same(ours: Any, stored: Any, ds: xr.Dataset, is_known: bool) -> bool:
    """Whether two descriptions agree.

    Of code the name only, where its source is known, or where Python is another one.
    """
    theirs = json.loads(ds.attrs["versions"])["python"].split(".")[:2]
    if not is_known and platform.python_version().split(".")[:2] == theirs:
        return not differences(ours, stored)
    return not differences(without_digests(ours), without_digests(stored))


def _function(text: Any, within: str) -> Any:
    """A function by its full name, in a module of which the name is known to be ours.

    Raises:
        ValueError: for any other name.
    """
    module, _, name = str(text).rpartition(".")
    if f"{module}.".startswith(within):
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            pass
    raise BadInput(
        f"the result was made with {text}, which cannot be imported by this name. Give "
        "the experiment that was run, as `experiment`."
    )


def _make(stored: Any) -> Any:
    """A `make` of the package, or one of them on a sample of a file."""
    if not isinstance(stored, Mapping) or stored.get("type") != OnSample.__name__:
        return _function(stored, _MAKERS)
    law, make = stored["law"], _function(stored["make"], _MAKERS)
    return OnSample(Npz(law["path"], law["sha256"]), make)


def _flow(stored: Mapping[str, Any]) -> Any:
    fields = dict(stored)
    name = fields.pop("type")
    if "." in name:
        return _function(name, _MAKERS)(**{k: _field(v) for k, v in fields.items()})
    file = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    kind = _function(f"simbias.flows.{file}.{name}", "simbias.flows.")
    known = {field.name for field in dataclasses.fields(kind)}
    if strangers := sorted(fields.keys() - known):
        raise BadInput(
            f"`flow`: the run was made by another version of simbias, whose {name} has "
            f"a field `{strangers[0]}`. Read the run with that version, or run the "
            "experiment again."
        )
    return kind(**{k: _field(v) for k, v in fields.items()})


def _field(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_OPTIMISERS):
        return _function(value, _OPTIMISERS)
    if isinstance(value, Mapping) and value.get("type") != "partial":
        fields = dict(value)
        return _function(f"diffrax.{fields.pop('type')}", "diffrax.")(**fields)
    if isinstance(value, Mapping):
        options = {k: v for k, v in value.items() if k not in ("type", "function")}
        positional = options.pop("args")
        function = _function(value["function"], _OPTIMISERS)
        return functools.partial(function, *positional, **options)
    return value
