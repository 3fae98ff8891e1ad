"""The transformer: an encoder of one string, read at an end token."""

import math
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Buffer, Real
from simbias.errors import BadInput
from simbias.network import present_if
from simbias.networks.sequence._dropout import (
    dropout_rate,
    dropped,
    keys_of,
    token_of,
)
from simbias.networks.sequence._laws import Entry, drawn
from simbias.validation.values import positive_integer, positive_integers

States = Float[Array, "t m"]
Norm = eqx.nn.LayerNorm | eqx.nn.Identity
_Key = PRNGKeyArray | None


class Affine(eqx.Module):
    """W h + b of every row."""

    w: Float[Array, "p q"]
    b: Float[Array, " p"]

    def __call__(self, h: Float[Array, "t q"]) -> Float[Array, "t p"]:
        """Row by row."""
        return h @ self.w.T + self.b[None, :]


class EncoderLayer(eqx.Module):
    """h ← h + A(norm h), then h ← h + F(norm h): attention, then two ReLU layers.

    A of every head is softmax(Q Kᵀ/√(m/heads)) V with Q, K, V affine in h, over all
    positions; `mix` joins the heads.  F(h) = W₂ relu(W₁ h + b₁) + b₂.  Without skips
    h ← A(norm h), then h ← F(norm h).
    """

    query: Affine
    key: Affine
    value: Affine
    mix: Affine
    first: Affine
    second: Affine
    norms: tuple[Norm, Norm]
    heads: int = eqx.field(static=True)
    has_skips: bool = eqx.field(static=True, default=True)

    def __call__(self, h: States, rate: Buffer | None, key: _Key) -> States:
        """All positions after the layer; `key` is that of the dropout, if there is."""
        key_weights, key_attention, key_forward = keys_of(key, 3)
        attended = self._attention(jax.vmap(self.norms[0])(h), rate, key_weights)
        h = self._after(h, dropped(attended, rate, key_attention))
        inner = jax.nn.relu(self.first(jax.vmap(self.norms[1])(h)))
        return self._after(h, dropped(self.second(inner), rate, key_forward))

    def _after(self, h: States, part: States) -> States:
        return h + part if self.has_skips else part

    def _attention(self, h: States, rate: Buffer | None, key: _Key) -> States:
        split = lambda v: v.reshape(v.shape[0], self.heads, -1)
        q, k, v = (split(part(h)) for part in (self.query, self.key, self.value))
        scores = jnp.einsum("shc,thc->hst", q, k) / math.sqrt(q.shape[-1])
        shares = dropped(jax.nn.softmax(scores, axis=-1), rate, key)
        return self.mix(jnp.einsum("hst,thc->shc", shares, v).reshape(h.shape))


class Transformer(AbstractNetwork):
    """f(x) = a · norm(h_end), h the states of n tokens and an end token after L layers.

    h⁰ᵢ = √m · token(xᵢ) + positionᵢ.  No causal mask: every position sees every other.
    With labels y ∈ {−1, +1} and `losses.logistic` f is the logit of y = +1, so that
    sigmoid(f) ≥ ½ is the class.  Between −1 and +1 a token is interpolated linearly.

    A `dropout` acts in training only: on h⁰, on attention weights, and on what every
    layer adds.  `frozen` names what is not trained.

    Reference: Vaswani et al. (2017), arXiv:1706.03762; normalised before each part and
    once at the end, read at the end token, as in the code of Bhattamishra, Patel,
    Kanade & Blunsom (2023), arXiv:2211.12316.
    """

    tokens: Float[Array, "3 m"]
    positions: Float[Array, "t m"]
    layers: tuple[EncoderLayer, ...]
    norm: Norm
    a: Float[Array, "k m"]
    dropout: Buffer | None = None
    frozen: tuple[str, ...] = eqx.field(static=True, default=())

    has_kinks: ClassVar[bool] = True  # ReLU

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
        """norm(h_end), what the output is linear in."""
        return self._features(x, None)

    def _read(self, x: Float[Array, " n"], key: _Key) -> Float[Array, " k"]:
        return self.a @ self._features(x, key)

    def _features(self, x: Float[Array, " n"], key: _Key) -> Float[Array, " m"]:
        key_first, *keys = keys_of(key, 1 + len(self.layers))
        h = jnp.concatenate([token_of(x, self.tokens), self.tokens[2:]])
        h = math.sqrt(h.shape[1]) * h + self.positions
        h = dropped(h, self.dropout, key_first)
        for layer, key_layer in zip(self.layers, keys, strict=True):
            h = layer(h, self.dropout, key_layer)
        return self.norm(h[-1])


