"""A `make` of two parts: a law of data, and one of networks."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import jax
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput

# What a network is told of the sample.
_SIZES = ("d", "k")


@dataclasses.dataclass(frozen=True)
class DrawnFrom:
    """A sample by one law and a network by another, each with a key of its own.

    The arguments of both are those of the grid, each name of one of them.  `d` and `k`
    of the network, the sizes of an input and of an output, are those of the sample.

    Args:
        law: `(key, *, n, …) -> Dataset`.
        network: `(key, *, d, k, …) -> network`; it need not take `d` and `k`.
    """

    law: Callable[..., Dataset]
    network: Callable[..., Any]

    def __post_init__(self):
        of_law, of_network = _parameters(self.law), _parameters(self.network)
        own = {k: p for k, p in of_network.items() if k not in _SIZES}
        if both := sorted({*of_law} & {*own}):
            raise BadInput(
                f"`law` and `network` both take `{both[0]}`: rename one of them. "
                "Example: network=lambda key, *, d, start: balanced(key, d=d, "
                "scale=start)."
            )
        key = inspect.Parameter("key", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        every = [key, *of_law.values(), *own.values()]
        object.__setattr__(self, "__signature__", inspect.Signature(every))

    def __call__(self, key: PRNGKeyArray, **arguments: Any) -> tuple[Dataset, Any]:
        """The sample and the network."""
        key_data, key_network = jax.random.split(key)
        of_law, of_network = _parameters(self.law), _parameters(self.network)
        given = lambda known: {k: v for k, v in arguments.items() if k in known}
        data = self.law(key_data, **given(of_law))
        sizes = dict(zip(_SIZES, (data.x.shape[1], data.y.shape[1]), strict=True))
        told = {k: v for k, v in sizes.items() if k in of_network}
        return data, self.network(key_network, **{**given(of_network), **told})


def _parameters(law: Callable) -> dict[str, inspect.Parameter]:
    """Arguments after the key, all by name."""
    first, *rest = [*inspect.signature(law).parameters.values(), None]
    if first is None or first.kind in (first.KEYWORD_ONLY, first.VAR_KEYWORD):
        raise BadInput(
            f"a law must take a key first, got {law!r}. "
            "Example: def law(key, *, n: int = 50)."
        )
    kinds = (first.KEYWORD_ONLY, first.POSITIONAL_OR_KEYWORD)
    named = [p for p in rest if p is not None and p.kind in kinds]
    return {p.name: p.replace(kind=p.KEYWORD_ONLY) for p in named}
