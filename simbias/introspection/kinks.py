"""Whether the gradient of a network in its weights jumps, found without computing."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from simbias.core import Buffer
from simbias.introspection.trained import split_trained

# Of a value: False if it does not depend on the weights, True if continuously, and else
# the operation that may make it jump.
_How = bool | str
# Real numbers with a jump.  All others that jump give truth values or integers.
_JUMPS = ("ceil", "clamp", "floor", "nextafter", "rem", "round", "sign")
# What `jax.make_jaxpr` may raise for a function without such a derivative.
_NO_DERIVATIVE = (TypeError, ValueError, NotImplementedError)


def kink(network: Any, x: Any) -> str | None:
    """What may make the gradient in the weights jump, None if nothing can.

    What the network's `has_kinks` says counts.  Without one it and its derivative are
    traced: they are continuous if they hold no comparison, no rounding and no sign of
    what depends on the weights.  That is so for tanh, gelu and softplus, and not for
    relu; elu looks like relu, though its derivative does not jump.

    Args:
        network: with or without values.
        x: one input, with or without values.
    """
    stated = getattr(network, "has_kinks", None)
    if stated is not None:
        return "`has_kinks` is True" if stated else None
    is_shape = lambda v: isinstance(v, jax.ShapeDtypeStruct)
    shaped = lambda v: eqx.is_array(v) or is_shape(v)
    arrays, rest = eqx.partition(network, shaped)
    like = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype), (arrays, x))
    for derivative in (_forward, _backward):
        traced = lambda arrays, x, of=derivative: of(eqx.combine(arrays, rest), x)
        try:
            jaxpr = jax.make_jaxpr(traced)(*like).jaxpr
            worst = _worst(_through(jaxpr, [*jax.tree.leaves(_trained(arrays)), False]))
        except _NO_DERIVATIVE:
            continue
        return f"its derivative holds {worst}" if isinstance(worst, str) else None
    return "its derivative cannot be traced"


def _trained(arrays: Any) -> Any:
    """True for the leaves that are trained, as `split_trained` has it."""
    is_buffer = lambda v: isinstance(v, Buffer)
    is_float = lambda v: jnp.issubdtype(v.dtype, jnp.inexact)
    return jax.tree.map(
        lambda v: jax.tree.map(lambda leaf: not is_buffer(v) and is_float(leaf), v),
        arrays,
        is_leaf=is_buffer,
    )


def _forward(network: Any, x: Array) -> Any:
    params, rest = split_trained(network)
    ones = jax.tree.map(jnp.ones_like, params)
    return jax.jvp(lambda p: eqx.combine(p, rest)(x), (params,), (ones,))


def _backward(network: Any, x: Array) -> Any:
    params, rest = split_trained(network)
    return jax.value_and_grad(lambda p: jnp.sum(eqx.combine(p, rest)(x)))(params)


def _through(jaxpr: Any, inputs: Sequence[_How]) -> list[_How]:
    """How the outputs depend on the weights, if the inputs do so."""
    known: dict[Any, _How] = dict(zip(jaxpr.invars, inputs, strict=True))
    # A literal has a value, and in some versions of jax no hash.
    of = lambda v: False if hasattr(v, "val") else known.get(v, False)
    for equation in jaxpr.eqns:
        outputs = _outputs(equation, [of(v) for v in equation.invars])
        known.update(zip(equation.outvars, outputs, strict=True))
    return [of(v) for v in jaxpr.outvars]


def _outputs(equation: Any, inputs: list[_How]) -> list[_How]:
    worst, name, many = _worst(inputs), equation.primitive.name, len(equation.outvars)
    if worst is False or name == "is_finite":
        return [False] * many
    if name == "custom_lin":
        raise NotImplementedError("a derivative by hand, of reverse mode only")
    if name == "cond" and inputs[0] is False:
        branches = [_through(b.jaxpr, inputs[1:]) for b in equation.params["branches"]]
        return [_worst(v) for v in zip(*branches, strict=True)]
    if name in ("scan", "while"):
        return _loop(equation, inputs)
    inner = [getattr(v, "jaxpr", v) for v in equation.params.values()]
    inner = [v for v in inner if hasattr(v, "eqns")]
    if inner:
        if len(inner) == 1 and len(inner[0].invars) == len(inputs):
            return _through(inner[0], inputs)
        return [_reason(worst, name)] * many
    if _is_of_no_weight(equation):
        return [False] * many
    smooth = lambda v: jnp.issubdtype(v.aval.dtype, jnp.inexact)
    return [
        worst if name not in _JUMPS and smooth(v) else _reason(worst, name)
        for v in equation.outvars
    ]


def _loop(equation: Any, inputs: list[_How]) -> list[_How]:
    """A loop, gone through until nothing changes."""
    params = equation.params
    if equation.primitive.name == "scan":
        body, ends = params["jaxpr"].jaxpr, None
        # What is scanned has one axis more outside; names of the parameters change.
        is_whole = lambda outer, inner: outer.aval.shape == inner.aval.shape
        carried = sum(map(is_whole, equation.outvars, body.outvars))
        first = sum(map(is_whole, equation.invars, body.invars)) - carried
        test: list[_How] = []
    else:
        body, ends = params["body_jaxpr"].jaxpr, params["cond_jaxpr"].jaxpr
        skipped, first = params["cond_nconsts"], params["body_nconsts"]
        test, inputs = inputs[:skipped], inputs[skipped:]
        carried = len(inputs) - first
    while True:
        outputs = _through(body, inputs)
        if ends is not None:
            (goes_on,) = _through(ends, [*test, *inputs[first:]])
            if goes_on is not False:
                return [_reason(goes_on, "while")] * len(equation.outvars)
        before = inputs[first : first + carried]
        after = [_worst(p) for p in zip(before, outputs[:carried], strict=True)]
        if after == before:
            return [*after, *outputs[carried:]]
        inputs = [*inputs[:first], *after, *inputs[first + carried :]]


def _is_of_no_weight(equation: Any) -> bool:
    """True for comparisons that look for infinities and NaN."""
    if equation.primitive.name not in ("eq", "ne"):
        return False
    one, other = equation.invars
    values = [getattr(v, "val", 0.0) for v in (one, other)]
    return one is other or not np.all(np.isfinite(values))


def _worst(levels: Sequence[_How]) -> _How:
    return next((v for v in levels if isinstance(v, str)), any(levels))


def _reason(worst: _How, name: str) -> str:
    return worst if isinstance(worst, str) else f"`{name}` of what depends on weights"
