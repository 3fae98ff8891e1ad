"""Amplitudes of the frequencies of a network, also with its weights moved."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs
from simbias.introspection.trained_arrays import split_trained
from simbias.numerics import spectrum
from simbias.validation.values import not_negative, positive_integer


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


class PerturbedAmplitudes(AbstractMeasure):
    """Amplitudes of Fourier components after a random perturbation of the weights.

    They are E 2|f̂(k)|/N of the network at θ + r u, u uniform on the unit sphere.

    r = 0 is the network itself.  The directions u are the same at every r, for every
    frequency and every network of one size.

    Args:
        frequencies: k, periods in N points, or None; see `Amplitudes`.
        points: N, the first rows of the sample, or None; see `Amplitudes`.
        radii: r, lengths in the space of all that is trained.
        pairs: how many u; with each goes −u, so that what is linear in θ has a mean
            amplitude of no less than its own.
        sample: name of one of `data.others`, or None; see `Amplitudes`.

    Reference: Rahaman et al. (2019), arXiv:1806.08734, experiment 2.
    """

    frequencies: tuple[int, ...] | None = eqx.field(static=True)
    points: int | None = eqx.field(static=True)
    radii: tuple[float, ...] = eqx.field(static=True)
    pairs: int = eqx.field(static=True, default=25)
    sample: str | None = eqx.field(static=True, default=None)
    dims: ClassVar[tuple[str, ...]] = ("radius", "frequency")

    def __check_init__(self):
        Amplitudes(self.frequencies, self.points, self.sample)
        positive_integer("pairs", self.pairs)
        if not self.radii:
            raise BadInput("`radii` must have one value at least. Example: (0.0, 1.0).")
        for radius in self.radii:
            not_negative("radii", radius)

    def coords(self) -> dict[str, np.ndarray]:
        """Radii, and frequencies where they do not follow the sample."""
        of = Amplitudes(self.frequencies, self.points, self.sample)
        return {"radius": np.asarray(self.radii), **of.coords()}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "radius frequency"]:
        """Mean amplitudes of a network of one output."""
        trained, rest = split_trained(network)
        theta, restored = ravel_pytree(trained)
        measure = Amplitudes(self.frequencies, self.points, self.sample)
        moved = lambda v: measure(eqx.combine(restored(theta + v), rest), data)
        radii = jnp.asarray(self.radii, theta.dtype)

        def along(key):
            u = jax.random.normal(key, theta.shape, theta.dtype)
            u = u / jnp.linalg.norm(u)
            return jax.lax.map(lambda r: moved(r * u) + moved(-r * u), radii)

        keys = jax.random.split(jax.random.key(0), self.pairs)
        total = lambda sum_, key: (sum_ + along(key), None)
        shape = eqx.filter_eval_shape(along, keys[0]).shape
        start = jnp.zeros(shape, data.x.dtype)
        return jax.lax.scan(total, start, keys)[0] / (2 * self.pairs)
