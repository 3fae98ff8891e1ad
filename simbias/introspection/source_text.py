"""The text that a function or a class was compiled from.

Without comments, docstrings and layout, so that only a change of what is computed
changes it.
"""

import ast
import copy
import functools
import linecache
import platform
import types
from collections.abc import Iterator
from typing import NamedTuple

from simbias.introspection.identity import code_digest

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Position = tuple[int | None, int | None, int | None, int | None]


class _File(NamedTuple):
    """A file as it is now: its syntax, and every code object that it compiles to."""

    tree: ast.Module
    codes: tuple[types.CodeType, ...]


def function_text(code: types.CodeType) -> str | None:
    """The text of a function.

    None where there is no file, and where the file has changed since it was imported:
    the function is then not what the file says.
    """
    file = _file(code.co_filename)
    if file is None or code not in file.codes:
        return None
    for name, node in _definitions(file.tree):
        if isinstance(node, _Function) and _is_of(name, node, code):
            return _normalised(node)
    return None


def class_text(qualname: str, codes: list[types.CodeType]) -> str | None:
    """The text of a class with these methods, None as for a function."""
    if not codes or len({code.co_filename for code in codes}) > 1:
        return None
    file = _file(codes[0].co_filename)
    if file is None or not all(code in file.codes for code in codes):
        return None
    found = [n for q, n in _definitions(file.tree) if q == qualname]
    first = codes[0].co_firstlineno
    around = [n for n in found if n.lineno <= first <= (n.end_lineno or first)]
    return _normalised(around[0]) if len(around) == 1 else None


def assigned_text(filename: str, name: str) -> str | None:
    """The statements of a file that assign a global name; None if there are none."""
    file = _file(filename)
    found = (
        [_normalised(v) for v in file.tree.body if name in _targets(v)] if file else []
    )
    return "\n".join(found) or None


def code_version(codes: list[types.CodeType]) -> str:
    """What the interpreter made of it: the version of Python, and a digest."""
    version = ".".join(platform.python_version_tuple()[:2])
    return f"Python {version} {code_digest(codes)}"


def is_same_text(one: str, other: str) -> bool:
    """Whether two texts have the same syntax: versions of Python write it otherwise."""
    if one == other:
        return True
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _file(filename: str) -> _File | None:
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename))
    return _parsed(filename, text) if text else None


@functools.lru_cache(256)
def _parsed(filename: str, text: str) -> _File | None:
    try:
        tree = ast.parse(text)
        whole = compile(text, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _File(tree, tuple(_nested(whole)))


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _nested(constant)


def _definitions(
    tree: ast.AST, within: str = ""
) -> Iterator[tuple[str, _Function | ast.ClassDef]]:
    """Every function and class, by its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Function | ast.ClassDef):
            name = within + getattr(node, "name", "<lambda>")
            yield name, node
            is_class = isinstance(node, ast.ClassDef)
            yield from _definitions(node, f"{name}{'.' if is_class else '.<locals>.'}")
        else:
            yield from _definitions(node, within)


def _is_of(name: str, node: _Function, code: types.CodeType) -> bool:
    if name != code.co_qualname:
        return False
    if not isinstance(node, ast.Lambda):
        lines = [node.lineno, *(v.lineno for v in node.decorator_list)]
        return min(lines) == code.co_firstlineno
    # Of several on one line, the one whose value is what is returned.
    body = node.body
    where: _Position = (
        *(body.lineno, body.end_lineno),
        *(body.col_offset, body.end_col_offset),
    )
    return where in [*code.co_positions()]


def _normalised(node: ast.AST) -> str:
    """The text of it without docstrings."""
    node = copy.deepcopy(node)
    for inner in ast.walk(node):
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = inner.body[0]
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if is_text and isinstance(first.value.value, str):  # pyright: ignore
            inner.body = inner.body[1:] or [ast.Pass()]
    return ast.unparse(node)


def _targets(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    else:
        return set()
    names = (v for target in targets for v in ast.walk(target))
    return {v.id for v in names if isinstance(v, ast.Name)}
