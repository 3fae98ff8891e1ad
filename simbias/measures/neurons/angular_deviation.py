"""How tightly the neurons gather around the features."""

from typing import Any, ClassVar, Literal, get_args

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.measures._groups import (
    group_vectors,
    memberships,
    nearest,
    signed_features,
)
from simbias.measures._neurons import directions, incoming, mass_shares
from simbias.validation.sample import one_of

Centre = Literal["features", "groups"]


class AngularDeviation(AbstractMeasure):
    """Angle in radians within which the fraction `quantile` of the neurons lies.

    The angle is that of wⱼ with the closest of the features and their opposites, or,
    with centre "groups", with the sum s_g = Σ |aⱼ|wⱼ of the neuron's own group (closest
    signed feature, sign of aⱼ).  Neurons count by their mass |aⱼ|‖wⱼ‖ if
    `is_mass_weighted`, else alike; neurons that are zero do not.  A hidden bias is
    one more coordinate of wⱼ.  One output.

    Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, figure 2 (95 % quantile).
    """

    quantile: float = eqx.field(static=True, default=0.95)
    centre: Centre = eqx.field(static=True, default="features")
    is_mass_weighted: bool = eqx.field(static=True, default=False)
    units: ClassVar[str] = "radian"

    def __check_init__(self):
        one_of("centre", self.centre, get_args(Centre))
        if not 0 < self.quantile <= 1:
            raise BadInput(
                f"`quantile` must lie in (0, 1], got {self.quantile}. "
                "Example: quantile=0.95."
            )

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Angle in [0, π]; NaN for a network of zeros."""
        member = memberships(network, data)
        u = directions(incoming(network))
        if self.centre == "features":
            centres = signed_features(network, data)
            own = centres[jnp.argmax(nearest(network, centres), axis=1)]
        else:
            centres = directions(group_vectors(network, member)[0])
            own = centres[jnp.argmax(member, axis=1)]
        # Not the arc cosine, which loses half the digits at small angles.
        angle = 2 * jnp.arctan2(
            jnp.linalg.norm(u - own, axis=1), jnp.linalg.norm(u + own, axis=1)
        )
        is_counted = jnp.sum(member, axis=1) > 0
        mass = mass_shares(network) if self.is_mass_weighted else jnp.ones_like(angle)
        return _quantile(angle, jnp.where(is_counted, mass, 0), self.quantile)


def _quantile(
    values: Float[Array, " m"], mass: Float[Array, " m"], level: float
) -> Float[Array, ""]:
    """Smallest value below which a share `level` of the mass lies."""
    values = jnp.where(mass > 0, values, jnp.inf)
    order = jnp.argsort(values)
    below = jnp.cumsum(mass[order])
    # Rounding of the sum must not move a quantile of 1 past the last value.
    needed = below[-1] * (level - 1e-12)
    place = jnp.argmax(below >= needed)
    return jnp.where(below[-1] > 0, values[order][place], jnp.nan)
