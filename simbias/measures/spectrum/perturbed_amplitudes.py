"""What is left of each frequency when the weights are moved in a random direction."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.trained_arrays import split_trained
from simbias.measures.spectrum.amplitudes import Amplitudes
from simbias.validation.values import not_negative, positive_integer


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
