"""From an experiment's `cell` to members: validated cells, identities, keys, shapes."""

import dataclasses
import difflib
import hashlib
import inspect
import itertools
import json
import math
import typing
from collections.abc import Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, UInt

from simbias.core import PLAIN, CellValue, Dataset, Experiment, Index, Make
from simbias.ensemble.fields import flow_fields, value_type
from simbias.errors import BadInput
from simbias.suggestion import suggestion

FLOW_PREFIX = "flow."
# Sizes and counts are 32-bit integers in XLA.
_LARGEST = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Cell:
    """One point of the grid.

    All keyword arguments of `make`, defaults included, are its `sizes`, which may
    decide shapes, and its `numbers`, which are traced and do not; `flow` holds the
    fields of the flow that this cell replaces.  `identity` depends on the arguments
    only, so that cells which differ in the flow alone train the same networks on the
    same data.
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
        ValueError: for an unknown key, a value of the wrong type or not finite, an
            empty or duplicated axis.  The message names the key as `cell.KEY`.
    """
    parameters = make_parameters(experiment.make)
    known = {name: p.annotation for name, p in parameters.items()}
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
    every = (fixed | dict(zip(axes, point, strict=True)) for point in points)
    return Grid(axes, tuple(_cell(parameters, values) for values in every))


def make_cell(make: Make, values: Mapping[str, CellValue]) -> Cell:
    """One cell, checked; the values are those of arguments of `make`.

    Raises:
        ValueError: as `make_grid`.
    """
    parameters = make_parameters(make)
    known = {name: p.annotation for name, p in parameters.items()}
    checked = {
        key: checked_value(f"cell.{key}", value, _annotation(key, known))
        for key, value in values.items()
    }
    return _cell(parameters, checked)


def _cell(
    parameters: Mapping[str, inspect.Parameter], values: Mapping[str, CellValue]
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
                f"`cell.{name}` is required by `make` and missing. "
                f"Example: cell={{'{name}': …}}."
            )
        arguments[name] = value
    traced = {name for name, p in parameters.items() if p.annotation == Index}
    numbers = {
        k: v for k, v in arguments.items() if isinstance(v, float) or k in traced
    }
    sizes = {k: v for k, v in arguments.items() if k not in numbers}
    return Cell(sizes, numbers, flow, _identity(arguments))


def make_parameters(make: Make) -> dict[str, inspect.Parameter]:
    """Parameters of `make` after the key: what a cell may hold.

    Raises:
        ValueError: if `make` does not take a key first.
    """
    first, *rest = [*inspect.signature(make).parameters.values(), None]
    if first is None or first.kind in (first.KEYWORD_ONLY, first.VAR_KEYWORD):
        raise BadInput(
            "`make` must take a key first. Example: def make(key, *, n: int = 50)."
        )
    return {p.name: p for p in rest if p is not None and _is_argument(p)}


def member_key(root: int, cell: Cell, seed: int) -> PRNGKeyArray:
    """fold_in(fold_in(root, cell identity), seed).

    Depends on the cell's own values and the seed alone: adding cells or seeds to a
    grid leaves every existing member as it was.
    """
    return _key(root, cell.identity, seed)


def member_keys(root: int, cell: Cell, seed: int) -> tuple[PRNGKeyArray, PRNGKeyArray]:
    """Keys of one member: for its data and network, and for its flow."""
    return _split_keys(key_numbers(root, cell, seed))


def key_numbers(root: int, cell: Cell, seed: int) -> np.ndarray:
    """What the keys of a member are made of: root, cell identity and seed."""
    return np.asarray([root, cell.identity, seed], np.uint32)


def split_keys(numbers: UInt[Array, "3"]) -> tuple[PRNGKeyArray, PRNGKeyArray]:
    """`member_keys` inside a compiled program."""
    key_draw, key_flow = jax.random.split(_key(*numbers))
    return key_draw, key_flow


_split_keys = jax.jit(split_keys)


def _key(root: Any, identity: Any, seed: Any) -> PRNGKeyArray:
    key = jax.random.fold_in(jax.random.key(root), jnp.uint32(identity))
    return jax.random.fold_in(key, jnp.uint32(seed))


