"""The grid of an experiment's `cell`: its points, checked."""

import dataclasses
import hashlib
import inspect
import itertools
import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from simbias.core import CellValue, Experiment, Index, Make
from simbias.ensemble.fields import flow_fields, value_type
from simbias.ensemble.parameters import parameters_of
from simbias.errors import BadInput
from simbias.suggestion import suggestion
from simbias.validation.cell_value import checked_value

FLOW_PREFIX = "flow."


@dataclasses.dataclass(frozen=True)
class Cell:
    """One point of the grid.

    All keyword arguments of `make`, defaults included, are its `sizes`, which may
    decide shapes, and its `numbers`, which are traced and do not; `flow` holds the
    fields of the flow that this cell replaces.  `identity` depends on the arguments
    that are not shared, so that cells which differ in the flow or in a shared argument
    alone draw from the same keys.
    """

    sizes: Mapping[str, CellValue]
    numbers: Mapping[str, int | float]
    flow: Mapping[str, CellValue]
    identity: int

    @property
    def arguments(self) -> dict[str, CellValue]:
        """What `make` is given."""
        return {**self.sizes, **self.numbers}


@dataclasses.dataclass(frozen=True)
class Grid:
    """Axes (name -> values, in order) and cells, the last axis varying fastest."""

    axes: Mapping[str, tuple[CellValue, ...]]
    cells: tuple[Cell, ...]


def make_grid(experiment: Experiment) -> Grid:
    """Every cell of an experiment, checked.

    Raises:
        ValueError: for an unknown key, a value of the wrong type, not finite, or so
            small that the experiment's dtype makes it 0, an empty or duplicated axis.
            The message names the key as `cell.KEY`.
    """
    parameters = parameters_of(experiment.make)
    known = {name: p.annotation for name, p in parameters.items()}
    _check_shared(experiment.shared, known)
    known |= _flow_annotations(experiment)
    fixed: dict[str, CellValue] = {}
    axes: dict[str, tuple[CellValue, ...]] = {}
    for key, value in experiment.cell.items():
        annotation = _annotation(key, known)
        if isinstance(value, tuple):
            axes[key] = _axis(key, value, annotation)
        else:
            fixed[key] = checked_value(f"cell.{key}", value, annotation)
    points = itertools.product(*axes.values())
    for key, value in (fixed | axes).items():
        _check_not_lost(key, value, experiment.dtype)
    every = (fixed | dict(zip(axes, point, strict=True)) for point in points)
    shared = experiment.shared
    return Grid(axes, tuple(_cell(parameters, values, shared) for values in every))


def make_cell(
    make: Make, values: Mapping[str, CellValue], shared: Collection[str] = ()
) -> Cell:
    """One cell, checked; the values are those of arguments of `make`.

    Raises:
        ValueError: as `make_grid`.
    """
    parameters = parameters_of(make)
    known = {name: p.annotation for name, p in parameters.items()}
    checked = {
        key: checked_value(f"cell.{key}", value, _annotation(key, known))
        for key, value in values.items()
    }
    return _cell(parameters, checked, shared)


def _check_shared(shared: Any, known: Collection[str]) -> None:
    if not isinstance(shared, tuple) or not all(isinstance(k, str) for k in shared):
        raise BadInput(
            f"`shared` must be a tuple of names, got {shared!r}. "
            "Example: shared=('n',)."
        )
    for name in shared:
        if name.startswith(FLOW_PREFIX):
            raise BadInput(
                f"`shared` must not have {name!r}, a field of the flow: random keys "
                "never depend on these. Leave it out."
            )
        if name not in known:
            raise BadInput(
                f"`shared` has {name!r}, which is not an argument of `make`."
                + suggestion(name, known)
            )


def _cell(
    parameters: Mapping[str, inspect.Parameter],
    values: Mapping[str, CellValue],
    shared: Collection[str],
) -> Cell:
    flow = {
        k.removeprefix(FLOW_PREFIX): v
        for k, v in values.items()
        if k.startswith(FLOW_PREFIX)
    }
    arguments = {}
    for name, parameter in parameters.items():
        value = values.get(name, parameter.default)
        if value is inspect.Parameter.empty:
            raise BadInput(
                f"`cell.{name}` is missing: `make` has no default for it. "
                f"Example: cell={{'{name}': …}}."
            )
        arguments[name] = value
    traced = {name for name, p in parameters.items() if p.annotation == Index}
    numbers = {
        k: v for k, v in arguments.items() if isinstance(v, float) or k in traced
    }
    sizes = {k: v for k, v in arguments.items() if k not in numbers}
    own = {k: v for k, v in arguments.items() if k not in shared}
    return Cell(sizes, numbers, flow, _identity(own))


def _flow_annotations(experiment: Experiment) -> dict[str, Any]:
    if not any(key.startswith(FLOW_PREFIX) for key in experiment.cell):
        return {}
    fields = flow_fields(type(experiment.flow))
    return {FLOW_PREFIX + name: value_type(kind) for name, (kind, _) in fields.items()}


def _annotation(key: str, known: Mapping[str, Any]) -> Any:
    if key in known:
        return known[key]
    if key.startswith(FLOW_PREFIX):
        fields = [k for k in known if k.startswith(FLOW_PREFIX)]
        raise BadInput(
            f"`cell.{key}` is not a field of the flow with a number, a choice or a "
            "boolean; only these can be an axis." + suggestion(key, fields)
        )
    if not known:
        raise BadInput(
            f"`cell.{key}` is not an argument of `make`, which only takes a key. "
            "Example: def make(key, *, n: int = 50)."
        )
    raise BadInput(
        f"`cell.{key}` is not an argument of `make`." + suggestion(key, known)
    )


def _check_not_lost(key: str, values: Any, dtype: str) -> None:
    """Refuse what the dtype would make 0; what it makes infinite fails by itself."""
    least = float(np.finfo(dtype).tiny)
    for value in values if isinstance(values, tuple) else (values,):
        if isinstance(value, float) and 0 < abs(value) < least:
            example = f"cell.{key}=1e-3" if dtype == "float64" else "dtype='float64'"
            raise BadInput(
                f"`cell.{key}` = {value:g} is below {least:.2g}, the smallest number "
                f"with full precision in {dtype}. Example: {example}."
            )


def _axis(key: str, values: tuple, annotation: Any) -> tuple[CellValue, ...]:
    if not values:
        raise BadInput(
            f"`cell.{key}` is empty. Give at least one value. "
            f"Example: cell={{'{key}': (50, 100)}}."
        )
    checked = tuple(checked_value(f"cell.{key}", v, annotation) for v in values)
    if len(set(checked)) < len(checked):
        twice = next(v for i, v in enumerate(checked) if v in checked[:i])
        raise BadInput(
            f"`cell.{key}` has the value {twice!r} more than once. Values must differ."
        )
    if len({type(v) if isinstance(v, str | bool) else float for v in checked}) > 1:
        raise BadInput(  # no coordinate can hold them
            f"`cell.{key}` mixes numbers, strings and booleans: {checked!r}. Use one "
            f"type, and annotate `{key}` in `make` with it."
        )
    return checked


def _identity(arguments: Mapping[str, CellValue]) -> int:
    text = json.dumps(dict(sorted(arguments.items())))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
