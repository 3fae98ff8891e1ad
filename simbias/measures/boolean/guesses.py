"""Random functions that fit a sample, by how often they are right elsewhere."""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import second_sample
from simbias.validation.values import positive_integer

# Networks that are drawn at a time.
_CHUNK = 100


class Guesses(AbstractMeasure):
    """How many random functions that fit the sample are right on how much of the rest.

    For `uniform`, every value a fair coin, and `network`, untrained networks of the
    initial law of a member: of `draws` functions the number that have the sign of y on
    all of the sample and on r of the strings of the test sample, for every r.  The
    network must have a `key`, and `other(key)`, another one of the same law.

    Args:
        draws: functions of each kind, a multiple of 100.
    """

    draws: int = eqx.field(static=True, default=10_000)
    dims: ClassVar[tuple[str, ...]] = ("guesser", "right")
    entries: ClassVar = {"guesser": ("uniform", "network")}

    def __check_init__(self):
        positive_integer("draws", self.draws)
        if self.draws % _CHUNK:
            raise BadInput(
                f"`draws` must be a multiple of {_CHUNK}, got {self.draws}. "
                "Example: draws=10_000."
            )

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 r"]:
        """Numbers of functions, of 0 to all strings of the rest that are right."""
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
