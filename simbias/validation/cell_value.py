"""A value of a cell, as its annotation says."""

import difflib
import typing
from typing import Any, Literal

import numpy as np

from simbias.core import PLAIN
from simbias.errors import BadInput
from simbias.validation.values import LARGEST, is_finite, short


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
        if not is_finite(value):
            raise BadInput(f"`{name}` must be finite, got {short(value)}.")
        if annotation is float:
            return float(value)
        if value != int(value):
            raise BadInput(f"`{name}` must be an integer, got {value}.")
        if abs(value) > LARGEST:
            raise BadInput(f"`{name}` must be at most {LARGEST:,}, got {value:,}.")
        return int(value)
    if annotation is str and not isinstance(value, str):
        raise BadInput(f"`{name}` must be a string, got {value!r}.")
    # Of an argument without annotation anything that can be compared and written down.
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (bool, int, float, str)):
        raise BadInput(
            f"`{name}` must be a number, a string or a boolean, got {value!r}."
        )
    return value


def _suggest(value: Any, choices: tuple) -> str:
    if not isinstance(value, str):
        return ""
    close = difflib.get_close_matches(value, map(str, choices), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
