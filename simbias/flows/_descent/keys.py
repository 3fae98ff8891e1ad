"""Optimisers that draw random numbers: every member draws its own."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray, PyTree

from simbias.errors import BadInput

# Of the key of a member: no epoch, no step and no branch has this number.
_OPTIMISER = 2**32 - 3
_DRAWS = ("random_bits", "threefry2x32", "rng_bit_generator", "random_gamma")


def of_member(memory: PyTree, key: PRNGKeyArray) -> PyTree:
    """The memory of an optimiser at time 0, whose keys are those of a member.

    A key of `optax.add_noise(…, key=3)` becomes one that follows from 3 and from the
    member, so that no two seeds have one noise.
    """
    numbers = jax.random.key_data(jax.random.fold_in(key, _OPTIMISER))

    def folded(leaf: Array) -> Array:
        if not _is_key(leaf):
            return leaf
        is_raw = not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        keys = jax.random.wrap_key_data(leaf) if is_raw else leaf
        one = lambda key: jax.random.fold_in(jax.random.fold_in(key, a), b)
        a, b = numbers[0], numbers[1]
        flat = jax.vmap(one)(keys.ravel()).reshape(keys.shape)
        return jax.random.key_data(flat) if is_raw else flat

    return jax.tree.map(folded, memory)


def check_draws(step: Callable[[PyTree], Any], memory: PyTree) -> None:
    """Refuse an optimiser that draws from a key which is not in its memory.

    Args:
        step: of the memory, what follows from it.
        memory: before the step.

    Raises:
        ValueError: naming `optimiser`.
    """
    program = jax.make_jaxpr(step)(memory).jaxpr
    if _draws_alone(program, [_is_key(leaf) for leaf in jax.tree.leaves(memory)])[0]:
        raise BadInput(
            "`optimiser` draws random numbers from a key of its own, which is the same "
            "for every seed: the seeds are then not independent. Keep the key in the "
            "state of the optimiser, as optax.add_noise does; simbias makes it "
            "another one for every network."
        )


def _is_key(leaf: Any) -> bool:
    """True for keys of JAX, of either kind: no optimiser counts in pairs of uint32."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return True
    return leaf.dtype == jnp.uint32 and leaf.ndim > 0 and leaf.shape[-1] == 2


def _draws_alone(jaxpr: Any, inputs: Sequence[bool]) -> tuple[bool, list[bool]]:
    """Whether something is drawn that hangs on no key of the inputs.

    Also returns which outputs hang on one.
    """
    known = dict(zip(jaxpr.invars, inputs, strict=True))
    of = lambda v: False if hasattr(v, "val") else known.get(v, False)
    for equation in jaxpr.eqns:
        hangs = [of(v) for v in equation.invars]
        if equation.primitive.name in _DRAWS and not any(hangs):
            return True, []
        for inner in _inside(equation):
            few = hangs[len(hangs) - len(inner.invars) :]
            if len(few) != len(inner.invars):
                few = [any(hangs)] * len(inner.invars)
            if _draws_alone(inner, few)[0]:
                return True, []
        known.update(dict.fromkeys(equation.outvars, any(hangs)))
    return False, [of(v) for v in jaxpr.outvars]


def _inside(equation: Any) -> list[Any]:
    found = []
    for parameter in equation.params.values():
        parts = parameter if isinstance(parameter, tuple | list) else [parameter]
        found += [getattr(part, "jaxpr", part) for part in parts]
    return [part for part in found if hasattr(part, "eqns")]
