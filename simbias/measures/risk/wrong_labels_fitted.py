"""Share of the wrong training labels that a classifier gives back."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs


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
