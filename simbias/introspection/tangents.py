"""The kernel of the parameter gradients of a network, and what follows from it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.introspection.trained_arrays import size, split_trained

# Numbers of all gradients together up to which they are held at once.
_AT_ONCE = 2**25

Inputs = Float[Array, "n d"]


def tangent_kernel(network: Any, x: Inputs) -> Float[Array, "k n n"]:
    """K_c(x, x′) = ∇f_c(x)·∇f_c(x′), gradients in what is trained, for every output c.

    No factor: with `losses.half_mse` one output follows f′ = −(1/n) K (f − y).
    """
    params, rest = split_trained(network)
    function = lambda params, x: eqx.combine(params, rest)(x)
    count = jax.eval_shape(function, params, x[0]).shape[0]
    of_output = lambda c: lambda params, x: function(params, x)[c]
    if x.shape[0] * size(params) <= _AT_ONCE:
        return jnp.stack([_product(of_output(c), params, x) for c in range(count)])
    return jnp.stack([_by_columns(of_output(c), params, x) for c in range(count)])


def tangent_rates(
    network: Any, x: Inputs, functions: Float[Array, "n q"]
) -> Float[Array, " q"]:
    """vᵀKv/(n vᵀv) of a network of one output, v the columns of `functions`.

    The rate at which the part of the residual along v falls under `losses.half_mse`, if
    v is an eigenvector of K; no kernel is formed.  NaN for v = 0.
    """
    params, rest = split_trained(network)
    values = lambda params: jax.vmap(eqx.combine(params, rest))(x)[:, 0]
    _, pull = jax.vjp(values, params)

    def rate(v):
        (gradient,) = pull(v)
        squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradient))
        length = jnp.sum(v**2)
        is_some = length > 0
        top = squares / x.shape[0]
        return jnp.where(is_some, top / jnp.where(is_some, length, 1), jnp.nan)

    return jax.lax.map(rate, functions.T.astype(x.dtype))


def kernel_change(
    network: Any, data: Dataset, start: Any, start_data: Dataset
) -> Float[Array, ""]:
    """‖K − K₀‖/‖K₀‖, Frobenius, on the sample of the first, all outputs together.

        moved = simbias.evaluate(kernel_change, ds, other_time=0.0)

    0 in the lazy limit.  NaN if K₀ is 0.  Rows of padding do not count.
    """
    del start_data
    is_real = data.weight > 0
    is_kept = (is_real[:, None] & is_real[None, :])[None]
    now, then = (
        jnp.where(is_kept, tangent_kernel(net, data.x), 0) for net in (network, start)
    )
    before = jnp.linalg.norm(then.ravel())
    moved = jnp.linalg.norm((now - then).ravel())
    return jnp.where(before > 0, moved / jnp.where(before > 0, before, 1), jnp.nan)


def _product(function: Any, params: Any, x: Inputs) -> Float[Array, "n n"]:
    """Of all gradients at once, leaf by leaf."""
    gradients = jax.vmap(jax.grad(function), (None, 0))(params, x)
    total = jnp.zeros((x.shape[0], x.shape[0]), x.dtype)
    for leaf in jax.tree.leaves(gradients):
        rows = leaf.reshape(x.shape[0], -1)
        total = total + jnp.matmul(rows, rows.T, precision=jax.lax.Precision.HIGHEST)
    return total


def _by_columns(function: Any, params: Any, x: Inputs) -> Float[Array, "n n"]:
    """One gradient at a time, and how all outputs move along it."""
    values = lambda params: jax.vmap(function, (None, 0))(params, x)

    def column(one):
        along = jax.grad(function)(params, one)
        return jax.jvp(values, (params,), (along,))[1]

    return jax.lax.map(column, x)
