"""Classes of neurons: on the same sides of all planes, and sliding on the same ones."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt

from simbias.flows._relu.step_trajectory import Sliding

# Classes that there is room for.
MAX_CLASSES = 32
# Neurons for one representative, below which they are not worth their bookkeeping.
_LEAST = 4


class ActivationClasses(eqx.Module):
    """A neuron of each class, the class of each neuron, and whether all have one.

    Unless `fits`, `first` and `class_of` mean nothing.
    """

    first: Int[Array, " r"]
    class_of: Int[Array, " m"]
    fits: Bool[Array, ""]


def may_be_worth_it(m: int, q: int) -> bool:
    """Whether m neurons are many more than the representatives there is room for.

    Args:
        m: neurons.
        q: weights of each, as many as it takes representatives.
    """
    return m >= _LEAST * MAX_CLASSES * q


def activation_classes(
    is_above: Bool[Array, "m n"], sliding: Sliding
) -> ActivationClasses:
    """The classes of a network, found by two hashes of 32 bits for each neuron.

    Neurons of equal hashes are then compared: a hash collision clears `fits`.
    """
    first, class_of, fits = _named(_hashes(is_above, sliding.plane))
    same = jnp.all(is_above == is_above[first][class_of]) & jnp.all(
        sliding.plane == sliding.plane[first][class_of]
    )
    return ActivationClasses(first, class_of, fits & same)


def _hashes(
    is_above: Bool[Array, "m n"], plane: Int[Array, "m p"]
) -> UInt[Array, "m 2"]:
    """Two sums of random odd numbers: over the planes above, and over those slid on."""
    n, p = is_above.shape[1], plane.shape[1]
    salt = jax.random.bits(jax.random.key(0), (2, n + p), jnp.uint32) | 1
    slots = (plane + 1).astype(jnp.uint32)

    count = lambda v: jnp.sum(v, axis=1, dtype=jnp.uint32)
    sides = lambda s: count(jnp.where(is_above, s[None, :n], 0))
    one = lambda s: sides(s) + count(slots * s[None, n:])
    return jnp.stack([one(salt[0]), one(salt[1])], axis=1)


def _named(
    hashes: UInt[Array, "m 2"],
) -> tuple[Int[Array, " r"], Int[Array, " m"], Bool[Array, ""]]:
    m = hashes.shape[0]

    def name(carry):
        count, first, class_of = carry
        first_left = jnp.argmax(class_of < 0).astype(jnp.int32)
        alike = (class_of < 0) & jnp.all(hashes == hashes[first_left][None, :], axis=1)
        return (
            count + 1,
            first.at[count].set(first_left),
            jnp.where(alike, count, class_of),
        )

    more = lambda carry: jnp.any(carry[2] < 0) & (carry[0] < MAX_CLASSES)
    start = jnp.int32(0), jnp.zeros(MAX_CLASSES, jnp.int32), jnp.full(m, -1, jnp.int32)
    _, first, class_of = jax.lax.while_loop(more, name, start)
    return first, jnp.maximum(class_of, 0), jnp.all(class_of >= 0)
