"""Initial laws of networks of strings, by the part that an array plays."""

import math
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Real
from simbias.numerics.cut import cut, numbers
from simbias.validation.sample import one_of
from simbias.validation.values import positive

Part = Literal["matrix", "bias", "token", "position", "read-out"]
# What `scale` is if it is not given.
SCALES: dict[str, float] = {"uniform": 10, "normal": 10, "xavier": 1, "default": 1}


class Entry(NamedTuple):
    """An array to be drawn; `inputs` are those of a neuron of its layer."""

    part: Part
    shape: tuple[int, ...]
    inputs: int = 1


def drawn(
    key: PRNGKeyArray, entries: list[Entry], law: str, scale: Real | None
) -> list[Float[Array, "..."]]:
    """One array for each entry, independent.

    With s = `scale`:

        law        matrices         tokens    positions  read-out         biases
        "uniform"  U(±s)            U(±s)     U(±s)      U(±s)            0
        "normal"   N(0, s²)         N(0, 1)   U(±1)      N(0, 1)          0
        "xavier"   s U(±√(6/(p+q))) N(0, 1)   N(0, 1)    s U(±√(6/(p+q))) 0
        "default"  s U(±1/√q)       N(0, 1)   U(±0.1)    s U(±1/√q)       s U(±1/√q)

    for matrices of p rows and q inputs.  s is 10 for the first two, 1 for the others.

    Reference: Bhattamishra, Patel, Kanade & Blunsom (2023), arXiv:2211.12316, by its
    published code; "default" is torch's.
    """
    one_of("law", law, tuple(SCALES))
    if scale is not None:
        positive("scale", scale)
    s = jnp.asarray(SCALES[law] if scale is None else scale, jnp.float64)
    shapes = [entry.shape for entry in entries]
    # Above −1, so that no normal number is infinite.
    low = math.nextafter(-1.0, 0.0)
    u = jax.random.uniform(key, (numbers(shapes),), jnp.float64, minval=low, maxval=1)
    pieces = zip(entries, cut(u, shapes), strict=True)
    return [_shaped(piece, entry, law, s) for entry, piece in pieces]


def _shaped(
    u: Float[Array, "..."], entry: Entry, law: str, s: Float[Array, ""]
) -> Float[Array, "..."]:
    """Numbers U(±1) made into those of the law."""
    part = entry.part
    if law == "uniform":
        return s * u if part != "bias" else jnp.zeros_like(u)
    if part == "token" or (part == "position" and law == "xavier"):
        return _normal(u)
    if part == "position":
        return u if law == "normal" else 0.1 * u
    if law == "normal":
        if part == "bias":
            return jnp.zeros_like(u)
        return _normal(u) if part == "read-out" else s * _normal(u)
    if law == "default":
        return s * entry.inputs**-0.5 * u
    if part == "bias":
        return jnp.zeros_like(u)
    return s * math.sqrt(6 / sum(entry.shape)) * u


def _normal(u: Float[Array, "..."]) -> Float[Array, "..."]:
    return math.sqrt(2) * jax.scipy.special.erfinv(u)
