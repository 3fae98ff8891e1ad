"""Fields of a flow that a user may write, and the types of their values."""

import dataclasses
import types
import typing
from typing import Any, Literal

from simbias.core import PLAIN, AbstractFlow

_PLAIN = (int, float, bool, str)


def flow_fields(kind: type[AbstractFlow]) -> dict[str, tuple[Any, Any]]:
    """Fields of a flow that a user may write: name -> (type, default).

    A field is offered if its type is a number, a truth value, a string, a choice of
    these, or one of them or None.
    """
    hints = {name: _written(h) for name, h in typing.get_type_hints(kind).items()}
    return {
        f.name: (hints[f.name], f.default)
        for f in dataclasses.fields(kind)
        if f.init and _is_plain(hints[f.name])
    }


def value_type(kind: Any) -> Any:
    """The type of a field that has a value: what is not None."""
    if not _is_union(kind):
        return kind
    return next(k for k in typing.get_args(kind) if k is not type(None))


def _written(hint: Any) -> Any:
    """The type without what cannot be written, also in a union.

    That is arrays that stand for traced numbers, and functions beside names.
    """
    if hint in PLAIN or not _is_union(hint):
        return PLAIN.get(hint, hint)
    kinds = typing.get_args(hint)
    for alias, plain in PLAIN.items():
        parts = typing.get_args(alias)
        if set(parts) <= set(kinds):
            kinds = (plain, *(k for k in kinds if k not in parts))
    named = tuple(k for k in kinds if _is_plain(k))
    if named:
        kinds = tuple(k for k in kinds if k in named or k is type(None))
    return typing.Union[kinds]  # noqa: UP007


def _is_plain(kind: Any) -> bool:
    if typing.get_origin(kind) is Literal:
        return True
    if _is_union(kind):
        return all(_is_plain(k) or k is type(None) for k in typing.get_args(kind))
    return kind in _PLAIN


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (types.UnionType, typing.Union)