def transformer(
    key: PRNGKeyArray,
    *,
    n: int,
    width: int = 64,
    depth: int = 4,
    heads: int = 1,
    feed_forward: int | None = None,
    k: int = 1,
    law: str = "default",
    scale: Real | None = None,
    dropout: Real | None = None,
) -> Transformer:
    """A transformer with the initial law of a name; gains of the norms are 1.

    Args:
        key: random key.
        n: length of the string.
        width: m, of a state.
        depth: layers.
        heads: of the attention; they divide the width.
        feed_forward: neurons of F; None is twice the width.
        k: outputs, 1 for a logit.
        law: "uniform", "normal", "xavier" or "default"; see `drawn` beside this.
        scale: half the width of "uniform" (10), the standard deviation of "normal"
            (10), a factor of the matrices of "xavier" and "default" (1).
        dropout: share of entries that are set to 0 in training; None draws nothing.

    Raises:
        ValueError: for a size, name or number out of range.
    """
    positive_integers(n=n, k=k)
    entries, made = encoder_layers(width, depth, heads, feed_forward)
    ends = [
        Entry("token", (3, width)),
        Entry("position", (n + 1, width)),
        Entry("read-out", (k, width), width),
    ]
    arrays = drawn(key, [*ends, *entries], law, scale)
    (tokens, positions, a), arrays = arrays[:3], arrays[3:]
    rate = dropout_rate(dropout)
    return Transformer(tokens, positions, made(arrays), layer_norm(width), a, rate)


def layer_norm(width: int, has_norm: bool = True) -> Norm:
    """Layer normalisation with a gain of 1, or nothing."""
    if not has_norm:
        return eqx.nn.Identity()
    return eqx.nn.LayerNorm(width, dtype=jnp.float64)


def encoder_layers(
    width: int,
    depth: int,
    heads: int,
    feed_forward: int | None,
    *,
    has_norm: bool = True,
    has_skips: bool = True,
) -> tuple[list[Entry], Callable[[list[Array]], tuple[EncoderLayer, ...]]]:
    """The arrays of encoder layers, and a function that makes layers of them.

    Raises:
        ValueError: for a size that is no positive integer, or heads that do not divide
            the width.
    """
    forward = 2 * width if feed_forward is None else feed_forward
    sizes = {"width": width, "depth": depth, "heads": heads, "feed_forward": forward}
    for name, value in sizes.items():
        positive_integer(name, value)
    if width % heads:
        raise BadInput(
            f"`heads` must divide `width`, got heads={heads} and width={width}. "
            "Example: width=64, heads=4."
        )
    shapes = [(width, width)] * 4 + [(forward, width), (width, forward)]
    layer = []
    for p, q in shapes:
        layer += [Entry("matrix", (p, q), q), Entry("bias", (p,), q)]
    norm = lambda: layer_norm(width, has_norm)

    def made(arrays: list[Array]) -> tuple[EncoderLayer, ...]:
        layers = []
        for i in range(0, len(arrays), len(layer)):
            one = arrays[i : i + len(layer)]
            parts = [Affine(w, b) for w, b in zip(one[::2], one[1::2], strict=True)]
            layers.append(
                EncoderLayer(
                    *parts, norms=(norm(), norm()), heads=heads, has_skips=has_skips
                )
            )
        return tuple(layers)

    return layer * depth, made
