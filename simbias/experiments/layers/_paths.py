"""Loss and error on the line between two networks."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.experiments.layers._digits import CLASSES
from simbias.experiments.layers._matching import (
    Orders,
    in_place,
    matched_by_activations,
    matched_by_weights,
    permuted,
)
from simbias.figures.style import COLOURS
from simbias.introspection.outputs import outputs, second_sample
from simbias.losses import cross_entropy
from simbias.networks.dense.mlp import Mlp

POINTS = np.linspace(0.0, 1.0, 25)
MATCHINGS = ("none", "weights", "activations")
# How claims and figures call them, and their colours there.
NAMES = {
    "none": "as they are",
    "weights": "by weights",
    "activations": "by activations",
}
TINTS: dict[str, str] = dict(zip(MATCHINGS, COLOURS[:3], strict=True))
SAMPLES = ("train", "test")
QUANTITIES = ("loss", "error")


def barrier(path: xr.DataArray) -> xr.DataArray:
    """Height of the barrier, max over α of L(α) − (1 − α) L(0) − α L(1), 0 or more.

    Over 25 points.  Of the error it is the instability of Frankle et al., where both
    ends err alike.

    Reference: Entezari, Sedghi, Saukh & Neyshabur (2022), arXiv:2110.06296, equation 1.
    """
    alpha = path["alpha"]
    ends = (1 - alpha) * path.isel(alpha=0) + alpha * path.isel(alpha=-1)
    return (path - ends).max("alpha", skipna=False)


class Path(AbstractMeasure):
    """Cross-entropy and error of (1 − α) θ + α π(θ'), for every way to find π.

    θ is the first of several networks side by side, θ' the one of number `other`; the
    labels are the first's.  Permutations are found in double precision where it is on,
    activations on the training sample.
    """

    dims: ClassVar[tuple[str, ...]] = ("matching", "sample", "quantity", "alpha")
    other: int = 1
    matchings: tuple[str, ...] = MATCHINGS

    def __call__(
        self, network: Any, data: Dataset
    ) -> Float[Array, "matching 2 2 alpha"]:
        """Loss in nats and share of errors, from the first network (α = 0) on."""
        one, two = network.networks[0], network.networks[self.other]
        found = _orders(one, two, data, self.matchings)
        ends = [permuted(two, found[name]) for name in self.matchings]
        others = jax.tree.map(lambda *v: jnp.stack(v), *ends)
        samples = (data, second_sample(data))

        def at(alpha: Float[Array, ""]) -> Float[Array, "matching 2 2"]:
            alpha = alpha.astype(one.weights[0].dtype)
            between = jax.tree.map(
                lambda a, b: (1 - alpha) * a[None] + alpha * b, one, others
            )
            rows = [jax.lax.map(lambda f, s=s: _loss(f, s), between) for s in samples]
            return jnp.stack(rows, axis=1)

        return jnp.moveaxis(jax.lax.map(at, jnp.asarray(POINTS)), 0, -1)

    def coords(self) -> dict[str, np.ndarray]:
        """How permuted, on which sample, what, and α."""
        return {
            "matching": np.array(self.matchings),
            "sample": np.array(SAMPLES),
            "quantity": np.array(QUANTITIES),
            "alpha": POINTS,
        }


def _orders(
    one: Mlp, two: Mlp, data: Dataset, matchings: tuple[str, ...]
) -> dict[str, Orders]:
    one, two = _double(one), _double(two)
    dtype = one.weights[0].dtype
    found = {}
    for name in matchings:
        if name == "weights":
            found[name] = matched_by_weights(one, two)
        elif name == "activations":
            x, weight = data.x.astype(dtype), data.weight.astype(dtype)
            found[name] = matched_by_activations(one, two, x, weight)
        else:
            found[name] = in_place(two)
    return found


def _double(network: Mlp) -> Mlp:
    return jax.tree.map(lambda v: v.astype(jnp.result_type(float)), network)


def _loss(network: Mlp, some: Dataset) -> Float[Array, "2"]:
    out, y = outputs(network, some.x), some.y[:, :CLASSES]
    is_wrong = jnp.argmax(out, axis=1) != jnp.argmax(y, axis=1)
    wrong = jnp.sum(jnp.where(is_wrong, some.weight, 0)) / jnp.sum(some.weight)
    return jnp.stack([cross_entropy(out, y, some.weight), wrong])
