"""Whether the gradient of a network in its weights jumps, found without computing."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from simbias.core import Buffer
from simbias.introspection.jumps import NoDerivative, jump_of
from simbias.introspection.partials import whole
from simbias.introspection.trained_arrays import split_trained
from simbias.network import hook


def kink(network: Any, x: Any) -> str | None:
    """What may make the gradient in the weights jump, None if nothing can.

    What the network's `has_kinks` says counts.  Without one it and its derivative are
    traced.  They are continuous if every operation on what depends on the weights is:
    no comparison, rounding or sign, and no quotient, root, fractional power or
    logarithm unless bounds of the operand show that it stays away from 0.  That is so
    for tanh, gelu, softplus and layer norm, and not for relu, max pooling or |h|, also
    as √h²; elu looks like relu, though its derivative does not jump.

    A derivative that you wrote (`jax.custom_jvp`, `jax.custom_vjp`) counts, and so does
    that of the function below it.

    Args:
        network: with or without values.
        x: one input, with or without values.
    """
    stated = hook(network, "has_kinks")
    if stated is not None:
        return "`has_kinks` is True" if stated else None
    is_shape = lambda v: isinstance(v, jax.ShapeDtypeStruct)
    shaped = lambda v: eqx.is_array(v) or is_shape(v)
    arrays, rest = eqx.partition(network, shaped)
    like = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype), (arrays, x))
    trained = [*jax.tree.leaves(_trained(arrays)), False]
    ways = (lambda network, x: network(x), _forward, _backward)
    whole = lambda of: lambda arrays, x: of(eqx.combine(arrays, rest), x)
    return _found([whole(of) for of in ways], like, trained)


def kink_of_gated(network: Any, x: Any, pattern: Any) -> str | None:
    """What makes the gradient of `gated` jump under a fixed pattern, None if nothing.

    So a ReLU or a max pooling that the pattern does not hold is found.

    Args:
        network: with or without values.
        x: one input, with or without values.
        pattern: of that input, with or without values.
    """
    is_shape = lambda v: isinstance(v, jax.ShapeDtypeStruct)
    shaped = lambda v: eqx.is_array(v) or is_shape(v)
    arrays, rest = eqx.partition(network, shaped)
    like = jax.tree.map(
        lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype), (arrays, x, pattern)
    )
    fixed = [False] * (1 + len(jax.tree.leaves(pattern)))

    def of(params, rest, x, pattern):
        parts = jax.tree.leaves(eqx.combine(params, rest).gated(x, pattern))
        return sum(jnp.sum(v) for v in parts)

    def forward(arrays, x, pattern):
        params, still = split_trained(eqx.combine(arrays, rest))
        run = lambda params: of(params, still, x, pattern)
        return jax.jvp(run, (params,), (jax.tree.map(jnp.ones_like, params),))

    def backward(arrays, x, pattern):
        params, still = split_trained(eqx.combine(arrays, rest))
        return jax.value_and_grad(of)(params, still, x, pattern)

    run = lambda arrays, x, pattern: eqx.combine(arrays, rest).gated(x, pattern)
    moves = [*jax.tree.leaves(_trained(arrays)), *fixed]
    return _found((run, forward, backward), like, moves)


def kink_of_loss(loss: Any, y: Any, weight: Any) -> str | None:
    """What may make the gradient of a loss in the outputs jump, None if nothing can.

    What the loss's `has_kinks` says counts, as with a network.
    """
    stated = getattr(whole(loss), "has_kinks", None)
    if stated is not None:
        return "`has_kinks` is True" if stated else None
    like = [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in (y, y, weight)]
    if not jnp.issubdtype(y.dtype, jnp.inexact):  # labels; outputs are not
        like[0] = jax.ShapeDtypeStruct(y.shape, weight.dtype)
    ways = (
        loss,
        lambda f, *others: jax.jvp(lambda f: loss(f, *others), [f], [jnp.ones_like(f)]),
        jax.value_and_grad(loss),
    )
    return _found(ways, like, [True, False, False])


def _found(
    ways: Sequence[Callable[..., Any]], like: Sequence[Any], moves: Sequence[bool]
) -> str | None:
    """What makes a function jump, or its derivative in one of two ways.

    Args:
        ways: the function, and it with its derivative: forward, backward.
        like: arguments without values.
        moves: for every array in them, whether it moves.
    """
    is_traced = False
    for index, of in enumerate(ways):
        try:
            found = jump_of(of, like, moves)
        except NoDerivative:
            continue
        if found is not None:
            return f"its derivative holds {found}" if index else f"it holds {found}"
        if is_traced := index > 0:
            break
    return None if is_traced else "its derivative cannot be traced"


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
