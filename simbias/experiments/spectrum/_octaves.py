"""How much of labels is learned, octave by octave of their frequencies."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.checks.values import positive_integer
from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs, second_sample

# Waves of the target, k = 1, …: what is above is noise.
COUNT = 3
# Points of the test grid for every one of the sample.
FINER = 4


def check_points(name: str, n: int) -> None:
    """Refuse a number of points with fewer than three octaves, or without Nyquist's.

    Raises:
        ValueError: for a number that is odd or too small.
    """
    positive_integer(name, n)
    least = 4 * (COUNT + 1)
    if n % 2 or n <= least:
        raise BadInput(
            f"`{name}` must be even and above {least}, for three octaves, got {n}."
        )


def octaves(n: int) -> tuple[tuple[int, int], ...]:
    """First and last frequency of every band: 0–3, that of the target, 4–7, 8–15, ….

    The last one ends with n/2, Nyquist's.
    """
    starts = [0]
    while (following := max(COUNT + 1, 2 * starts[-1])) < n // 2:
        starts.append(following)
    return tuple(zip(starts, [s - 1 for s in starts[1:]] + [n // 2], strict=True))


class Bands(AbstractMeasure):
    """Σ Re f̂(k) ŷ(k)* and Σ |ŷ(k)|² over the frequencies of every octave.

    Their ratio is the share of the labels' part in an octave that is learned, noise or
    not: 1 where f = y, and what is in f by chance does not count on average.

    Args:
        points: n, the rows of the training sample, x = i/n; FINER n in the second.
    """

    points: int = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("part", "octave")

    def __check_init__(self):
        check_points("points", self.points)

    def coords(self) -> dict[str, np.ndarray]:
        """What is learned and the whole; octaves by name."""
        names = np.array([f"{low}–{high}" for low, high in octaves(self.points)])
        return {"part": np.array(["learned", "whole"]), "octave": names}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "part octave"]:
        """In units of the mean square of a label.

        Raises:
            ValueError: for a sample of another size, told by its second one, which is
                never padded.
        """
        rows = second_sample(data).x.shape[0]
        if rows != FINER * self.points:
            raise BadInput(
                f"`n` must be `points` of the measure of octaves, {self.points}: the "
                f"test grid has {rows} points and not {FINER} n. Change both: "
                "measures={'bands': Bands(n), …}."
            )
        x, y = data.x[: self.points], data.y[: self.points]
        f, y = (_waves_in(v[:, 0]) for v in (outputs(network, x), y))
        both = jnp.stack([jnp.real(f * jnp.conj(y)), jnp.real(y * jnp.conj(y))])
        bands = octaves(self.points)
        sums = [both[:, low : high + 1].sum(axis=1) for low, high in bands]
        return jnp.stack(sums, axis=1)


def high_share(network: Any, data: Dataset) -> Float[Array, ""]:
    """Share of the mean square of f above the target's frequencies; on the test grid.

    NaN for a network that is 0.
    """
    power = jnp.abs(_waves_in(outputs(network, second_sample(data).x)[:, 0])) ** 2
    total = jnp.sum(power)
    above = jnp.sum(power[COUNT + 1 :])
    return jnp.where(total > 0, above / jnp.where(total > 0, total, 1), jnp.nan)


def _waves_in(values: Float[Array, " n"]) -> Array:
    """Coefficients whose squares add to the mean square of a real function; n even."""
    n = len(values)
    k = np.arange(n // 2 + 1)
    factor = np.sqrt(np.where((k == 0) | (2 * k == n), 1, 2)) / n
    found = jnp.fft.rfft(values)
    return found * jnp.asarray(factor, found.dtype)
