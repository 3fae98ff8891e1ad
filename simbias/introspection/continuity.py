"""Which operations of a traced function are continuous, and for which operands."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from simbias.introspection.bounds import Bounds, exactly

# Continuous wherever they are defined.  What is not named here counts as a jump.
_CONTINUOUS = frozenset(
    (
        *("abs", "acos", "acosh", "add", "add_any", "asin", "asinh", "atan", "atanh"),
        *("bessel_i0e", "bessel_i1e", "broadcast_in_dim", "cbrt", "complex"),
        *(
            "clamp",
            "concatenate",
            "conj",
            "conv_general_dilated",
            "convert_element_type",
        ),
        *("copy", "copy_p", "cos", "cosh", "cumlogsumexp", "cummax", "cummin"),
        *("cumprod", "cumsum", "dot_general", "dynamic_slice", "erf", "erfc"),
        *("dynamic_update_slice", "exp", "exp2", "expand_dims", "expm1", "fft"),
        *("gather", "imag", "logistic", "max", "min", "mul", "name", "neg"),
        *(
            "one_minus_square",
            "optimization_barrier",
            "pad",
            "ragged_dot_general",
            "real",
            "reduce_max",
        ),
        *("reduce_min", "reduce_precision", "reduce_prod", "reduce_sum", "reshape"),
        *("reduce_window_max", "reduce_window_min", "reduce_window_sum", "rev"),
        *("scatter", "scatter-add", "scatter-mul", "scatter-sub", "select_n"),
        *("sin", "sinh", "slice", "split", "sqrt", "square", "squeeze"),
        *("stack", "stop_gradient", "sub", "tanh", "tile", "transpose", "unstack"),
    )
)
# Continuous where the operands are as said; a quotient needs a divisor that is not 0.
_SINGULAR: dict[str, tuple[str, Callable[[Any, Sequence[Bounds]], bool]]] = {
    "atan2": ("at the origin", lambda _, b: b[1].is_positive or b[0].is_away),
    "digamma": ("of a value that may reach 0", lambda _, b: b[0].is_positive),
    "div": ("by a value that may reach 0", lambda _, b: b[1].is_away),
    "erf_inv": ("of a value that may reach ±1", lambda _, b: _is_within(b[0], 1)),
    "integer_pow": (
        "of a value that may reach 0",
        lambda e, b: e.params["y"] >= 0 or b[0].is_away,
    ),
    "lgamma": ("of a value that may reach 0", lambda _, b: b[0].is_positive),
    "log": ("of a value that may reach 0", lambda _, b: b[0].is_positive),
    "log1p": ("of a value that may reach −1", lambda _, b: exactly(-1).is_below(b[0])),
    "pow": ("of a value that may reach 0", lambda _, b: _is_smooth_power(*b)),
    "rsqrt": ("of a value that may reach 0", lambda _, b: b[0].is_positive),
    "tan": (
        "of a value that may reach π/2",
        lambda _, b: _is_within(b[0], math.pi / 2),
    ),
}
_JUMPING = ("of values that depend on the weights", lambda *_: False)
_CALLED = {
    "select_and_gather_add": "max pooling",
    "select_and_scatter_add": "max pooling",
}


def jump(
    equation: Any, bounds: Sequence[Bounds], is_of_weights: Sequence[bool]
) -> str | None:
    """What makes a primitive jump as its operands move, None if nothing does.

    Args:
        equation: of a jaxpr.
        bounds: of its operands.
        is_of_weights: which of them move.
    """
    name = equation.primitive.name
    if name in _CONTINUOUS:
        return None
    where, is_smooth = _SINGULAR.get(name, _JUMPING)
    # A quotient is continuous in what is divided, whatever the divisor.
    matters = is_of_weights[-1] if name == "div" else any(is_of_weights)
    if not matters or is_smooth(equation, bounds):
        return None
    called = f"`{name}`" + (f" ({_CALLED[name]})" if name in _CALLED else "")
    return f"{called} {where}"


def is_known(name: str) -> bool:
    """True for an operation that is listed here."""
    return name in _CONTINUOUS or name in _SINGULAR


def _is_within(b: Bounds, end: float) -> bool:
    return exactly(-end).is_below(b) and b.is_below(exactly(end))


def _is_smooth_power(base: Bounds, exponent: Bounds) -> bool:
    """Continuous: of a base above 0, and of one from 0 on if the exponent is positive.

    Whole exponents take any base.
    """
    if base.is_positive:
        return True
    is_constant = exponent.low == exponent.high and exponent.low >= 0
    return is_constant and (base.low >= 0 or exponent.low == round(exponent.low))
