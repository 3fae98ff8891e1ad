"""Students of a small ReLU teacher."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.losses import half_mse
from simbias.networks import Mlp
from simbias.numerics.precision import matmul
from simbias.validation.values import positive_integer, positive_integers


class TeacherRows(eqx.Module):
    """x ~ N(0, I) and y = Σⱼ (vⱼ·x)₊, once for each of two students."""

    teacher: Float[Array, "q d"]

    def __call__(
        self, key: PRNGKeyArray, rows: int
    ) -> tuple[Float[Array, "n d"], Float[Array, "n 2"]]:
        """`rows` inputs and the outputs of the teacher."""
        x = jax.random.normal(key, (rows, self.teacher.shape[1]), jnp.float64)
        hidden = jax.nn.relu(matmul(x, self.teacher.T.astype(x.dtype)))
        return x, jnp.tile(jnp.sum(hidden, axis=1, keepdims=True), (1, 2))


def taught(key: PRNGKeyArray, *, n: int, d: int, neurons: int) -> Dataset:
    """`TeacherRows` of the first `neurons` axes, vⱼ = eⱼ; these are the features.

    Raises:
        ValueError: for sizes that are not positive integers, or neurons > d.
    """
    positive_integers(n=n, d=d, neurons=neurons)
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

    At any width |wⱼ| is about aⱼ and the output is of order 1, so one learning rate
    serves all widths.

    Raises:
        ValueError: for a width that is not a positive integer.
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
    """Sum over the students of their `half_mse`, each on its own samples.

    Each sample is for one of the g students.  So g times the mean over all samples is
    the sum of the g means; what a sample adds for the other students is constant.
    """
    return prediction.shape[1] * half_mse(prediction, target, weight)
