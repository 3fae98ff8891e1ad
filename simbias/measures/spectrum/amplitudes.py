"""How much of each frequency is in a network along a grid."""

from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs
from simbias.numerics import spectrum
from simbias.validation.values import positive_integer


class Amplitudes(AbstractMeasure):
    """Amplitudes of the network's Fourier components at given frequencies.

    They are 2|f̂(k)|/N, f̂(k) = Σ f(xₙ) e^{−2πikn/N}.

    x₀, …, x_{N−1} are the first N rows of the sample: a grid, such as n/N, or points of
    a closed curve in the order in which it is run through.  A target A sin(2πkx + φ)
    has the amplitude A; at k = 0 and N/2 it is |f̂(k)|/N.

    Args:
        frequencies: k, periods in N points; None is all of them, 0, …, N/2.
        points: N; None is all rows of `sample`, so that N follows its size.
        sample: name of one of `data.others` that holds the grid; None is the training
            sample itself.

    Where `frequencies` and `points` are None the axis has no coordinates: N is that of
    the sample, and the place of a value is its k.

    Reference: Rahaman et al. (2019), arXiv:1806.08734, section 3.
    """

    frequencies: tuple[int, ...] | None = eqx.field(static=True)
    points: int | None = eqx.field(static=True)
    sample: str | None = eqx.field(static=True, default=None)
    dims: ClassVar[tuple[str, ...]] = ("frequency",)

    def __check_init__(self):
        if self.points is not None:
            positive_integer("points", self.points)
            if self.frequencies is not None:
                spectrum.check_frequencies(self.frequencies, self.points)
        elif self.sample is None:
            raise BadInput(
                "`points` can be None for a `sample` that is named: rows of the "
                "training sample may be padding. Example: points=100."
            )

    def coords(self) -> dict[str, np.ndarray]:
        """The frequencies, where they do not follow the sample."""
        if self.frequencies is not None:
            return {"frequency": np.asarray(self.frequencies)}
        if self.points is not None:
            return {"frequency": np.arange(self.points // 2 + 1)}
        return {}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " frequency"]:
        """Amplitudes of a network of one output.

        Raises:
            ValueError: for fewer rows than points, or than the frequencies need, an
                unknown sample, or more outputs.
        """
        if self.sample is not None:
            if self.sample not in data.others:
                raise BadInput(
                    f"`sample` must be one of data.others, {list(data.others)}, got "
                    f"{self.sample!r}."
                )
            data = data.others[self.sample]
        rows = data.x.shape[0]
        points = rows if self.points is None else self.points
        if rows < points:
            raise BadInput(
                f"`points` must be at most the rows of the sample, {rows}, got "
                f"{points}."
            )
        values = outputs(network, data.x[:points])
        if values.shape[1] != 1:
            raise BadInput(f"Amplitudes needs one output, got {values.shape[1]}.")
        return spectrum.amplitudes(values[:, 0], self.frequencies)
