"""Linear self-attention that predicts the label of a query from labelled examples."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Real
from simbias.errors import BadInput
from simbias.validation.values import positive, positive_integers


class LinearAttention(AbstractNetwork):
    """f = Σ_h v_h (k_h·β)(q_h·x),  β = (1/N) Σᵢ yᵢ xᵢ.

    An input is N examples (xᵢ, yᵢ) and a query x, flattened: x₁, y₁, …, x_N, y_N, x.
    This is the output of linear attention, without softmax, at the place of the label
    of the query, with keys and queries of rank one in each head.

    Reference: Zhang, Singh, Latham & Saxe (2025), arXiv:2501.16265, for the model.
    """

    key: Float[Array, "m p"]
    query: Float[Array, "m p"]
    value: Float[Array, " m"]

    has_kinks: ClassVar[bool] = False  # the output is a polynomial of the weights

    def __check_init__(self):
        if self.key.shape != self.query.shape or len(self.value) != len(self.key):
            raise BadInput(
                "`key`, `query` and `value` must have one row per head, got shapes "
                f"{self.key.shape}, {self.query.shape} and {self.value.shape}."
            )

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        """Output for one input."""
        p = self.key.shape[1]
        examples = x[:-p].reshape(-1, p + 1)
        beta = jnp.mean(examples[:, -1:] * examples[:, :-1], axis=0)
        return jnp.sum(self.value * (self.key @ beta) * (self.query @ x[-p:]))[None]


def linear_attention(
    key: PRNGKeyArray, *, m: int, p: int, scale: Real = 1.0
) -> LinearAttention:
    """All weights N(0, λ²/m).

    Args:
        key: random key.
        m: heads.
        p: entries of an example.
        scale: factor λ of every weight.

    Raises:
        ValueError: for a size or scale that is not positive.
    """
    positive_integers(m=m, p=p)
    positive("scale", scale)
    draws = jax.random.normal(key, (m, 2 * p + 1), jnp.float64)
    draws = jnp.asarray(scale, jnp.float64) / m**0.5 * draws
    return LinearAttention(draws[:, :p], draws[:, p:-1], draws[:, -1])
