"""A network that stores its weights of some epochs."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from simbias.core import AbstractNetwork, AbstractWrapper, Buffer

# The epochs of Zhang, Bengio & Singer.
EPOCHS = (0, 1, 2, 3, 8, 40, 90)


class Remembering(AbstractWrapper):
    """f(x) is that of `network`; `past` holds its arrays at each of `EPOCHS`.

    Training stores them, along a first axis.  An epoch ends when n samples were used,
    the size of the training data.  `spare` is another network with the same law of
    initialisation, or None; it is not trained.
    """

    network: Any
    past: Any
    rows: Buffer
    spare: Any
    n: int = eqx.field(static=True)

    refuses = ("in_training", "on_sample", "value_and_gradient")
    in_training = AbstractNetwork.in_training
    value_and_gradient = AbstractNetwork.value_and_gradient

    @property
    def inner(self) -> Any:
        """The network that is trained."""
        return self.network

    def on_sample(
        self, x: Float[Array, "n d"], weight: Float[Array, " n"]
    ) -> tuple[Float[Array, "n k"], "Remembering"]:
        """Outputs on a mini-batch, and the network with its earlier weights stored."""
        is_open = self.rows.value <= _ends(self.n)

        def written(then: Buffer, now: Array) -> Buffer:
            mask = is_open.reshape(-1, *(1,) * now.ndim)
            now = jax.lax.stop_gradient(now)
            return Buffer(jnp.where(mask, now[None], then.value))

        past = jax.tree.map(written, self.past, self.network, is_leaf=_is_buffer)
        seen = Buffer(self.rows.value + jnp.sum(weight > 0, dtype=jnp.int32))
        moved = dataclasses.replace(self, past=past, rows=seen)
        return jax.vmap(self.network)(x), moved

    def then(self) -> Any:
        """The stored networks along a first axis; NaN for epochs that are not over."""
        is_over = self.rows.value >= _ends(self.n)

        def values(then: Buffer) -> Array:
            mask = is_over.reshape(-1, *(1,) * (then.value.ndim - 1))
            return jnp.where(mask, then.value, jnp.nan)

        return jax.tree.map(values, self.past, is_leaf=_is_buffer)

    def drawn_again(self) -> Any:
        """The spare network."""
        return jax.tree.map(lambda v: v.value, self.spare, is_leaf=_is_buffer)


def remembering(network: Any, n: int, spare: Any = None) -> Remembering:
    """A network at initialisation, to be trained on n samples."""
    past = jax.tree.map(lambda v: Buffer(jnp.stack([v] * len(EPOCHS))), network)
    spare = jax.tree.map(Buffer, spare)
    rows = Buffer(jnp.int32(0))
    return Remembering(network, past, rows, spare, n)  # pyright: ignore


def _ends(n: int) -> Int[Array, " epoch"]:
    return jnp.asarray(np.array(EPOCHS) * n, jnp.int32)


def _is_buffer(node: Any) -> bool:
    return isinstance(node, Buffer)
