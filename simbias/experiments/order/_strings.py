"""All strings of d bits: a training sample, the rest, and random functions on it."""

import itertools
from collections.abc import Callable
from typing import ClassVar, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt

from simbias.core import AbstractMeasure, AbstractNetwork, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import second_sample
from simbias.networks.dense.mlp import LayerLaw, Mlp, mlp
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Target = Literal["majority", "parity"]
GUESSERS = ("uniform", "network")
# All strings are in memory at once.
_MOST_BITS = 14
# Networks that are drawn at a time.
_CHUNK = 100


def strings(
    key: PRNGKeyArray, *, d: int = 7, n: int = 6, target: Target = "majority"
) -> Dataset:
    """A sample of n of the 2ᵈ strings of ±1, each at most once; `test` is the rest.

    "majority" is the sign of x₁ + x₂ + x₃, "parity" the product of all d.

    Raises:
        ValueError: unless 3 ≤ d ≤ 14 and 0 < n < 2ᵈ, and for another target.
    """
    one_of("target", target, get_args(Target))
    x = every_string(d)
    positive_integer("n", n)
    if n >= len(x):
        raise BadInput(
            f"`n` must be below {len(x)}, all strings of {d} bits, so that some are "
            f"left to be guessed, got {n}."
        )
    y = np.sign(x[:, :3].sum(1)) if target == "majority" else x.prod(1)
    order = jax.random.permutation(key, len(x))
    x, y = jnp.asarray(x)[order], jnp.asarray(y)[order, None]
    features, ones = jnp.eye(d, dtype=jnp.float64), jnp.ones(len(x), jnp.float64)
    rest = Dataset(x[n:], y[n:], ones[n:], y[n:], features)
    return Dataset(x[:n], y[:n], ones[:n], y[:n], features, rest)


def every_string(d: int) -> Float[np.ndarray, "c d"]:
    """The 2ᵈ strings of ±1.

    Raises:
        ValueError: unless 3 ≤ d ≤ 14.
    """
    positive_integer("d", d)
    if not 3 <= d <= _MOST_BITS:
        raise BadInput(
            f"`d` must be from 3, the bits of a majority, to {_MOST_BITS}: all 2ᵈ "
            f"strings are held at once. Got {d}."
        )
    return np.array(list(itertools.product((-1.0, 1.0), repeat=d)))


class Drawn(AbstractNetwork):
    """A network with random weights, and the key to draw others of the same law."""

    network: Mlp
    key: UInt[Array, "2"]
    widths: tuple[int, ...] = eqx.field(static=True)
    law: LayerLaw = eqx.field(static=True)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, "1"]:
        """Output of the network for one input."""
        return self.network(x)

    def other(self, key: PRNGKeyArray) -> Mlp:
        """Another network of the same law."""
        return mlp(key, self.widths, law=self.law)


def drawn(key: PRNGKeyArray, widths: tuple[int, ...], law: LayerLaw) -> Drawn:
    """One ReLU network with biases, and the law of its weights."""
    key_network, key_others = jax.random.split(key)
    network = mlp(key_network, widths, law=law)
    return Drawn(network, jax.random.key_data(key_others), widths, law)


class Guesses(AbstractMeasure):
    """Random functions that fit the sample, counted by their right signs on the rest.

    `draws` functions are drawn for `uniform`, where every value is a fair coin, and for
    `network`, untrained networks with the initial law of the run's network.  For every
    r this is the number of functions that have the sign of y on the whole sample and on
    r of the other strings.
    """

    draws: int = eqx.field(static=True, default=10_000)
    dims: ClassVar[tuple[str, ...]] = ("guesser", "right")

    def __check_init__(self):
        positive_integer("draws", self.draws)
        if self.draws % _CHUNK:
            raise BadInput(
                f"`draws` must be a multiple of {_CHUNK}, got {self.draws}. "
                "Example: draws=10_000."
            )

    def __call__(self, network: Drawn, data: Dataset) -> Float[Array, "2 r"]:
        """Numbers of functions, by the number of right signs from 0 on."""
        rest, n = second_sample(data), data.x.shape[0]
        inputs = jnp.concatenate([data.x, rest.x])
        labels = jnp.concatenate([data.y, rest.y])[:, 0] > 0
        is_padding = data.weight == 0

        def coins(key: PRNGKeyArray) -> Bool[Array, " c"]:
            return jax.random.bernoulli(key, shape=labels.shape)

        def signs(key: PRNGKeyArray) -> Bool[Array, " c"]:
            return jax.vmap(network.other(key))(inputs)[:, 0] > 0

        def counts(
            function: Callable[[PRNGKeyArray], Array], root: PRNGKeyArray
        ) -> Float[Array, " r"]:
            def one(number: Int[Array, ""]) -> tuple[Array, Array]:
                is_right = function(jax.random.fold_in(root, number)) == labels
                return jnp.all(is_right[:n] | is_padding), jnp.sum(is_right[n:])

            numbers = jnp.arange(self.draws)
            fits, right = jax.lax.map(one, numbers, batch_size=_CHUNK)
            none = jnp.zeros(rest.x.shape[0] + 1, data.x.dtype)
            return none.at[right].add(fits.astype(none.dtype))

        keys = jax.random.split(jax.random.wrap_key_data(network.key))
        return jnp.stack([counts(coins, keys[0]), counts(signs, keys[1])])

    def coords(self) -> dict[str, np.ndarray]:
        """Names of the two laws."""
        return {"guesser": np.array(GUESSERS)}
