"""Whether weights have come to rest, told by how far they still go."""

from typing import NamedTuple

import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, PyTree

from simbias.core import Real
from simbias.flows._shared.objective import choose
from simbias.flows._shared.step_clock import CLIP, clock

# Positions are compared each time that t has grown by this factor.
_GROWTH = 1.5


class Way(NamedTuple):
    """Weights at time 0, and at the last time that was looked at."""

    start: PyTree
    mark: PyTree
    time: Float[Array, ""]


def first_way(params: PyTree) -> Way:
    """At time 0."""
    return Way(params, params, jnp.zeros((), clock()))


def gone(
    way: Way, params: PyTree, time: Float[Array, ""], rest: Real
) -> tuple[Way, Bool[Array, ""]]:
    """The way after a step, and whether the weights have come to rest.

    They have if, while t grew by a half, they moved by at most `rest` times their
    distance from the start.  Positions are compared and no speeds: about a minimum a
    solver wanders within its tolerance.
    """
    is_due = time >= _GROWTH * way.time
    start, mark, here = (
        ravel_pytree(tree)[0] for tree in (way.start, way.mark, params)
    )
    moved = jnp.linalg.norm(here - mark)
    level = jnp.asarray(rest, here.dtype) * jnp.linalg.norm(mark - start)
    rounding = CLIP * jnp.finfo(here.dtype).eps * jnp.linalg.norm(here)
    is_at_rest = is_due & (level > rounding) & (moved <= level)
    return choose(is_due, Way(way.start, params, time), way), is_at_rest
