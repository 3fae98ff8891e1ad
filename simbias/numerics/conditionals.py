"""Branches and loops that cost nothing for members that do not take them."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Bool, PyTree


def when(
    change: Callable[[PyTree, PyTree], PyTree],
) -> Callable[[Bool[Array, ""], PyTree, PyTree], PyTree]:
    """`change(context, carry)` if a condition holds, else `carry` as it is.

    Under vmap a `cond` with a batched predicate computes both branches every time;
    here it becomes one `cond` on "does it hold for any member".

    Args:
        change: returns what has the structure, shapes and dtypes of `carry`.

    Returns:
        A function of the condition, `context` and `carry`.
    """

    def one(condition, context, carry):
        return jax.lax.cond(condition, lambda c: change(context, c), lambda c: c, carry)

    either = custom_vmap(one)

    @either.def_vmap
    def _(axis_size, in_batched, condition, context, carry):
        condition = _spread(condition, in_batched[0], axis_size)
        carry = _spread(carry, in_batched[2], axis_size)

        def for_all(carry):
            axes = (_axes(in_batched[1]), 0)
            new = jax.vmap(change, in_axes=axes)(context, carry)
            choose = lambda a, b: jnp.where(
                condition.reshape(condition.shape + (1,) * (a.ndim - 1)), a, b
            )
            return jax.tree.map(choose, new, carry)

        out = jax.lax.cond(jnp.any(condition), for_all, lambda c: c, carry)
        return out, jax.tree.map(lambda _: True, out)

    return either


def if_else(
    if_true: Callable[[PyTree], PyTree], if_false: Callable[[PyTree], PyTree]
) -> Callable[[Bool[Array, ""], PyTree], PyTree]:
    """`if_true(context)` if a condition holds, else `if_false(context)`.

    Under vmap a branch is computed only if some member takes it (see `when`).

    Args:
        if_true: returns the structure, shapes and dtypes of `if_false`.
        if_false: the other branch.

    Returns:
        A function of the condition and `context`.
    """

    def chosen(condition, context):
        shapes = jax.eval_shape(if_false, context)
        new = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), shapes)
        new = when(lambda context, _: if_false(context))(~condition, context, new)
        return when(lambda context, _: if_true(context))(condition, context, new)

    return chosen


def repeat_while(
    holds: Callable[[PyTree], Bool[Array, ""]],
    change: Callable[[PyTree, PyTree], PyTree],
) -> Callable[[PyTree, PyTree], PyTree]:
    """`change(context, carry)` again and again while a condition on the carry holds.

    Under vmap a `while_loop` chooses for every member between the old and the new
    carry, a pass over all of it at every turn.  Here all members turn until the
    condition holds for none.

    Args:
        holds: the condition.
        change: returns what has the structure, shapes and dtypes of `carry`, and the
            very same where the condition does not hold.

    Returns:
        A function of `context`, all of it arrays, and `carry`.
    """

    @custom_vmap
    def repeated(context, carry):
        return jax.lax.while_loop(holds, lambda c: change(context, c), carry)

    @repeated.def_vmap
    def _(axis_size, in_batched, context, carry):
        carry = _spread(carry, in_batched[1], axis_size)
        changed = jax.vmap(change, in_axes=(_axes(in_batched[0]), 0))
        out = jax.lax.while_loop(
            lambda c: jnp.any(jax.vmap(holds)(c)), lambda c: changed(context, c), carry
        )
        return out, jax.tree.map(lambda _: True, out)

    return repeated


def once(
    condition: Bool[Array, ""], change: Callable[[PyTree], PyTree], carry: PyTree
) -> PyTree:
    """`change(carry)` if a condition holds, else `carry`: a loop of at most one turn.

    Under vmap `change` is computed if some member takes it, as with `when`.  It may
    close over traced values, and every turn chooses between the old and the new carry.
    """
    body = lambda state: (jnp.array(False), change(state[1]))
    return jax.lax.while_loop(lambda state: state[0], body, (condition, carry))[1]


def _axes(is_batched: PyTree) -> PyTree:
    return jax.tree.map(lambda b: 0 if b else None, is_batched)


def _spread(tree: PyTree, is_batched: PyTree, size: int) -> PyTree:
    """Every leaf with the member axis."""
    spread = lambda v, b: v if b else jnp.broadcast_to(v, (size, *jnp.shape(v)))
    return jax.tree.map(spread, tree, is_batched)
