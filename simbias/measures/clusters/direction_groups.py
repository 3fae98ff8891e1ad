"""Where the neurons went: their sums by direction and sign."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._groups import group_vectors, memberships


class DirectionGroups(AbstractMeasure):
    """Weighted sum of the neurons of every group, s_g = Σ_{j∈g} |aⱼ|wⱼ.

    Groups: the feature of the data, or its opposite, that is closest to wⱼ, and the
    sign of aⱼ; the 2p groups with aⱼ > 0 come first, +features before −features.  The
    direction of s_g is where the group points, and ‖s_g‖ over the sum of all is its
    share once it has condensed.  A hidden bias is one more coordinate.  One output.

    Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, section 5.
    """

    dims: ClassVar[tuple[str, ...]] = ("direction_group", "input")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "g e"]:
        """One row per group, zeros for an empty one."""
        sums, size = group_vectors(network, memberships(network, data))
        return sums * jnp.where(size > 0, size, 0)
