"""How much of labels is learned, octave by octave of their frequencies."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs, second_sample
from simbias.numerics.spectrum import check_octaves, coefficients, octaves


class OctaveBands(AbstractMeasure):
    """Correlation of network and target in every octave of frequencies.

    It holds Σ Re f̂(k) ŷ(k)* and Σ |ŷ(k)|² over the frequencies of the octave.

    Their ratio is the share of the labels' part in an octave that is learned, noise or
    not.  It is 1 where f = y; parts of f that agree with y by chance are 0 on average.

    Args:
        points: n, the rows of the training sample, x = i/n, i = 0, …, n − 1.
        waves: frequencies of the target; the first octave is 0, …, waves.
        finer: the test sample has so many points for each of the training sample.

    Reference: Rahaman et al. (2019), arXiv:1806.08734, on noise that is learned late.
    """

    points: int = eqx.field(static=True)
    waves: int = eqx.field(static=True, default=3)
    finer: int = eqx.field(static=True, default=4)
    dims: ClassVar[tuple[str, ...]] = ("part", "octave")

    def __check_init__(self):
        check_octaves("points", self.points, self.waves)

    def coords(self) -> dict[str, np.ndarray]:
        """Learned and whole; octaves as "4–7"."""
        bands = octaves(self.points, self.waves)
        names = np.array([f"{low}–{high}" for low, high in bands])
        return {"part": np.array(["learned", "whole"]), "octave": names}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "part octave"]:
        """In units of the mean square of a label.

        Raises:
            ValueError: for a sample of another size.  Its second sample shows the size,
                as that is never padded.
        """
        rows = second_sample(data).x.shape[0]
        if rows != self.finer * self.points:
            raise BadInput(
                f"`n` must be `points` of the measure of octaves, {self.points}: the "
                f"test grid has {rows} points and not {self.finer} n. Change both: "
                "measures={'bands': OctaveBands(n), …}."
            )
        x, y = data.x[: self.points], data.y[: self.points]
        f, y = (coefficients(v[:, 0]) for v in (outputs(network, x), y))
        both = jnp.stack([jnp.real(f * jnp.conj(y)), jnp.real(y * jnp.conj(y))])
        bands = octaves(self.points, self.waves)
        sums = [both[:, low : high + 1].sum(axis=1) for low, high in bands]
        return jnp.stack(sums, axis=1)
