"""Whether a traced function jumps as some of its arguments move."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun
from jaxtyping import Array

from simbias.introspection.bounds import (
    ANY,
    Bounds,
    bounds_after,
    bounds_of_constant,
)
from simbias.introspection.continuity import is_known, jump

# Of a value: False if it does not depend on the weights, True if continuously, and else
# the operation that may make it jump.
_How = bool | str
# Of whose derivatives by hand it is known that they are right.
_TRUSTED = (
    str(pathlib.Path(jax.__file__).parent),
    str(pathlib.Path(__file__).parents[1]),
)
_CALLS = ("checkpoint", "closed_call", "core_call", "jit", "pjit", "remat", "remat2")
_COMPARISONS = ("eq", "ge", "gt", "le", "lt", "ne")


class _Root:
    """What values that are equal share; clipped if it is max(v, c) too, where v ≥ c."""

    is_clipped: bool = False


@dataclasses.dataclass(frozen=True)
class Value:
    """What is known of a value of a traced function.

    `root` is the same object for what is equal whatever the arguments are.
    """

    how: _How = False
    bounds: Bounds = ANY
    root: _Root = dataclasses.field(default_factory=_Root)


class NoDerivative(Exception):
    """The function, or its derivative in this way, cannot be traced."""


def jump_of(f: Any, like: Sequence[Any], moves: Sequence[bool]) -> str | None:
    """What may make a function jump as some of its arguments move, None if nothing can.

    Args:
        f: of arrays, or trees of them.
        like: its arguments, without values.
        moves: for every array in them, whether it moves.

    Raises:
        NoDerivative: if it cannot be traced.
    """
    try:
        closed = jax.make_jaxpr(f)(*like)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise NoDerivative from error
    worst = _worst(through(closed, [Value(how) for how in moves]))
    return worst if isinstance(worst, str) else None


def through(traced: Any, inputs: Sequence[Value]) -> list[Value]:
    """What is known of the outputs, if that is known of the inputs."""
    jaxpr = getattr(traced, "jaxpr", traced)
    known: dict[Any, Value] = dict(zip(jaxpr.invars, inputs, strict=True))
    constants = zip(jaxpr.constvars, getattr(traced, "consts", ()), strict=False)
    known |= {v: Value(False, bounds_of_constant(of)) for v, of in constants}

    def value(v: Any) -> Value:
        # A literal has a value, and in some versions of jax no hash.
        if hasattr(v, "val"):
            return Value(False, bounds_of_constant(v.val))
        return known.get(v, Value())

    for equation in jaxpr.eqns:
        outputs = _outputs(equation, [value(v) for v in equation.invars])
        known.update(zip(equation.outvars, outputs, strict=True))
    return [value(v) for v in jaxpr.outvars]


def _outputs(equation: Any, inputs: list[Value]) -> list[Value]:
    worst, name, many = _worst(inputs), equation.primitive.name, len(equation.outvars)
    if name == "custom_lin":
        raise NoDerivative  # a derivative by hand, of reverse mode only
    if name == "cond" and inputs[0].how is False:
        branches = [through(b, inputs[1:]) for b in equation.params["branches"]]
        return [Value(_worst(v)) for v in zip(*branches, strict=True)]
    if name in ("scan", "while"):
        return _loop(equation, inputs)
    if name in ("custom_jvp_call", "custom_vjp_call"):
        found = through(equation.params["call_jaxpr"], inputs)
        how = worst if worst is not True else _by_hand(equation)
        return [dataclasses.replace(v, how=how) for v in found]
    inner = [v for v in equation.params.values() if hasattr(_bare(v), "eqns")]
    if not is_known(name) and len(inner) == 1:
        if name in _CALLS:
            return through(inner[0], inputs)
        if len(_bare(inner[0]).invars) == len(inputs):  # such as a reduction
            found = through(inner[0], [Value(v.how) for v in inputs])
            return [Value(v.how) for v in found]
    if name == "max" and (kept := _clipped(*inputs)) is not None:
        return [kept]
    given = [v.bounds for v in inputs]
    is_same = len(inputs) > 1 and inputs[0].root is inputs[1].root
    bounds = bounds_after(equation, given, is_same) if many == 1 else ANY
    if worst is False or name == "is_finite" or _is_decided(equation, inputs):
        return [Value(False, bounds) for _ in range(many)]
    how = worst
    if worst is True:
        how = jump(equation, given, [v.how is not False for v in inputs]) or True
    # Whole numbers and truth values cannot move continuously.
    stepping = f"`{name}` of values that depend on the weights" if how is True else how
    is_number = lambda v: jnp.issubdtype(v.aval.dtype, jnp.inexact)
    return [Value(how if is_number(v) else stepping, bounds) for v in equation.outvars]


def _by_hand(equation: Any) -> _How:
    """How a function with a derivative of its own depends on its arguments.

    Those of JAX are known to be right.  Of yours the function itself counts too: a
    derivative that hides its kinks is none.
    """
    parts = (equation.params.get(k) for k in ("jvp_jaxpr_fun", "bwd"))
    body = equation.params["call_jaxpr"]
    infos = [getattr(v, "debug_info", None) for v in (body.jaxpr, *parts) if v]
    places = [str(getattr(info, "func_src_info", "")) for info in infos]
    if all(any(of in place for of in _TRUSTED) for place in places):
        return True
    function, avals = jaxpr_as_fun(body), body.in_avals
    is_float = [jnp.issubdtype(v.dtype, jnp.inexact) for v in avals]

    def derivative(*arguments: Array) -> Any:
        moved = [v for v, yes in zip(arguments, is_float, strict=True) if yes]

        def of_floats(*floats: Array) -> Any:
            left = iter(floats)
            pairs = zip(arguments, is_float, strict=True)
            return function(*(next(left) if yes else v for v, yes in pairs))

        return jax.jvp(of_floats, moved, [jnp.ones_like(v) for v in moved])

    like = [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in avals]
    try:
        found = jump_of(derivative, like, is_float)
    except NoDerivative:
        return "a custom derivative of a function that has none"
    return True if found is None else f"a custom derivative of a function with {found}"


def _loop(equation: Any, inputs: list[Value]) -> list[Value]:
    """A loop, gone through until nothing changes; of what it carries no bounds."""
    params = equation.params
    if equation.primitive.name == "scan":
        body, ends = params["jaxpr"], None
        # What is scanned has one axis more outside; names of the parameters change.
        is_whole = lambda outer, inner: outer.aval.shape == inner.aval.shape
        carried = sum(map(is_whole, equation.outvars, _bare(body).outvars))
        first = sum(map(is_whole, equation.invars, _bare(body).invars)) - carried
        test: list[Value] = []
    else:
        body, ends = params["body_jaxpr"], params["cond_jaxpr"]
        skipped, first = params["cond_nconsts"], params["body_nconsts"]
        test, inputs = inputs[:skipped], inputs[skipped:]
        carried = len(inputs) - first
    inputs = [*inputs[:first], *(Value(v.how) for v in inputs[first:])]
    while True:
        outputs = [Value(v.how) for v in through(body, inputs)]
        if ends is not None:
            (goes_on,) = through(ends, [*test, *inputs[first:]])
            if goes_on.how is not False:
                why = "`while` of values that depend on the weights"
                reason = Value(why if goes_on.how is True else goes_on.how)
                return [reason] * len(equation.outvars)
        before = inputs[first : first + carried]
        pairs = zip(before, outputs[:carried], strict=True)
        after = [Value(_worst(pair)) for pair in pairs]
        if [v.how for v in after] == [v.how for v in before]:
            return [*after, *outputs[carried:]]
        inputs = [*inputs[:first], *after, *inputs[first + carried :]]


def _is_decided(equation: Any, inputs: list[Value]) -> bool:
    """True for comparisons and signs that come out alike for all weights.

    Also for those that look for infinities and NaN.
    """
    name = equation.primitive.name
    if name == "sign":
        return inputs[0].bounds.is_away
    if name not in _COMPARISONS:
        return False
    one, other = inputs
    if one.root is other.root:
        return True
    if one.bounds.is_below(other.bounds) or other.bounds.is_below(one.bounds):
        return True
    high, low = (one, other) if name in ("ge", "lt") else (other, one)
    if name in ("ge", "lt", "le", "gt") and high.bounds.low >= low.bounds.high:
        return True
    # Of max(v, c), where v ≥ c, whether it is c: the derivative of v is 0 there.
    for clipped, least in ((one, other), (other, one)):
        is_never_below = clipped.bounds.low >= least.bounds.high
        if clipped.root.is_clipped and least.how is False and is_never_below:
            return True
    if name not in ("eq", "ne"):
        return False
    values = [getattr(v, "val", 0.0) for v in equation.invars]
    return not np.all(np.isfinite(values))


def _clipped(one: Value, other: Value) -> Value | None:
    """Of a maximum the operand that is never below the other, a constant."""
    for value, least in ((one, other), (other, one)):
        is_constant = least.how is False and not least.bounds.is_empty
        is_never_below = value.bounds.low >= least.bounds.high
        if value.how is not False and is_constant and is_never_below:
            value.root.is_clipped = True
            return value
    return None


def _bare(traced: Any) -> Any:
    return getattr(traced, "jaxpr", traced)


def _worst(values: Sequence[Value]) -> _How:
    hows = [v.how for v in values]
    return next((v for v in hows if isinstance(v, str)), any(hows))
