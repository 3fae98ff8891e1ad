"""Students of a small ReLU teacher, and the line between two of them over Gaussians."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simbias.checks.values import positive_integer
from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.experiments.layers._paths import MATCHINGS, POINTS
from simbias.losses import half_mse
from simbias.networks.dense.mlp import Mlp
from simbias.numerics.linear_assignment import linear_assignment
from simbias.numerics.precision import matmul
from simbias.theory.arc_cosine import arc_cosine


class TeacherRows(eqx.Module):
    """x ~ N(0, I) and y = Σⱼ (vⱼ·x)₊, once for each of two students."""

    teacher: Float[Array, "q d"]

    def __call__(
        self, key: PRNGKeyArray, rows: int
    ) -> tuple[Float[Array, "n d"], Float[Array, "n 2"]]:
        """`rows` inputs and what the teacher says of them."""
        x = jax.random.normal(key, (rows, self.teacher.shape[1]), jnp.float64)
        hidden = jax.nn.relu(matmul(x, self.teacher.T.astype(x.dtype)))
        return x, jnp.tile(jnp.sum(hidden, axis=1, keepdims=True), (1, 2))


def taught(key: PRNGKeyArray, *, n: int, d: int, neurons: int) -> Dataset:
    """`TeacherRows` of the first `neurons` axes, vⱼ = eⱼ; these are the features.

    Raises:
        ValueError: for sizes that are none, or more neurons than inputs.
    """
    for name, value in (("n", n), ("d", d), ("neurons", neurons)):
        positive_integer(name, value)
    if neurons > d:
        raise BadInput(
            "`neurons` must be at most d, for orthogonal directions, got "
            f"neurons={neurons} and d={d}. Example: neurons={d}."
        )
    rows = TeacherRows(jnp.eye(neurons, d, dtype=jnp.float64))
    x, y = rows(key, n)
    return Dataset(x, y, jnp.ones(n, jnp.float64), y, rows.teacher, fresh=rows)


def student(key: PRNGKeyArray, *, m: int, d: int, is_output_trained: bool) -> Mlp:
    """f(x) = Σⱼ aⱼ (wⱼ·x)₊ with wⱼ ~ N(0, I/(d m)) and aⱼ = m^{−½}.

    |wⱼ| is about aⱼ, and the output of order 1, at any width; one rate serves all.

    Raises:
        ValueError: for a width that is none.
    """
    positive_integer("m", m)
    w = jax.random.normal(key, (m, d), jnp.float64) * (d * m) ** -0.5
    a = jnp.full((1, m), m**-0.5, jnp.float64)
    frozen = () if is_output_trained else ("weights.1",)
    return Mlp((w, a), (None, None), jax.nn.relu, 1.0, frozen)


def shared_half_mse(
    prediction: Float[Array, "n g"],
    target: Float[Array, "n g"],
    weight: Float[Array, " n"],
) -> Float[Array, ""]:
    """Sum over students of their `half_mse`, each on rows of its own.

    A row is for one of the g, and g times the mean over all rows the sum of the means
    over the rows of each; what it adds for the others is constant.
    """
    return prediction.shape[1] * half_mse(prediction, target, weight)


class GaussianPath(AbstractMeasure):
    """½ E (f − f*)² over x ~ N(0, I) on the line (1 − α) θ + α π(θ').

    f* = Σⱼ (vⱼ·x)₊, the vⱼ being the features.  π is no order, the one that brings
    weights closest, or the one that brings activations closest, E (hᵢ − h'_π(i))² by
    their moments over N(0, I).  Each is one assignment, and exact: there is one hidden
    layer.  In double precision where it is on.
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
    """½ E (Σᵢ aᵢ (wᵢ·x)₊ − Σⱼ (vⱼ·x)₊)² over x ~ N(0, I), by `arc_cosine`."""
    rows = jnp.concatenate([w, teacher])
    signs = jnp.concatenate([a, -jnp.ones(teacher.shape[0], a.dtype)])
    whole = jnp.sum(signs[:, None] * signs[None, :] * moments(rows, rows))
    # What cancels leaves rounding, which may be below 0.
    return jnp.maximum(whole / 2, 0)


def moments(u: Float[Array, "m d"], v: Float[Array, "q d"]) -> Float[Array, "m q"]:
    """E (uᵢ·x)₊ (vⱼ·x)₊."""
    shape = (u.shape[0], *v.shape)
    rows = jnp.broadcast_to(u[:, None, :], shape)
    return arc_cosine(rows, jnp.broadcast_to(v[None, :, :], shape))


def _orders(
    w: Float[Array, "m d"],
    a: Float[Array, " m"],
    w2: Float[Array, "m d"],
    a2: Float[Array, " m"],
) -> Int[Array, "3 m"]:
    by_weights = matmul(w, w2.T) + jnp.outer(a, a2)
    found = jax.vmap(linear_assignment)(-jnp.stack([by_weights, moments(w, w2)]))
    as_is = jnp.arange(a.shape[0], dtype=found.dtype)
    return jnp.concatenate([as_is[None], found])


def _both_layers(network: Mlp) -> tuple[Float[Array, "m d"], Float[Array, " m"]]:
    w, a = (v.astype(jnp.result_type(float)) for v in network.weights)
    return w, a[0]
