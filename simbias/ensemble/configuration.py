"""An experiment as plain data, for provenance and for comparing two runs."""

import dataclasses
import functools
import importlib.metadata
import platform
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from simbias.core import Experiment
from simbias.ensemble.parameters import parameters_of
from simbias.introspection.identity import code_identity, has_name
from simbias.introspection.reachable_source import reachable_source

_LIBRARIES = ("simbias", "jax", "jaxlib", "equinox", "diffrax", "optax", "numpy")
# Fields of an experiment that had another name when earlier runs were stored.
_RENAMED = {"least_rows": "pad_to"}


def configuration(experiment: Experiment) -> dict[str, Any]:
    """Everything that decides the bits of a result, as JSON-ready data.

    `cell` holds every argument of `make`, those left at their defaults too.
    """
    parameters = parameters_of(experiment.make)
    defaults = {
        name: p.default for name, p in parameters.items() if p.default is not p.empty
    }
    fields = {f.name: getattr(experiment, f.name) for f in _fields(experiment)}
    fields["cell"] = {**defaults, **experiment.cell}
    if not experiment.shared:
        del fields["shared"]  # as in runs of versions that did not have it
    plain = {name: _plain(value) for name, value in fields.items()}
    if not plain["flow"].get("counts_steps", True):
        del plain["flow"]["counts_steps"]  # likewise
    if not getattr(fields["make"], "__module__", "").startswith("simbias."):
        plain["make"] = code_identity(fields["make"])
    kind = type(experiment.flow)
    if kind.__module__.startswith("simbias.experiments."):
        plain["flow"]["type"] = f"{kind.__module__}.{kind.__qualname__}"
    for field in ("measures", "final"):
        # Written for the run, and changed as easily: told by their code as well.
        for name, measure in fields[field].items():
            if not isinstance(measure, eqx.Module):
                plain[field][name] = code_identity(measure)
    return plain


def source(experiment: Experiment) -> dict[str, Any] | None:
    """What decides the bits in modules of the user's, see `introspection.reached`.

    None if nothing does: simbias and its experiments are told by their version.
    """
    names = ("make", "loss", "flow", "stop")
    things = {name: getattr(experiment, name) for name in names}
    measures = {**experiment.measures, **experiment.final}
    return reachable_source(
        {**things, **{f"measure {k}": v for k, v in measures.items()}}
    )


def provenance() -> dict[str, Any]:
    """Versions and device; recorded beside the configuration, never compared."""
    device = jax.local_devices()[0]
    return {
        "versions": {name: _version(name) for name in _LIBRARIES}
        | {"python": platform.python_version()},
        "device": f"{device.platform}:{device.device_kind}",
    }


def with_current_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Stored fields of an experiment, or overrides, by the names they have now."""
    return {_RENAMED.get(name, name): value for name, value in fields.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.generic, np.ndarray, jax.Array)):
        return np.asarray(value).tolist()
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, eqx.Module) or dataclasses.is_dataclass(value):
        fields = {f.name: _plain(getattr(value, f.name)) for f in _fields(value)}
        if fields.get("weight_decay", 0) is None and "optimiser" not in fields:
            del fields["weight_decay"]  # exact flows of earlier versions had none
        return {"type": type(value).__name__, **fields}
    if isinstance(value, functools.partial):
        fields = {"function": value.func, "args": value.args, **value.keywords}
        return {"type": "partial", **{k: _plain(v) for k, v in fields.items()}}
    if callable(value):
        if not has_name(value):
            return code_identity(value)
        name = getattr(value, "__qualname__", type(value).__name__)
        return f"{value.__module__}.{name}"
    return repr(value)


def _fields(value: Any) -> tuple[dataclasses.Field, ...]:
    return dataclasses.fields(value)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
