"""The network and its target, point by point."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs


class OutputsAndTargets(AbstractMeasure):
    """Outputs f(xᵢ) and targets yᵢ at the points of a sample, for one output.

    Args:
        sample: name of one of `data.others`, of which no row is padding.
    """

    sample: str = eqx.field(static=True, default="grid")
    dims: ClassVar[tuple[str, ...]] = ("curve", "point")
    entries: ClassVar = {"curve": ("network", "target")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "curve point"]:
        """In units of the target.

        Raises:
            ValueError: for an unknown sample.
        """
        if self.sample not in data.others:
            raise BadInput(
                f"`sample` must be one of data.others, {list(data.others)}, got "
                f"{self.sample!r}."
            )
        one = data.others[self.sample]
        return jnp.concatenate([outputs(network, one.x), one.y], axis=1).T
