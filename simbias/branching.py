"""A branch that costs nothing while no member takes it."""

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
        axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, in_batched)
        spread = lambda v, is_batched: (
            v if is_batched else jnp.broadcast_to(v, (axis_size, *v.shape))
        )
        condition = spread(condition, in_batched[0])
        carry = jax.tree.map(spread, carry, in_batched[2])

        def for_all(carry):
            new = jax.vmap(change, in_axes=(axes[1], 0))(context, carry)
            choose = lambda a, b: jnp.where(
                condition.reshape(condition.shape + (1,) * (a.ndim - 1)), a, b
            )
            return jax.tree.map(choose, new, carry)

        out = jax.lax.cond(jnp.any(condition), for_all, lambda c: c, carry)
        return out, jax.tree.map(lambda _: True, out)

    return either
