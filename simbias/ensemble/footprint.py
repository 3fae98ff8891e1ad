"""How large a function is, without computing it: numbers on its way, equations."""

import math
import re
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import jax

# What is computed from the outputs of these alone, XLA fuses, but for some of what
# follows a convolution.
_TIMES = {"dot_general": 1, "conv_general_dilated": 1.4}
_ADDRESS = re.compile("0x[0-9a-f]+")


def footprint(f: Callable[..., Any], *arguments: Any) -> int:
    """Numbers in the outputs of all products of `f`; of a loop those of one turn.

    XLA computes side by side what does not wait for each other, so that they add up;
    what two parts of `f` have in common it computes once.

    Args:
        f: of arrays.
        arguments: of `f`, with or without values.
    """
    return round(_Footprint().of([jax.make_jaxpr(f)(*arguments)]))


def footprint_and_equations(programs: Iterable[Any]) -> tuple[int, int]:
    """Both of several programs together, which are traced for the same arguments."""
    programs = list(programs)
    count = sum(_equations(program.jaxpr) for program in programs)
    return round(_Footprint().of(programs)), count


def equations(f: Callable[..., Any], *arguments: Any) -> int:
    """Equations that `f` is traced to, those inside loops and branches included."""
    return _equations(jax.make_jaxpr(f)(*arguments).jaxpr)


def _equations(jaxpr: Any) -> int:
    inner = [part for equation in jaxpr.eqns for part in _parts(equation)]
    return len(jaxpr.eqns) + sum(map(_equations, inner))


def _parts(equation: Any) -> list[Any]:
    """What an equation calls."""
    return [part for value in equation.params.values() for part in _calls(value)]


def _calls(value: Any) -> list[Any]:
    """What is called by an equation with such a parameter."""
    found = [getattr(part, "jaxpr", part) for part in jax.tree.leaves(value)]
    return [part for part in found if hasattr(part, "eqns")]


class _Footprint:
    """Counts programs; what several equations call is written and counted once."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}  # of a program, by its identity
        self._numbers: dict[str, int] = {}  # of a text
        self._counts: dict[int, float] = {}

    def of(self, programs: list[Any]) -> float:
        """Of programs with the same arguments."""
        same: dict[Any, Any] = {}  # variable -> the first one with its value
        held: dict[int, Any] = {}
        for program in programs:
            first = programs[0].jaxpr.invars
            same.update(zip(program.jaxpr.invars, first, strict=True))
            for v, value in zip(program.jaxpr.constvars, program.consts, strict=True):
                same[v] = held.setdefault(id(value), v)
        return self._of((e for p in programs for e in p.jaxpr.eqns), same)

    def _of(self, equations: Iterable[Any], same: dict[Any, Any]) -> float:
        total = 0.0
        made: dict[Hashable, list[Any]] = {}
        for equation in equations:
            of = (_operand(v, same) for v in equation.invars)
            what = equation.primitive.name, self._how(equation), *of
            outputs = made.setdefault(what, equation.outvars)
            if outputs is not equation.outvars:
                same.update(zip(equation.outvars, outputs, strict=True))
                continue
            sizes = [math.prod(v.aval.shape) for v in outputs]
            total += _TIMES.get(equation.primitive.name, 0) * sum(sizes)
            total += sum(map(self._inside, _parts(equation)))
        return total

    def _inside(self, jaxpr: Any) -> float:
        if id(jaxpr) not in self._counts:
            self._counts[id(jaxpr)] = self._of(jaxpr.eqns, {})
        return self._counts[id(jaxpr)]

    def _how(self, equation: Any) -> str:
        """Parameters of an equation, without addresses."""
        parts = _parts(equation)
        if not parts:
            return _ADDRESS.sub("", str(equation.params))
        rest = {k: v for k, v in equation.params.items() if not _calls(v)}
        return _ADDRESS.sub("", str(rest)) + "".join(map(self._text, parts))

    def _text(self, jaxpr: Any) -> str:
        """A number that programs share if they are the same, as text."""
        if id(jaxpr) not in self._texts:
            names: dict[Any, int] = {}
            name = lambda v: f"{names.setdefault(v, len(names))}:{v.aval}"
            lines = [" ".join(map(name, [*jaxpr.constvars, *jaxpr.invars]))]
            for equation in jaxpr.eqns:
                of = [str(v) if hasattr(v, "val") else name(v) for v in equation.invars]
                words = equation.primitive.name, self._how(equation), *of, "->"
                lines.append(" ".join([*words, *map(name, equation.outvars)]))
            number = self._numbers.setdefault("\n".join(lines), len(self._numbers))
            self._texts[id(jaxpr)] = f"#{number}"
        return self._texts[id(jaxpr)]


def _operand(v: Any, same: dict[Any, Any]) -> Hashable:
    # A literal has a value, and in some versions of jax no hash.
    return str(v) if hasattr(v, "val") else same.get(v, v)
