"""How large a function is, without computing it: numbers on its way, equations."""

import math
import re
from collections.abc import Callable, Hashable
from typing import Any

import jax

# What is computed from the outputs of these alone, XLA fuses, but for some of what
# follows a convolution.
_TIMES = {"dot_general": 1, "conv_general_dilated": 1.4}


def footprint(f: Callable[..., Any], *arguments: Any) -> int:
    """Numbers in the outputs of all products of `f`; of a loop those of one turn.

    XLA computes side by side what does not wait for each other, so that they add up;
    what two parts of `f` have in common it computes once.

    Args:
        f: of arrays.
        arguments: of `f`, with or without values.
    """
    return footprint_and_equations(f, *arguments)[0]


def footprint_and_equations(f: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
    """Both of one trace, which takes longer than to count."""
    jaxpr = jax.make_jaxpr(f)(*arguments).jaxpr
    return round(_of(jaxpr)), _equations(jaxpr)


def equations(f: Callable[..., Any], *arguments: Any) -> int:
    """Equations that `f` is traced to, those inside loops and branches included."""
    return _equations(jax.make_jaxpr(f)(*arguments).jaxpr)


def _equations(jaxpr: Any) -> int:
    inner = [part for equation in jaxpr.eqns for part in _parts(equation)]
    return len(jaxpr.eqns) + sum(map(_equations, inner))


def _parts(equation: Any) -> list[Any]:
    """What an equation calls."""
    found = jax.tree.leaves(list(equation.params.values()))
    found = [getattr(part, "jaxpr", part) for part in found]
    return [part for part in found if hasattr(part, "eqns")]


def _of(jaxpr: Any) -> float:
    total = 0.0
    same: dict[Any, Any] = {}  # variable -> the first one with its value
    made: dict[Hashable, list[Any]] = {}
    for equation in jaxpr.eqns:
        how = re.sub("0x[0-9a-f]+", "", str(equation.params))
        of = (_operand(v, same) for v in equation.invars)
        outputs = made.setdefault((equation.primitive.name, how, *of), equation.outvars)
        if outputs is not equation.outvars:
            same.update(zip(equation.outvars, outputs, strict=True))
            continue
        sizes = [math.prod(v.aval.shape) for v in outputs]
        total += _TIMES.get(equation.primitive.name, 0) * sum(sizes)
        total += sum(map(_of, _parts(equation)))
    return total


def _operand(v: Any, same: dict[Any, Any]) -> Hashable:
    # A literal has a value, and in some versions of jax no hash.
    return str(v) if hasattr(v, "val") else same.get(v, v)
