"""Which rows a step of descent sees."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from simbias.core import Dataset, Index
from simbias.errors import BadInput

Sampling = Literal["epochs", "replacement", "fresh"]
MiniBatch = tuple[Float[Array, "q d"], Float[Array, "q k"], Float[Array, " q"]]
# Of the key of a branch: not an epoch that there is.
_FORKED = 2**32 - 1


class Batches(NamedTuple):
    """The key of the draws, and the rows in the order of this epoch, padding last."""

    key: PRNGKeyArray
    order: Int[Array, " n"]


class Drawing(NamedTuple):
    """How rows are drawn: `batch` of them, and from step `fork` on as `branch` says."""

    sampling: Sampling
    batch: int
    fork: Index | None
    branch: Index


def first_batches(key: PRNGKeyArray, data: Dataset, sampling: Sampling) -> Batches:
    """Before the first step.

    Raises:
        ValueError: for fresh rows of a dataset that has no `fresh`.
    """
    if sampling == "fresh" and data.fresh is None:
        raise BadInput(
            '`sampling="fresh"` draws rows from the law of the dataset, whose `fresh` '
            'is None. Example: sampling="epochs".'
        )
    if sampling == "replacement":
        return Batches(key, jnp.argsort(data.weight <= 0).astype(jnp.int32))
    return Batches(key, jnp.arange(data.x.shape[0], dtype=jnp.int32))


def draw_batch(
    batches: Batches, data: Dataset, drawing: Drawing, count: Int[Array, ""]
) -> tuple[MiniBatch, Int[Array, " n"]]:
    """Mini-batch number `count`, and its epoch's order; rows past the end weigh 0.

    At the fork an epoch begins, in the order of the branch.
    """
    key = batches.key
    if drawing.fork is not None:
        fork = jnp.asarray(drawing.fork, jnp.int32)
        is_past = count >= fork
        branch = jnp.asarray(drawing.branch, jnp.uint32)
        forked = jax.random.fold_in(jax.random.fold_in(key, _FORKED), branch)
        key = jax.lax.select(is_past, forked, key)
        count = jnp.where(is_past, count - fork, count)
    if drawing.sampling == "epochs":
        return _in_turn(batches._replace(key=key), data, drawing.batch, count)
    key = jax.random.fold_in(key, count)
    if drawing.sampling == "fresh":
        assert data.fresh is not None
        x, y = data.fresh(key, drawing.batch)
        weight = jnp.ones(drawing.batch, data.weight.dtype)
        drawn = (x.astype(data.x.dtype), y.astype(data.y.dtype), weight)
        return drawn, batches.order
    size = jnp.sum(data.weight > 0, dtype=jnp.int32)
    places = jax.random.randint(key, (drawing.batch,), 0, size, jnp.int32)
    rows = batches.order[places]
    return (data.x[rows], data.y[rows], data.weight[rows]), batches.order


def _in_turn(
    batches: Batches, data: Dataset, batch: int, count: Int[Array, ""]
) -> tuple[MiniBatch, Int[Array, " n"]]:
    is_real = data.weight > 0
    size = jnp.sum(is_real, dtype=jnp.int32)
    per_epoch = (size + batch - 1) // batch
    epoch, index = count // per_epoch, count % per_epoch
    key = jax.random.fold_in(batches.key, epoch)
    order = jax.lax.cond(
        index == 0, lambda: _shuffled(key, is_real), lambda: batches.order
    )
    places = index * batch + jnp.arange(batch, dtype=jnp.int32)
    rows = order[jnp.minimum(places, order.shape[0] - 1)]
    kept = jnp.where(places < size, data.weight[rows], 0)
    return (data.x[rows], data.y[rows], kept), order


def _shuffled(key: PRNGKeyArray, is_real: Bool[Array, " n"]) -> Int[Array, " n"]:
    """The real rows in random order, then the padding."""
    # Draw i depends on i alone, not on how many rows of padding follow.
    draw = jax.random.uniform(key, is_real.shape, jnp.float32)
    return jnp.argsort(jnp.where(is_real, draw, 2)).astype(jnp.int32)
