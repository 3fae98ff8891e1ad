"""Networks of a string of n bits, by kind and initial law."""

from itertools import pairwise
from typing import Literal, get_args

import jax
from jaxtyping import PRNGKeyArray

from simbias.core import AbstractNetwork, Real
from simbias.networks import Mlp, recurrent, transformer
from simbias.networks.sequence._laws import SCALES, Entry, drawn
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integers

Kind = Literal["transformer", "lstm", "mlp"]
Law = Literal["uniform", "normal", "xavier", "default"]
NAMES: dict[str, str] = {"transformer": "transformer", "lstm": "LSTM", "mlp": "MLP"}


def network_of(
    key: PRNGKeyArray,
    kind: Kind,
    *,
    n: int,
    width: int,
    depth: int,
    law: Law,
    heads: int = 1,
    dropout: Real | None = None,
) -> AbstractNetwork:
    """One of three kinds, of `depth` layers (an LSTM at most two), with one output.

    An "mlp" has ReLU layers, and each law is that of the matrices and biases of the
    other kinds.  It has no information about which bits are neighbours.  No kind drops
    input bits.

    Raises:
        ValueError: for a name that is not known, or a size or number out of range.
    """
    one_of("network", kind, get_args(Kind))
    one_of("law", law, tuple(SCALES))
    positive_integers(n=n, width=width, depth=depth)
    if kind == "transformer":
        return transformer(
            key, n=n, width=width, depth=depth, heads=heads, law=law, dropout=dropout
        )
    if kind == "lstm":
        layers = min(depth, 2)
        return recurrent(key, width=width, depth=layers, law=law, dropout=dropout)
    widths = (n, *[width] * depth, 1)
    shapes = [(p, q) for q, p in pairwise(widths)]
    entries = [Entry("matrix", (p, q), q) for p, q in shapes]
    entries += [Entry("bias", (p,), q) for p, q in shapes]
    arrays = drawn(key, entries, law, None)
    return Mlp(tuple(arrays[: len(shapes)]), tuple(arrays[len(shapes) :]), jax.nn.relu)
