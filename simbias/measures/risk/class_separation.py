"""How far apart a network keeps two classes, also on rows that resemble them."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample


class ClassSeparation(AbstractMeasure):
    """Separation of two classes by the output, from −1 to 1.

    It is E[y f]/√E f², on the test sample and on samples beside it.

    0 while f is 0.  One output; y = ±1.  A network that uses means alone has the same
    on rows of the test and on clones that share their means.

    Args:
        samples: names of samples among `data.others` with the labels of the test, row
            by row.
    """

    samples: tuple[str, ...] = eqx.field(static=True, default=())
    dims: ClassVar[tuple[str, ...]] = ("rows",)

    def coords(self) -> dict[str, np.ndarray]:
        """Whose rows."""
        return {"rows": np.array(["real", *self.samples])}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """The test sample first."""
        test = second_sample(data)
        x = [test.x, *(data.others[name].x for name in self.samples)]
        mean = lambda v: jnp.sum(test.weight * v) / jnp.sum(test.weight)

        def of(x: Array) -> Array:
            f = jax.vmap(network)(x)[:, 0]
            size = jnp.sqrt(mean(f**2))
            along = mean(f * test.y[:, 0])
            return along / jnp.where(size > 0, size, 1)

        return jax.lax.map(of, jnp.stack(x))
