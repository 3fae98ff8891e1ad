"""The names that code reads from its module, and what it imports while it runs."""

import dis
import types
from collections.abc import Iterator
from typing import NamedTuple

_READS = ("LOAD_GLOBAL", "LOAD_NAME")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


class Imported(NamedTuple):
    """`from module import names`, or `import module` with no names."""

    module: str
    level: int
    names: tuple[str, ...]


def names_of_code(code: types.CodeType) -> Iterator[tuple[str, ...] | Imported]:
    """A global name with the attributes that follow it, or an import.

    `helpers.law(x)` gives ("helpers", "law").  Functions inside count as well.
    """
    steps = [s for s in dis.get_instructions(code) if s.opname != "EXTENDED_ARG"]
    for i, step in enumerate(steps):
        if step.opname in _READS:
            yield (step.argval, *_following(steps[i + 1 :], _ATTRIBUTES))
        elif step.opname == "IMPORT_NAME":
            names, level = steps[i - 1].argval, steps[i - 2].argval
            yield Imported(step.argval, level or 0, tuple(names or ()))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of_code(constant)


def _following(steps: list[dis.Instruction], kinds: tuple[str, ...]) -> Iterator[str]:
    for step in steps:
        if step.opname not in kinds:
            return
        yield step.argval
