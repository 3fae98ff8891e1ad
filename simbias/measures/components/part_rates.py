"""How fast the tangent kernel learns each part of a target."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure
from simbias.introspection.tangents import tangent_rates


class PartRates(AbstractMeasure):
    """Rate at which the tangent kernel learns each part of the target.

    For a part v it is vᵀKv/(n vᵀv), K the tangent kernel of now.

    As `KernelRates`, of functions that the sample brings: of one that has `parts`, such
    as `datasets.circle_waves`.
    """

    dims: ClassVar[tuple[str, ...]] = ("part",)

    def __call__(self, network: Any, data: Any) -> Float[Array, " p"]:
        """NaN for a part that the task does not have."""
        return tangent_rates(network, data.x, data.parts)
