"""A network: a function of one input, and what else it may have."""

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key, PRNGKeyArray

from simbias.errors import BadInput

# (prediction, target, weight) -> mean over the samples.  The factor in front (½ or 1)
# and the 1/n set the clock of every flow.
Loss = Callable[
    [Float[Array, "n k"], Float[Array, "n k"], Float[Array, " n"]], Float[Array, ""]
]

# What a network may have besides `__call__`; `AbstractNetwork` says what each one is.
Hook = Literal[
    "has_kinks",
    "has_own_law",
    "features",
    "activations",
    "in_training",
    "on_sample",
    "value_and_gradient",
    "gated",
    "kink_slopes",
]
HOOKS: tuple[Hook, ...] = get_args(Hook)


class Pattern(NamedTuple):
    """Gates of the piecewise linear layers, the first layer first: h = scale·z + shift.

    The arrays have the shapes of the pre-activations z, or are numbers.
    """

    scale: tuple[Float[Array, "..."], ...]
    shift: tuple[Float[Array, "..."], ...]


Method = TypeVar("Method", bound=Callable[..., Any])


class _Optional:
    """A method that is None on a network for which the condition is False."""

    def __init__(self, method: Any, is_present: Callable[[Any], bool]):
        functools.update_wrapper(self, method)  # pyright: ignore
        self._method, self._is_present = method, is_present

    def __get__(self, network: Any, owner: type | None = None) -> Any:
        if network is None:
            return self
        is_present = self._is_present(network)
        return jax.tree_util.Partial(self._method, network) if is_present else None


def present_if(condition: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Decorator of a hook that a network has only if `condition(network)` is True.

    The hook is None otherwise.  Example: dropout, which a network may or may not have.
    """
    return lambda method: _Optional(method, condition)  # pyright: ignore


def hook(network: Any, name: Hook) -> Any:
    """The hook of a network of any class, None if the network does not have it."""
    return getattr(network, name, None)


def required(network: Any, name: Hook, by: str) -> Any:
    """The hook of a network that must have it.

    Args:
        network: of any class.
        name: of the hook.
        by: what needs the hook, for the error.

    Raises:
        ValueError: if the network does not have it.
    """
    found = hook(network, name)
    if found is None:
        raise BadInput(
            f"{by} needs a network with the method `{name}`, got a "
            f"{type(network).__name__}. `simbias.core.AbstractNetwork.{name}` says "
            "what the method returns."
        )
    return found


_absent = present_if(lambda _: False)


class AbstractNetwork(eqx.Module):
    """A function of one input.  Any other Equinox module of one input will do as well.

    Training changes the inexact arrays of a network, except those inside a `Buffer` and
    those that `frozen` names, a static tuple such as ("a",) or ("weights.0",).
    Everything else, such as an activation, is constant.

    Only `__call__` must be written.  The other methods are hooks: a network has a hook
    if its class defines it, and a hook that it does not have is None.  A class that is
    not derived from this one may define the same hooks.  A network that holds another
    one is an `AbstractWrapper`.
    """

    @abstractmethod
    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input.  Measures always use this one."""

    @property
    def has_kinks(self) -> bool | None:
        """True if the gradient in the weights jumps, as with ReLU; False if not.

        None, the default: simbias finds out by tracing the network.
        """
        return None

    @property
    def has_own_law(self) -> bool:
        """True if the loss is a mean over a law in closed form.

        No sample enters such a loss, so a sample of the user is refused.
        """
        return False

    @_absent
    def features(self, x: Float[Array, " d"]) -> Float[Array, " p"]:
        """Input of the last, linear layer."""
        ...

    @_absent
    def activations(self, x: Float[Array, " d"]) -> tuple[Float[Array, "..."], ...]:
        """Outputs of the layers, the first layer first."""
        ...

    @_absent
    def in_training(
        self, x: Float[Array, " d"], key: PRNGKeyArray
    ) -> Float[Array, " k"]:
        """Output for one input in training, for a network that draws random numbers.

        Examples are dropout and noise on the inputs.  Every step and every row has its
        own key, derived from the key of the network's seed.  `Descent` uses this method
        in place of `__call__`; `GradientFlow` refuses the network.
        """
        ...

    @_absent
    def on_sample(
        self,
        x: Float[Array, "n d"],
        weight: Float[Array, " n"],
        keys: Key[Array, " n"] | None = None,
    ) -> tuple[Float[Array, "n k"], "AbstractNetwork"]:
        """Outputs on a sample in training, and the network with its buffers updated.

        For a network whose rows depend on each other in training, as under batch
        normalisation.  `Descent` uses this method in place of `__call__`;
        `GradientFlow` refuses the network.

        Args:
            x: a sample or a mini-batch.
            weight: 0 for padding.
            keys: one for each row.  They are passed only if the network also has
                `in_training`.
        """
        ...

    @_absent
    def value_and_gradient(
        self,
        loss: Loss,
        x: Float[Array, "n d"],
        y: Float[Array, "n k"],
        weight: Float[Array, " n"],
        keys: Key[Array, " n"] | None = None,
    ) -> tuple[Float[Array, ""], "AbstractNetwork"]:
        """Loss on a sample, and its gradient as a network of the same shape.

        Every flow uses this method in place of automatic differentiation: because it is
        faster, or because the weights follow another vector, as in adversarial
        training.  A network with `on_sample` cannot have it.

        Args:
            loss: a mean over the rows.
            x: a sample or a mini-batch.
            y: targets.
            weight: 0 for padding.
            keys: as in `on_sample`.
        """
        ...

    @property
    def kink_slopes(self) -> tuple[float, ...] | None:
        """Slope for z < 0 of every layer with ReLU or leaky ReLU; None if unknown."""
        return None

    @_absent
    def gated(
        self, x: Float[Array, " d"], pattern: Pattern
    ) -> tuple[Float[Array, " k"], tuple[Float[Array, "..."], ...]]:
        """Output with h = scale·z + shift in place of (leaky) ReLU, and all z.

        One gate per layer with a kink, in the order of `kink_slopes`.  With a fixed
        pattern the network must be smooth in its weights.  `DeepReluFlow` derives
        everything it needs from this method.

        Args:
            x: one input.
            pattern: of that input.

        Returns:
            The output, and the pre-activations of the layers with a kink.
        """
        ...
