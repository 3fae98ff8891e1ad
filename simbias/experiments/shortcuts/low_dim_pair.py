"""Diverse pairs: a second network without the directions of the first errs elsewhere.

A network of a small start depends on its main directions P alone.  Another one that is
given P⊥x has to learn from all that the first left aside; together they are wrong more
rarely, under noise too, than two networks that see the same.  The control: the second
network, from the same start, is given x itself.

One coordinate is linear, and noise inside the margin for a tenth of the rows; the
others have five slabs and all tell the class.  The first network is trained while the
sample is drawn, for as long as the second ones in the run.

Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457, OrthoP; the law,
sizes and noise are ours.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.claims import Claims, difference_of, mean_of
from simbias.core import (
    AbstractNetwork,
    Buffer,
    Claim,
    Dataset,
    Experiment,
    Real,
)
from simbias.datasets import slabs
from simbias.experiment_presets import presets
from simbias.experiments.shortcuts.low_dim_inputs import RANK, RATE, Paired, paired
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.introspection.outputs import second_sample
from simbias.losses import logistic
from simbias.measures import PairScores

AXES: tuple[str, ...] = ()
GIVEN = ("P⊥x", "x")
PAPER = "Morwani et al. (2023), arXiv:2302.00457 (?)"
STEPS = 1000
# Noise at which the pairs are compared: half the gap between two slabs, and one gap.
COMPARED = (0.1, 0.2)


class Pairs(AbstractNetwork):
    """f₂ of P⊥x and of x, which are trained from one start, and f₁, which is not.

    `main` holds orthonormal rows, the directions of P.
    """

    first: Paired
    rest: Paired
    same: Paired
    main: Buffer

    @property
    def has_kinks(self) -> bool:
        """True: those of ReLU."""
        return True

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 2"]:
        """Outputs of the second networks, which are all that their loss sees."""
        main = self.main.value
        return jnp.concatenate([self.rest(x - main.T @ (main @ x)), self.same(x)])


def make(
    key: PRNGKeyArray,
    *,
    scale: Real = 0.1,
    noise: Real = 0.1,
    n: int = 2000,
    d: int = 10,
    m: int = 100,
    n_test: int = 1000,
) -> tuple[Dataset, Pairs]:
    """A sample, its labels twice; the first network is trained.

    Args:
        key: of the sample and of the networks.
        scale: λ of all networks.
        noise: share of rows whose linear coordinate is noise.
        n: samples.
        d: coordinates, 3 or more: two are the directions of P.
        m: neurons of each network, even.
        n_test: test samples.

    Raises:
        ValueError: for a size or number out of range.
    """
    key_data, key_networks = jax.random.split(key)
    data = slabs(key_data, n=n, d=d, noise=noise, n_test=n_test)
    return pairs_on(data, key_networks, m=m, scale=scale, rate=RATE)


def pairs_on(
    data: Dataset, key: PRNGKeyArray, *, m: int, scale: Real, rate: float
) -> tuple[Dataset, Pairs]:
    """The sample with its labels twice, and networks of which the first is trained.

    Args:
        data: with labels ±1, and a test sample.
        key: of the networks.
        m: neurons of each network, even.
        scale: λ of all networks.
        rate: of the `STEPS` steps that the first network makes.

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


experiment = presets(
    Experiment(
        name="low_dim_pair",
        make=make,
        cell={"scale": 0.1},
        seeds=20,
        shared=("scale",),
        flow=Descent(rate=RATE),
        loss=logistic,
        times=(0.0, *(STEPS * RATE / 2**k for k in range(4, -1, -1))),
        measures={"scores": PairScores(GIVEN)},
        dtype="float32",
    ),
    smoke={"cell": {"n": 100, "d": 4, "m": 8, "n_test": 100}, "seeds": 6},
    paper={"cell": {"d": 50, "n": 10_000, "m": 1000}, "seeds": 50},
)


def pair_scores(told: str, **options: Any) -> Curves:
    """Of `PairScores` against noise, beside the accuracy of the first network."""

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


figure = Panels(
    pair_scores("second", title="test accuracy of the second"),
    pair_scores("pair", title="test accuracy of the pair"),
    pair_scores("shared", title="errors of the first, shared", ylim=(0, 1.03)),
    of=lambda ds: ds.assign(pairs=ds["scores"].isel(time=-1)),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The second learns, errs elsewhere, and the pair withstands more noise."""
    late = float(ds["time"][-1]) >= STEPS * RATE and int(ds["n"]) >= 2000
    found = claims_of_pairs(ds["scores"].isel(time=-1), COMPARED)
    return Claims(needs={f"t ≥ {STEPS * RATE:g}, n ≥ 2000": late}).rows(*found)


def claims_of_pairs(last: xr.DataArray, compared: tuple[float, ...]) -> list[Claim]:
    """What `PairScores` say at the end.

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
