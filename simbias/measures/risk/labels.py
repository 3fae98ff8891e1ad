"""Shares of labels that a classifier gives, and how far it keeps classes apart."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import classified_share, outputs, second_sample


class ClassAccuracy(AbstractMeasure):
    """Share of the training and of the test sample with argmax f = argmax y.

    Targets have two columns or more: one-hot, or probabilities.  For labels −1 and +1
    in one column see `TrainSignAccuracy`.
    """

    dims: ClassVar[tuple[str, ...]] = ("sample",)
    entries: ClassVar = {"sample": ("train", "test")}
    targets: ClassVar[str] = "columns"
    test_targets: ClassVar[str] = "columns"

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2"]:
        """Accuracies in [0, 1], labels as they are; NaN without a test sample.

        Raises:
            ValueError: for targets of one column.
        """
        train = classified_share(network, data)
        if data.test is None:
            return jnp.stack([train, jnp.full_like(train, jnp.nan)])
        return jnp.stack([train, classified_share(network, data.test)])


class WrongLabelsFitted(AbstractMeasure):
    """Share of the training samples with a wrong label for which f gives that label.

    A label is wrong where argmax y ≠ argmax mean; f gives it where argmax f = argmax y.
    Targets have two columns or more: one-hot, or probabilities.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Between 0 and 1; NaN if no label is wrong."""
        true, label = jnp.argmax(data.mean, axis=1), jnp.argmax(data.y, axis=1)
        weight = jnp.where(true != label, data.weight, 0)
        found = jnp.argmax(outputs(network, data.x), axis=1)
        total = jnp.sum(weight)
        share = jnp.sum(jnp.where(found == label, weight, 0)) / jnp.maximum(total, 1)
        return jnp.where(total > 0, share, jnp.nan)


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
