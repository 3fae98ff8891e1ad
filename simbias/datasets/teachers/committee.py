"""A teacher that is a sum of erf neurons, in high dimension."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.numerics.precision import matmul
from simbias.validation.values import positive_integers


class CommitteeRows(eqx.Module):
    """x ~ N(0, I/d) and y = Σₙ erf(vₙ·x/√2)."""

    teacher: Float[Array, "q d"]

    def __call__(
        self, key: PRNGKeyArray, rows: int
    ) -> tuple[Float[Array, "n d"], Float[Array, "n 1"]]:
        """`rows` inputs and the outputs of the teacher."""
        d = self.teacher.shape[1]
        x = jax.random.normal(key, (rows, d), jnp.float64) * d**-0.5
        h = matmul(x, self.teacher.T.astype(x.dtype))
        return x, jnp.sum(jax.scipy.special.erf(h / 2**0.5), axis=1, keepdims=True)


def committee(
    key: PRNGKeyArray, *, n: int = 1, d: int = 100, neurons: int = 2
) -> Dataset:
    """Soft committee machine: x ~ N(0, I/d) and y = Σₙ erf(vₙ·x/√2), vₙ = √d eₙ.

    All pre-activations vₙ·x are N(0, 1) and independent.  `fresh` draws new rows, for
    one-pass SGD; the n rows of the sample are more of them.

    Args:
        key: random key.
        n: rows of the sample.
        d: input dimension.
        neurons: of the teacher, at most d.

    Returns:
        The sample; `features` holds the vₙ.

    Raises:
        ValueError: for sizes that are not positive integers, or neurons > d.

    Reference: Saad & Solla (1995), doi:10.1103/PhysRevE.52.4225.
    """
    positive_integers(n=n, d=d, neurons=neurons)
    if neurons > d:
        raise BadInput(
            "`neurons` must be at most d, for orthogonal directions, got "
            f"neurons={neurons} and d={d}. Example: neurons={d}."
        )
    rows = CommitteeRows(jnp.eye(neurons, d, dtype=jnp.float64) * d**0.5)
    x, y = rows(key, n)
    return Dataset(x, y, jnp.ones(n, jnp.float64), y, rows.teacher, fresh=rows)
