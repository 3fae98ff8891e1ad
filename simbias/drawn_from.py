"""A `make` of two parts: a law of data, and one of networks or another `make`."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset, Make
from simbias.errors import BadInput
from simbias.network import hook

# What a network is told of the sample.
SIZES = ("d", "k")


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
        own = {k: p for k, p in of_network.items() if k not in SIZES}
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
        sizes = dict(zip(SIZES, (data.x.shape[1], data.y.shape[1]), strict=True))
        told = {k: v for k, v in sizes.items() if k in of_network}
        return data, self.network(key_network, **{**given(of_network), **told})


@dataclasses.dataclass(frozen=True)
class OnSample:
    """The networks of an experiment, on a sample of another law.

    Takes what `make` takes, and `n` if the law does; `d` and `k` are those of the
    sample.  What else shapes the experiment's own sample changes nothing.  Features
    that the law does not have are NaN.

    Args:
        law: `(key, *, n, …) -> Dataset`.
        make: `(key, *, …) -> (Dataset, network)`.
    """

    law: Callable[..., Dataset]
    make: Make

    def __post_init__(self):
        of_law, own = _parameters(self.law), _parameters(self.make)
        if "n" in of_law and "n" in own and own["n"].default is not own["n"].empty:
            of_law["n"] = own["n"]
        with jax.enable_x64(True):
            like = jax.eval_shape(self.law, jax.random.key(0))
        for name, size in zip(SIZES, (like.x.shape[1], like.y.shape[1]), strict=True):
            if name in own:
                own[name] = own[name].replace(default=size)
        key = inspect.Parameter("key", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        every = [key, *{**own, **of_law}.values()]
        object.__setattr__(self, "__signature__", inspect.Signature(every))

    def __call__(self, key: PRNGKeyArray, **arguments: Any) -> tuple[Dataset, Any]:
        """The sample of the law, and the network.

        Raises:
            ValueError: if the network takes inputs, or gives outputs, of another size,
                or if its experiment needs a second sample that the law does not have,
                or samples by other names.
        """
        key_data, key_network = jax.random.split(key)
        of_law, own = _parameters(self.law), _parameters(self.make)
        given = lambda known: {k: v for k, v in arguments.items() if k in known}
        data = self.law(key_data, **given(of_law))
        sizes = dict(zip(SIZES, (data.x.shape[1], data.y.shape[1]), strict=True))
        for name, size in sizes.items():
            if arguments.get(name, size) != size:
                raise BadInput(f"`{name}` is that of the sample, {size}: leave it out.")
        told = {k: v for k, v in sizes.items() if k in own}
        usual, network = self.make(key_network, **{**given(own), **told})
        _check_fits(data, usual)
        if hook(network, "has_own_law"):
            raise BadInput(
                "`data`: the loss of this experiment is a mean over a law, in closed "
                "form; no sample enters it."
            )
        if not len(data.features):
            unknown = jnp.full(usual.features.shape, jnp.nan, data.x.dtype)
            data = dataclasses.replace(data, features=unknown)
        return data, network


def _check_fits(data: Dataset, usual: Dataset) -> None:
    """Refuse a sample that cannot stand for the usual one."""
    for what, name in (("inputs", "x"), ("targets", "y")):
        here, there = (getattr(one, name).shape[1] for one in (data, usual))
        if here != there:
            raise BadInput(
                f"`data`: {what} of the sample have {here} entries, those of this "
                f"experiment {there}."
            )
    if usual.test is not None and data.test is None:
        raise BadInput(
            "`data`: this experiment needs a second sample. "
            "Example: numpy.savez('mine.npz', x=x, y=y, x_test=x_test, y_test=y_test)."
        )
    if missing := sorted({*usual.others} - {*data.others}):
        raise BadInput(
            f"`data`: this experiment needs further samples ({', '.join(missing)}), "
            "which only its own law has."
        )


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
