"""The recurrent network: long short-term memory of one string, read at its end."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Buffer, Real
from simbias.network import present_if
from simbias.networks.sequence._dropout import (
    dropout_rate,
    dropped,
    keys_of,
    token_of,
)
from simbias.networks.sequence._laws import Entry, drawn
from simbias.validation.values import positive_integers

_Key = PRNGKeyArray | None


class LongShortTerm(eqx.Module):
    """(i, f, g, o) = W h′ + U h + b,  c ← σ(f) c + σ(i) tanh g,  h ← σ(o) tanh c.

    h′ is the input, σ the logistic function; h and c begin at 0.
    """

    w: Float[Array, "_ q"]
    u: Float[Array, "_ m"]
    b: Float[Array, " _"]

    def __call__(self, inputs: Float[Array, "n q"]) -> Float[Array, "n m"]:
        """The state h after every token."""
        zero = jnp.zeros(self.u.shape[1], self.u.dtype)
        ahead = inputs @ self.w.T + self.b[None, :]

        def step(state, given):
            h, c = state
            i, f, g, o = jnp.split(given + self.u @ h, 4)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        return jax.lax.scan(step, (zero, zero), ahead)[1]


class Recurrent(AbstractNetwork):
    """f(x) = a · h_n, h_n the last state of the last of L layers of LSTM.

    The first layer reads token(xᵢ), every further one the states of the one before.
    With labels y ∈ {−1, +1} and `losses.logistic` f is the logit of y = +1.  Between
    −1 and +1 a token is interpolated linearly.

    A `dropout` acts in training only: on what each layer reads and on h_n.  `frozen`
    names what is not trained.

    Reference: Hochreiter & Schmidhuber (1997), Neural Computation 9; the gates of
    torch.nn.LSTM, whose two biases are one here.
    """

    tokens: Float[Array, "2 m"]
    layers: tuple[LongShortTerm, ...]
    a: Float[Array, "k m"]
    dropout: Buffer | None = None
    frozen: tuple[str, ...] = eqx.field(static=True, default=())

    has_kinks: ClassVar[bool] = False  # tanh and the logistic function

    @present_if(lambda network: network.dropout is not None)
    def in_training(
        self, x: Float[Array, " n"], key: PRNGKeyArray
    ) -> Float[Array, " k"]:
        """Output for one string, with dropout."""
        return self._read(x, key)

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, " k"]:
        """Output for one string."""
        return self._read(x, None)

    def features(self, x: Float[Array, " n"]) -> Float[Array, " m"]:
        """h_n, what the output is linear in."""
        return self._features(x, None)

    def _read(self, x: Float[Array, " n"], key: _Key) -> Float[Array, " k"]:
        return self.a @ self._features(x, key)

    def _features(self, x: Float[Array, " n"], key: _Key) -> Float[Array, " m"]:
        *keys, key_last = keys_of(key, len(self.layers) + 1)
        h = token_of(x, self.tokens)
        for layer, key_layer in zip(self.layers, keys, strict=True):
            h = layer(dropped(h, self.dropout, key_layer))
        return dropped(h[-1], self.dropout, key_last)


def recurrent(
    key: PRNGKeyArray,
    *,
    width: int = 64,
    depth: int = 2,
    k: int = 1,
    law: str = "default",
    scale: Real | None = None,
    dropout: Real | None = None,
) -> Recurrent:
    """An LSTM with the initial law of a name; strings of any length.

    Args:
        key: random key.
        width: m, of a state and of a token.
        depth: layers.
        k: outputs, 1 for a logit.
        law: "uniform", "normal", "xavier" or "default", as of `transformer`; by
            "default" every array but the tokens is U(±1/√m), as in torch.
        scale: half the width of "uniform" (10), the standard deviation of "normal"
            (10), a factor of the matrices of "xavier" and "default" (1).
        dropout: share of entries that are set to 0 in training; None draws nothing.

    Raises:
        ValueError: for a size, name or number out of range.
    """
    positive_integers(width=width, depth=depth, k=k)
    matrix = Entry("matrix", (4 * width, width), width)
    layer = [matrix, matrix, Entry("bias", (4 * width,), width)]
    ends = [Entry("token", (2, width)), Entry("read-out", (k, width), width)]
    arrays = drawn(key, [*ends, *layer * depth], law, scale)
    (tokens, a), arrays = arrays[:2], arrays[2:]
    layers = [LongShortTerm(*arrays[i : i + 3]) for i in range(0, len(arrays), 3)]
    return Recurrent(tokens, tuple(layers), a, dropout_rate(dropout))
