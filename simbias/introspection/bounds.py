"""Between what bounds a value of a traced function lies, whatever its arguments are."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

_INF = math.inf


class Bounds(NamedTuple):
    """An interval; an end that is open is not reached.  Infinite ends are open."""

    low: float = -_INF
    high: float = _INF
    is_low_open: bool = True
    is_high_open: bool = True

    @property
    def is_positive(self) -> bool:
        """True if the value is above 0."""
        return self.low > 0 or (self.low == 0 and self.is_low_open)

    @property
    def is_away(self) -> bool:
        """True if the value is never 0."""
        return self.is_positive or _negative(self).is_positive

    def is_below(self, other: "Bounds") -> bool:
        """True if every value is less than every value of the other."""
        return _sum(other, _negative(self)).is_positive

    @property
    def is_empty(self) -> bool:
        """True of a NaN, which bounds nothing."""
        return self.low > self.high


ANY = Bounds()
NOTHING = Bounds(_INF, -_INF)


def bounds_of_constant(value: Any) -> Bounds:
    """Of an array with values; of another object anything."""
    try:
        numbers = np.asarray(value)
    except (TypeError, ValueError):
        return ANY
    if not np.issubdtype(numbers.dtype, np.number) or not numbers.size:
        return ANY
    if np.iscomplexobj(numbers) or np.isnan(numbers).all():
        return ANY if np.iscomplexobj(numbers) else NOTHING
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    return Bounds(low, high, math.isinf(low), math.isinf(high))


def bounds_after(equation: Any, given: Sequence[Bounds], is_same: bool) -> Bounds:
    """Bounds of what a primitive of one output returns; ANY if it is not known here.

    Args:
        equation: of a jaxpr.
        given: bounds of its operands.
        is_same: True if the first two operands are one value.
    """
    name = equation.primitive.name
    if name in _KEEPS:
        return given[0]
    if name in ("eq", "ne") and is_same:
        return exactly(name == "eq")
    if name == "select_n":
        which, *cases = given
        is_known = which.low == which.high
        return cases[int(which.low)] if is_known else _hull(cases)
    if name in ("concatenate", "pad", "stack"):
        return _hull(given)
    if any(b.is_empty for b in given):
        return ANY
    if name in _RISES:
        return _mapped(_RISES[name], given[0])
    if is_same and name in ("mul", "sub"):
        return _power(given[0], 2) if name == "mul" else exactly(0)
    return _RULES[name](equation, given, is_same) if name in _RULES else ANY


def exactly(value: float | int) -> Bounds:
    """Bounds of a number that is known."""
    return Bounds(float(value), float(value), False, False)


def _hull(parts: Sequence[Bounds]) -> Bounds:
    parts = [b for b in parts if not b.is_empty]
    low = min((b.low, b.is_low_open) for b in parts) if parts else (-_INF, True)
    high = min((-b.high, b.is_high_open) for b in parts) if parts else (-_INF, True)
    return Bounds(low[0], -high[0], low[1], high[1])


def _mapped(f: Callable[[Any], Any], b: Bounds) -> Bounds:
    """Under a function that increases."""
    with np.errstate(all="ignore"):
        low, high = float(f(np.float64(b.low))), float(f(np.float64(b.high)))
    low = -_INF if math.isnan(low) else low
    high = _INF if math.isnan(high) else high
    return Bounds(low, high, b.is_low_open, b.is_high_open)


def _negative(b: Bounds) -> Bounds:
    return Bounds(-b.high, -b.low, b.is_high_open, b.is_low_open)


def _sum(a: Bounds, b: Bounds) -> Bounds:
    low, high = a.low + b.low, a.high + b.high
    return Bounds(
        -_INF if math.isnan(low) else low,
        _INF if math.isnan(high) else high,
        a.is_low_open or b.is_low_open,
        a.is_high_open or b.is_high_open,
    )


def _product(a: Bounds, b: Bounds) -> Bounds:
    corners = []
    for x, is_x_open in ((a.low, a.is_low_open), (a.high, a.is_high_open)):
        for y, is_y_open in ((b.low, b.is_low_open), (b.high, b.is_high_open)):
            if x == 0 or y == 0:
                is_reached = (x == 0 and not is_x_open) or (y == 0 and not is_y_open)
                corners.append(Bounds(0, 0, not is_reached, not is_reached))
            else:
                is_open = is_x_open or is_y_open
                corners.append(Bounds(x * y, x * y, is_open, is_open))
    return _hull(corners)


def _inverse(b: Bounds) -> Bounds:
    if not b.is_away:
        return ANY
    if not b.is_positive:
        return _negative(_inverse(_negative(b)))
    high = 1 / b.low if b.low else _INF
    return Bounds(1 / b.high, high, b.is_high_open, b.is_low_open)


def _size(b: Bounds) -> Bounds:
    if b.low >= 0:
        return b
    if b.high <= 0:
        return _negative(b)
    far = max((-b.low, not b.is_low_open), (b.high, not b.is_high_open))
    return Bounds(0, far[0], False, not far[1])


def _power(b: Bounds, n: int) -> Bounds:
    if n < 0:
        return _inverse(_power(b, -n))
    return _mapped(lambda v: v**n, _size(b) if n % 2 == 0 else b)


def _root(b: Bounds) -> Bounds:
    return _mapped(np.sqrt, b if b.low >= 0 else b._replace(low=0.0, is_low_open=False))


def _larger(a: Bounds, b: Bounds) -> Bounds:
    low = max((a.low, a.is_low_open), (b.low, b.is_low_open))
    high = max((a.high, not a.is_high_open), (b.high, not b.is_high_open))
    return Bounds(low[0], high[0], low[1], not high[1])


def _smaller(a: Bounds, b: Bounds) -> Bounds:
    return _negative(_larger(_negative(a), _negative(b)))


def _times(b: Bounds, count: int) -> Bounds:
    return _product(b, exactly(count))


def _added(equation: Any, given: Sequence[Bounds], _: bool) -> Bounds:
    shape = equation.invars[0].aval.shape
    return _times(given[0], math.prod(shape[axis] for axis in equation.params["axes"]))


def _contracted(equation: Any, given: Sequence[Bounds], is_same: bool) -> Bounds:
    ((axes, _), _) = equation.params["dimension_numbers"]
    shape = equation.invars[0].aval.shape
    is_square = is_same and len(shape) == len(axes) == 1
    of_one = _power(given[0], 2) if is_square else _product(*given)
    return _times(of_one, math.prod(shape[axis] for axis in axes))


def _raised(_: Any, given: Sequence[Bounds], __: bool) -> Bounds:
    base = given[0]
    if base.low < 0:
        return ANY
    return Bounds(0, _INF, base.is_positive, True)


_KEEPS = (
    *("broadcast_in_dim", "convert_element_type", "copy", "copy_p", "cummax"),
    *("cummin", "dynamic_slice", "expand_dims", "optimization_barrier", "name"),
    *("reduce_max", "reduce_min", "reduce_precision", "reshape", "rev"),
    *("slice", "squeeze", "stop_gradient", "transpose"),
)
_RISES: dict[str, Callable[[Any], Any]] = {
    "atan": np.arctan,
    "cbrt": np.cbrt,
    "erf": lambda v: math.erf(v),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": lambda v: np.log(np.maximum(v, 0)),
    "log1p": lambda v: np.log1p(np.maximum(v, -1)),
    "logistic": lambda v: 1 / (1 + np.exp(-v)),
    "sinh": np.sinh,
    "tanh": np.tanh,
}
_WAVE = Bounds(-1, 1, False, False)
_RULES: dict[str, Callable[[Any, Sequence[Bounds], bool], Bounds]] = {
    "abs": lambda _, b, __: _size(b[0]),
    "add": lambda _, b, __: _sum(*b),
    "add_any": lambda _, b, __: _sum(*b),
    "clamp": lambda _, b, __: _larger(b[0], _smaller(b[1], b[2])),
    "cos": lambda *_: _WAVE,
    "cosh": lambda *_: Bounds(1, _INF, False),
    "cumsum": lambda e, b, _: _hull(
        [b[0], _times(b[0], e.invars[0].aval.shape[e.params["axis"]])]
    ),
    "div": lambda _, b, __: _product(b[0], _inverse(b[1])),
    "dot_general": _contracted,
    "erfc": lambda *_: Bounds(0, 2),
    "integer_pow": lambda e, b, _: _power(b[0], e.params["y"]),
    "max": lambda _, b, __: _larger(*b),
    "min": lambda _, b, __: _smaller(*b),
    "mul": lambda _, b, __: _product(*b),
    "neg": lambda _, b, __: _negative(b[0]),
    "one_minus_square": lambda _, b, __: _sum(exactly(1), _negative(_power(b[0], 2))),
    "pow": _raised,
    "reduce_sum": _added,
    "rsqrt": lambda _, b, __: _inverse(_root(b[0])),
    "sin": lambda *_: _WAVE,
    "sqrt": lambda _, b, __: _root(b[0]),
    "square": lambda _, b, __: _power(b[0], 2),
    "sub": lambda _, b, __: _sum(b[0], _negative(b[1])),
}
