"""How often the class of a string changes when one bit does."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.sensitivity._cube import all_strings, is_one
from simbias.numerics import boolean_sensitivity
from simbias.validation.values import positive_integer


class Sensitivity(AbstractMeasure):
    """Sensitivity of a Boolean function: share of bits whose flip changes the answer.

    S(f) = E_x #{i : f(x) ≠ f(x with bit i flipped)}/n, f the sign of the output.

    x is uniform on {−1, +1}ⁿ, whatever the sample; f = 0 counts as +1, as in
    sigmoid(f) ≥ ½.  All 2ⁿ strings are evaluated once for n ≤ 12.  With `samples` it is
    the mean over so many strings, the same for every member and time: (n + 1) · samples
    evaluations and a standard error of at most ½/√samples.

    Args:
        samples: strings that are drawn; None enumerates all, up to n = 12.
        seed: of the draw.

    Reference: Bhattamishra, Patel, Kanade & Blunsom (2023), arXiv:2211.12316.
    """

    samples: int | None = eqx.field(static=True, default=None)
    seed: int = eqx.field(static=True, default=0)

    def __check_init__(self):
        if self.samples is not None:
            positive_integer("samples", self.samples)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Sensitivity, from 0 to 1; a network of one output.

        Raises:
            ValueError: for several outputs, or for more than 12 bits without `samples`.
        """
        if self.samples is None:
            seen = is_one(network, all_strings(data))
            return boolean_sensitivity.sensitivity(seen)
        n = data.x.shape[1]
        draw = jax.random.bernoulli(jax.random.key(self.seed), 0.5, (self.samples, n))
        x = (1 - 2 * draw.astype(jnp.int8)).astype(data.x.dtype)
        flips = 1 - 2 * jnp.eye(n, dtype=x.dtype)
        flipped = (x[:, None, :] * flips[None, :, :]).reshape(-1, n)
        others = is_one(network, flipped).reshape(-1, n)
        return boolean_sensitivity.sampled_sensitivity(is_one(network, x), others)
