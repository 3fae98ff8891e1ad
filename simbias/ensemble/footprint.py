"""How many numbers a function writes down on its way, without computing it."""

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
    return round(_of(jax.make_jaxpr(f)(*arguments).jaxpr))


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
        for inner in jax.tree.leaves(list(equation.params.values())):
            inner = getattr(inner, "jaxpr", inner)
            total += _of(inner) if hasattr(inner, "eqns") else 0
    return total


def _operand(v: Any, same: dict[Any, Any]) -> Hashable:
    # A literal has a value, and in some versions of jax no hash.
    return str(v) if hasattr(v, "val") else same.get(v, v)
