"""A dataset: a sample from a law, with what is known about that law."""

from collections.abc import Callable, Mapping

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

# (key, rows) -> x "rows d" and y "rows k", from the law of a sample.
Fresh = Callable[[PRNGKeyArray, int], tuple[Array, Array]]


class Dataset(eqx.Module):
    """A sample from a law, with what is known about that law.

    `weight` is 0 for padding and 1 otherwise, by default 1; every loss and measure is
    a mean weighted by it, so samples of different size share one compiled program.
    `mean` is E[y | x], the target without its noise, by default y. `features` are the
    directions the law was built from, simplest first, by default none. `test` is a
    second, independent sample of the same law (its own `test` is None). `others` are
    further samples by name, such as one of another law or with other labels. `fresh`,
    a module of arrays that is called `(key, rows)` and gives x and y, draws rows from
    the law, for descent on rows that are new in every step.
    """

    x: Float[Array, "n d"]
    y: Float[Array, "n k"]
    weight: Float[Array, " n"] = None  # pyright: ignore[reportAssignmentType]
    mean: Float[Array, "n k"] = None  # pyright: ignore[reportAssignmentType]
    features: Float[Array, "p d"] = None  # pyright: ignore[reportAssignmentType]
    test: "Dataset | None" = None
    others: Mapping[str, "Dataset"] = eqx.field(default_factory=dict)
    fresh: Fresh | None = None

    def __post_init__(self):
        if self.weight is None:
            self.weight = jnp.ones(len(self.y), self.y.dtype)
        if self.mean is None:
            self.mean = self.y
        if self.features is None:
            self.features = jnp.zeros((0, self.x.shape[1]), self.x.dtype)
