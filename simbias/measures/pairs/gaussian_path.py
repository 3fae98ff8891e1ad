"""Loss over Gaussian inputs on the line between the weights of two networks."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.pairs.weight_path import MATCHINGS, POINTS
from simbias.numerics.linear_assignment import linear_assignment
from simbias.numerics.precision import matmul
from simbias.theory.arc_cosine import arc_cosine, over_pairs
from simbias.theory.population import population_loss


class GaussianPath(AbstractMeasure):
    """Loss on the line between two students, over Gaussian inputs, in closed form.

    It is ½ E (f − f*)² over x ~ N(0, I) at (1 − α) θ + α π(θ').

    f* = Σⱼ (vⱼ·x)₊, the vⱼ being the features.  π is no order, the one that brings
    weights closest, or the one that brings activations closest, E (hᵢ − h'_π(i))² by
    their moments over N(0, I).  Each is one assignment, and exact: there is one hidden
    layer.  In double precision where it is on.

    Reference: Zhan, Li & Wu (2025), arXiv:2503.06001, for students of one teacher.
    """

    dims: ClassVar[tuple[str, ...]] = ("matching", "alpha")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3 alpha"]:
        """In closed form, from the first student (α = 0) to the second."""
        one, two = (_both_layers(f) for f in network.networks)
        orders = _orders(*one, *two)
        teacher = data.features.astype(one[0].dtype)

        def at(alpha: Float[Array, ""]) -> Float[Array, " 3"]:
            mixed = lambda a, b: (1 - alpha) * a + alpha * b

            def between(order: Int[Array, " m"]) -> Float[Array, ""]:
                w, a = mixed(one[0], two[0][order]), mixed(one[1], two[1][order])
                return gaussian_risk(w, a, teacher)

            return jax.lax.map(between, orders)

        points = jnp.asarray(POINTS, one[0].dtype)
        return jax.lax.map(at, points).T

    def coords(self) -> dict[str, np.ndarray]:
        """How permuted, and α."""
        return {"matching": np.array(MATCHINGS), "alpha": POINTS}


def gaussian_risk(
    w: Float[Array, "m d"], a: Float[Array, " m"], teacher: Float[Array, "q d"]
) -> Float[Array, ""]:
    """½ E (Σᵢ aᵢ (wᵢ·x)₊ − Σⱼ (vⱼ·x)₊)² over x ~ N(0, I), in closed form."""
    ones = jnp.ones((len(teacher), 1), a.dtype)
    return population_loss((w, a[:, None], 0.0), (teacher, ones, 0.0))


def _orders(
    w: Float[Array, "m d"],
    a: Float[Array, " m"],
    w2: Float[Array, "m d"],
    a2: Float[Array, " m"],
) -> Int[Array, "3 m"]:
    by_activations = over_pairs(arc_cosine, w, w2)
    by_weights = matmul(w, w2.T) + jnp.outer(a, a2)
    found = jax.vmap(linear_assignment)(-jnp.stack([by_weights, by_activations]))
    as_is = jnp.arange(a.shape[0], dtype=found.dtype)
    return jnp.concatenate([as_is[None], found])


def _both_layers(network: Any) -> tuple[Float[Array, "m d"], Float[Array, " m"]]:
    w, a = (v.astype(jnp.result_type(float)) for v in network.weights)
    return w, a[0]