def bucket(n: int) -> int:
    """Padded sample size: n rounded up to a quarter of its power of two, at least 8.

    A fixed function of n, so that what a member computes does not depend on the other
    sizes of the grid; at most a quarter is padding.
    """
    unit = 2 ** max(n - 1, 8).bit_length() // 8
    return max(8, -(-n // unit) * unit)


def padded(data: Dataset, n: int) -> Dataset:
    """The sample with rows of weight 0 appended up to n rows (test left as it is)."""
    extra = n - data.x.shape[0]
    grow = lambda v: jnp.pad(v, [(0, extra)] + [(0, 0)] * (v.ndim - 1))
    return dataclasses.replace(
        data,
        x=grow(data.x),
        y=grow(data.y),
        weight=grow(data.weight),
        mean=grow(data.mean),
    )


def checked_value(name: str, value: Any, annotation: Any) -> Any:
    """The value as its annotation says, or a ValueError that names it."""
    annotation = PLAIN.get(annotation, annotation)
    if typing.get_origin(annotation) is Literal:
        choices = typing.get_args(annotation)
        if value not in choices or isinstance(value, bool):
            raise BadInput(
                f"`{name}` must be one of {', '.join(map(repr, choices))}, "
                f"got {value!r}.{_suggest(value, choices)}"
            )
        return value
    if annotation is bool:
        if not isinstance(value, bool):
            raise BadInput(f"`{name}` must be true or false, got {value!r}.")
        return value
    if annotation in (int, float):
        if isinstance(value, (np.integer, np.floating)):
            value = value.item()
        if isinstance(value, (list, set, range, np.ndarray)):
            raise BadInput(
                f"`{name}` must be a number, or a tuple of numbers for an axis, "
                f"got {value!r}."
            )
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadInput(f"`{name}` must be a number, got {value!r}.")
        if not math.isfinite(value):
            raise BadInput(f"`{name}` must be finite, got {value}.")
        if annotation is float:
            return float(value)
        if value != int(value):
            raise BadInput(f"`{name}` must be an integer, got {value}.")
        if abs(value) > _LARGEST:
            raise BadInput(f"`{name}` must be at most {_LARGEST:,}, got {value:,}.")
        return int(value)
    if annotation is str and not isinstance(value, str):
        raise BadInput(f"`{name}` must be a string, got {value!r}.")
    # Of an argument without annotation anything that can be compared and written down.
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (bool, int, float, str)):
        raise BadInput(
            f"`{name}` must be a number, a string or a truth value, got {value!r}."
        )
    return value


def _is_argument(parameter: inspect.Parameter) -> bool:
    if parameter.kind is parameter.KEYWORD_ONLY:
        return True
    default = parameter.default
    # Any other default is what the function was made with: lambda key, law=law: …
    is_value = default is parameter.empty or isinstance(default, (int, float, str))
    return parameter.kind is parameter.POSITIONAL_OR_KEYWORD and is_value


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
            f"`cell.{key}` is not a field of the flow that holds a number, a choice or "
            "a truth value." + suggestion(key, fields)
        )
    if not known:
        raise BadInput(
            f"`cell.{key}` is not known here: `make` names no argument but the key. "
            "Example: def make(key, *, n: int = 50)."
        )
    raise BadInput(f"`cell.{key}` is not known here." + suggestion(key, known))


def _axis(key: str, values: tuple, annotation: Any) -> tuple[CellValue, ...]:
    if not values:
        raise BadInput(
            f"`cell.{key}` is an empty grid. Give at least one value, "
            f"e.g. cell={{'{key}': (50, 100)}}."
        )
    checked = tuple(checked_value(f"cell.{key}", v, annotation) for v in values)
    if len(set(checked)) < len(checked):
        twice = next(v for i, v in enumerate(checked) if v in checked[:i])
        raise BadInput(f"`cell.{key}` holds {twice!r} more than once.")
    return checked


def _identity(arguments: Mapping[str, CellValue]) -> int:
    text = json.dumps(dict(sorted(arguments.items())))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def _suggest(value: Any, choices: tuple) -> str:
    if not isinstance(value, str):
        return ""
    close = difflib.get_close_matches(value, map(str, choices), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
