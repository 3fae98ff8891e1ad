"""A network, and second networks, one of which is trained without its directions."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.claims import difference_of, mean_of
from simbias.core import AbstractNetwork, Buffer, Claim, Dataset, Real
from simbias.experiments.shortcuts._low_dim import PAPER, RANK, Paired, paired
from simbias.figures import Curves
from simbias.introspection.outputs import second_sample
from simbias.losses import logistic

GIVEN = ("P⊥x", "x")
# Of the first network, and of the second ones in a run.
STEPS = 1000


class Pairs(AbstractNetwork):
    """f₂ on P⊥x and on x, both trained from one initialisation, and f₁, not trained.

    `main` holds orthonormal rows, the directions of P.
    """

    first: Paired
    rest: Paired
    same: Paired
    main: Buffer

    has_kinks: ClassVar[bool] = True  # those of ReLU

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 2"]:
        """Outputs of the second networks, which are all that their loss sees."""
        main = self.main.value
        return jnp.concatenate([self.rest(x - main.T @ (main @ x)), self.same(x)])


def pairs_on(
    data: Dataset, key: PRNGKeyArray, *, m: int, scale: Real, rate: float
) -> tuple[Dataset, Pairs]:
    """The sample with its labels twice; the first network is already trained.

    Args:
        data: with labels ±1, and a test sample.
        key: random key of the networks.
        m: neurons of each network, even.
        scale: λ of all networks.
        rate: learning rate of the `STEPS` steps of the first network.

    Raises:
        ValueError: for a size or number out of range, or without a test sample.
    """
    one, two = jax.random.split(key)
    d, test = data.x.shape[1], second_sample(data)
    first = _trained(paired(one, d=d, m=m, scale=scale), data, rate)
    second = paired(two, d=d, m=m, scale=scale)
    main = jnp.linalg.svd(first.w, full_matrices=False)[2][:RANK]
    twice = {"y": jnp.tile(data.y, (1, 2)), "mean": jnp.tile(data.mean, (1, 2))}
    beside = {"y": jnp.tile(test.y, (1, 2)), "mean": jnp.tile(test.mean, (1, 2))}
    test = dataclasses.replace(test, **beside)
    data = dataclasses.replace(data, **twice, test=test)
    return data, Pairs(first, second, second, Buffer(main))


def _trained(network: Paired, data: Dataset, rate: float) -> Paired:
    """`STEPS` steps of gradient descent on the whole sample."""

    def loss(weights: tuple[Array, Array]) -> Array:
        out = jax.vmap(Paired(*weights, network.scale))(data.x)
        return logistic(out, data.y, data.weight)

    def step(_: Any, weights: tuple[Array, Array]) -> tuple[Array, Array]:
        return jax.tree.map(lambda v, g: v - rate * g, weights, jax.grad(loss)(weights))

    w, a = jax.lax.fori_loop(0, STEPS, step, (network.w, network.a))
    return Paired(w, a, network.scale)


def pair_scores(told: str, **options: Any) -> Curves:
    """`PairScores` against noise, and the accuracy of the first network."""

    def values(part: xr.Dataset) -> xr.DataArray:
        seen = part["pairs"].sel(told=told, drop=True)
        seen = seen.assign_coords(given=[f"second given {k}" for k in GIVEN])
        if told == "shared":
            return seen
        alone = part["pairs"].sel(told="first", given=["x"], drop=True)
        alone = alone.assign_coords(given=["first alone"])
        return xr.concat([seen, alone], "given")

    text = "standard deviation of the noise"
    kind = Curves(values, colour="given", mark="o", x="blur", xlabel=text)
    return dataclasses.replace(kind, **options)


def claims_of_pairs(last: xr.DataArray, compared: tuple[float, ...]) -> list[Claim]:
    """Claims on the final `PairScores`.

    Args:
        last: the scores, of one cell.
        compared: the noises at which pairs are.
    """
    at = lambda given, told, blur=0.0: last.sel(given=given, told=told, blur=blur)
    rest, same = (at(given, "shared") for given in GIVEN)
    control = "control, second given x: errors of the first that it shares"
    shared = "errors of the first that are shared, P⊥x − x"
    found = [
        mean_of(
            "second given P⊥x: test accuracy", at("P⊥x", "second"), (0.95, 1), PAPER
        ),
        mean_of(control, same, (0.8, 1), "ours: what both see is the same"),
        difference_of(shared, rest, same, (-1, 0), f"{PAPER}: errs elsewhere"),
    ]
    for blur in compared:
        text = f"accuracy of the pair under noise {blur:g}, P⊥x − x"
        rest, same = (at(given, "pair", blur) for given in GIVEN)
        found.append(
            difference_of(text, rest, same, (0, 1), f"{PAPER}: withstands more")
        )
    return found
