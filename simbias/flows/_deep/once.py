"""A branch that costs nothing under vmap unless some member takes it."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PyTree


def once(
    condition: Bool[Array, ""], change: Callable[[PyTree], PyTree], carry: PyTree
) -> PyTree:
    """`change(carry)` if the condition holds, else `carry`.

    A loop of at most one turn: unlike `simbias.numerics.conditionals.when` it may
    close over traced values.
    """
    body = lambda state: (jnp.array(False), change(state[1]))
    return jax.lax.while_loop(lambda state: state[0], body, (condition, carry))[1]
