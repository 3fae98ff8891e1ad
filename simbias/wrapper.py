"""A network that holds another one, with what becomes of the hooks of that one."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float, Key, PRNGKeyArray

from simbias.errors import BadInput
from simbias.network import (
    AbstractNetwork,
    Hook,
    Loss,
    Method,
    Pattern,
    hook,
    present_if,
)


def if_inner_has(name: Hook) -> Callable[[Method], Method]:
    """Decorator of a hook that a wrapper has only if its `inner` has the named one."""
    return present_if(lambda wrapper: hook(wrapper.inner, name) is not None)


class AbstractWrapper(AbstractNetwork):
    """A network that computes the same function as another one, `inner`.

    It has the hooks of `inner`.  What describes the function is forwarded here.  Each
    wrapper must say itself what happens in training: it defines `in_training`,
    `on_sample` and `value_and_gradient`, or names in `refuses` those that `inner` must
    not have.

    Raises:
        ValueError: if `inner` has a hook that the wrapper refuses.
    """

    inner: eqx.AbstractVar[Any]
    refuses: ClassVar[tuple[Hook, ...]] = ()

    def __check_init__(self):
        refuse(self, self.refuses, self.inner)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output of `inner` for one input."""
        return self.inner(x)

    @property
    def has_kinks(self) -> bool | None:
        """As `inner` states."""
        return hook(self.inner, "has_kinks")

    @property
    def kink_slopes(self) -> tuple[float, ...] | None:
        """As `inner` states."""
        return hook(self.inner, "kink_slopes")

    @if_inner_has("gated")
    def gated(
        self, x: Float[Array, " d"], pattern: Pattern
    ) -> tuple[Float[Array, " k"], tuple[Float[Array, "..."], ...]]:
        """As `inner` with these gates."""
        return self.inner.gated(x, pattern)

    @property
    def has_own_law(self) -> bool:
        """As `inner` states."""
        return bool(hook(self.inner, "has_own_law"))

    @if_inner_has("features")
    def features(self, x: Float[Array, " d"]) -> Float[Array, " p"]:
        """Those of `inner`."""
        return self.inner.features(x)

    @if_inner_has("activations")
    def activations(self, x: Float[Array, " d"]) -> tuple[Float[Array, "..."], ...]:
        """Those of `inner`."""
        return self.inner.activations(x)

    @abstractmethod
    def in_training(
        self, x: Float[Array, " d"], key: PRNGKeyArray
    ) -> Float[Array, " k"]:
        """See `AbstractNetwork`."""

    @abstractmethod
    def on_sample(
        self,
        x: Float[Array, "n d"],
        weight: Float[Array, " n"],
        keys: Key[Array, " n"] | None = None,
    ) -> tuple[Float[Array, "n k"], AbstractNetwork]:
        """See `AbstractNetwork`."""

    @abstractmethod
    def value_and_gradient(
        self,
        loss: Loss,
        x: Float[Array, "n d"],
        y: Float[Array, "n k"],
        weight: Float[Array, " n"],
        keys: Key[Array, " n"] | None = None,
    ) -> tuple[Float[Array, ""], AbstractNetwork]:
        """See `AbstractNetwork`."""


def refuse(wrapper: Any, names: tuple[Hook, ...], *inner: Any) -> None:
    """Raise an error if a network has a hook that its wrapper would ignore.

    Raises:
        ValueError: for the first such hook, by name.
    """
    for network in inner:
        for name in names:
            if hook(network, name) is not None:
                raise BadInput(
                    f"{type(wrapper).__name__} cannot train a "
                    f"{type(network).__name__}: it has the method `{name}`, which "
                    f"{type(wrapper).__name__} does not use. {_INSTEAD[name]}"
                )


_INSTEAD = {
    "in_training": "Leave the dropout or the noise out.",
    "on_sample": "Use layer or group normalisation in place of batch normalisation.",
    "value_and_gradient": "Use a network without a gradient of its own, as Mlp.",
}
