"""A second network that is denied what the first one sees errs elsewhere.

A network of a small start depends on its main directions P alone.  Another one that is
given P⊥x has to learn from all that the first left aside; together they are told less
wrong by noise than two networks that see the same.  The control: the second network is
given x itself, and differs from the first by its start alone.

One coordinate is linear, and noise inside the margin for a tenth of the rows; the
others have five slabs and all tell the class.  The first network is trained while the
sample is drawn, for as long as the second one in the run.

Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457, OrthoP; the law,
sizes and noise are ours.
"""

from typing import Any, ClassVar, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.checks.sample import one_of
from simbias.claims import difference, mean
from simbias.core import (
    AbstractMeasure,
    AbstractNetwork,
    Buffer,
    Claim,
    Dataset,
    Experiment,
    Index,
    Real,
)
from simbias.datasets.shortcuts.slabs import slabs
from simbias.experiments.shortcuts.low_dim_inputs import RANK, RATE, Paired, paired
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import logistic
from simbias.measures._sample import second_sample
from simbias.presets import presets

Given = Literal["P⊥x", "x"]
AXES = ("given",)
PAPER = "Morwani et al. (2023), arXiv:2302.00457 (?)"
STEPS = 1000
# Noise at which the pairs are compared: half the gap between two slabs, and one gap.
COMPARED = (0.1, 0.2)


class Pair(AbstractNetwork):
    """f₂ of P⊥x or of x, which is trained, and f₁, which is not."""

    first: Paired
    second: Paired
    keeps: Buffer

    @property
    def has_kinks(self) -> bool:
        """True: those of ReLU."""
        return True

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        """Output of the second network, the only one that its loss sees."""
        return self.second(self.keeps.value @ x)


def make(
    key: PRNGKeyArray,
    *,
    given: Given = "P⊥x",
    scale: Real = 0.1,
    noise: Real = 0.1,
    n: int = 2000,
    d: int = 10,
    m: int = 100,
    n_test: int = 1000,
    draw: Index = 0,
) -> tuple[Dataset, Pair]:
    """One sample for all members; the first network, trained, and the second's start.

    Args:
        key: random key, of the networks.
        given: what the second network sees, "P⊥x" or "x".
        scale: λ of both networks.
        noise: share of rows whose linear coordinate is noise.
        n: samples.
        d: coordinates.
        m: neurons of each network, even.
        n_test: test samples.
        draw: number of the sample.

    Raises:
        ValueError: for a name that is not known, or a size or number out of range.
    """
    one_of("given", given, get_args(Given))
    data = slabs(jax.random.key(draw), n=n, d=d, noise=noise, n_test=n_test)
    one, two = jax.random.split(key)
    first = _trained(paired(one, d=d, m=m, scale=scale), data)
    main = jnp.linalg.svd(first.w, full_matrices=False)[2][:RANK]
    all_of_x = jnp.eye(d, dtype=jnp.float64)
    keeps = all_of_x if given == "x" else all_of_x - main.T @ main
    return data, Pair(first, paired(two, d=d, m=m, scale=scale), Buffer(keeps))


def _trained(network: Paired, data: Dataset) -> Paired:
    """`STEPS` steps of gradient descent on the whole sample."""

    def loss(weights: tuple[Array, Array]) -> Array:
        out = jax.vmap(Paired(*weights, network.scale))(data.x)
        return logistic(out, data.y, data.weight)

    def step(_: Any, weights: tuple[Array, Array]) -> tuple[Array, Array]:
        return jax.tree.map(lambda v, g: v - RATE * g, weights, jax.grad(loss)(weights))

    w, a = jax.lax.fori_loop(0, STEPS, step, (network.w, network.a))
    return Paired(w, a, network.scale)


class PairScores(AbstractMeasure):
    """Accuracies under Gaussian noise of the inputs, and the errors that are shared.

    The columns are the first network, the second, and the sign of f₁/‖f₁‖ + f₂/‖f₂‖;
    the rows the standard deviation of what is added to every input, one draw for all.
    The last column is the share of the errors of the first that are the second's too;
    NaN if it makes none.
    """

    blurs: tuple[float, ...] = eqx.field(
        static=True, default=(0.0, 0.05, 0.1, 0.2, 0.4)
    )
    dims: ClassVar[tuple[str, ...]] = ("blur", "score")

    def coords(self) -> dict[str, np.ndarray]:
        """Standard deviations, and what is scored."""
        scores = np.array(["first", "second", "pair", "shared"])
        return {"blur": np.array(self.blurs), "score": scores}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "b 4"]:
        """Accuracies, and shared errors, by noise.

        Raises:
            ValueError: without a test sample.
        """
        test = second_sample(data)
        added = jax.random.normal(jax.random.key(0), test.x.shape, jnp.float64)
        added = added.astype(test.x.dtype)
        share = lambda is_so: (
            jnp.sum(jnp.where(is_so, test.weight, 0)) / jnp.sum(test.weight)
        )
        size = lambda f: jnp.maximum(jnp.linalg.norm(f), jnp.finfo(f.dtype).tiny)

        def scores(blur: Float[Array, ""]) -> Float[Array, "4"]:
            x = test.x + blur * added
            one, two = (
                jax.vmap(f)(x)[:, 0] * test.y[:, 0] for f in (network.first, network)
            )
            both = one / size(one) + two / size(two)
            errs = one <= 0
            shared = share(errs & (two <= 0)) / share(errs)
            right = [share(v > 0) for v in (one, two, both)]
            return jnp.stack([*right, jnp.where(errs.any(), shared, jnp.nan)])

        return jax.lax.map(scores, jnp.asarray(self.blurs, test.x.dtype))


experiment = presets(
    Experiment(
        name="low_dim_pair",
        make=make,
        cell={"given": ("P⊥x", "x")},
        seeds=20,
        flow=Descent(rate=RATE),
        loss=logistic,
        times=(0.0, *(STEPS * RATE / 2**k for k in range(4, -1, -1))),
        measures={"scores": PairScores()},
        dtype="float32",
    ),
    smoke={"cell": {"n": 100, "d": 4, "m": 8, "n_test": 100}, "seeds": 6},
    paper={"cell": {"d": 50, "n": 10_000, "m": 1000}, "seeds": 50},
)


def figure(ds: xr.Dataset) -> Figure:
    """Accuracies of both and of the pair against noise; the errors they share."""
    ds = with_axes(ds, AXES)
    last = ds["scores"].isel(time=-1)
    with style():
        whole = blank(12.0, 3.8)
        second, pair, shared = whole.subplots(1, 3)
        pair.sharey(second)
        alone = last.isel(given=0).sel(score="first")
        for axes in (second, pair):
            band(axes, ds["blur"], alone, "o-", colour="0.4", label="first alone")
        for given, colour in zip(ds["given"].values, COLOURS, strict=False):
            part = last.sel(given=given)
            panels = ((second, "second"), (pair, "pair"), (shared, "shared"))
            for axes, score in panels:
                values, text = part.sel(score=score), f"second given {given}"
                band(axes, ds["blur"], values, "o-", colour=colour, label=text)
        second.set_title("test accuracy of the second")
        pair.set_title("of the pair")
        shared.set(title="errors of the first, shared", ylim=(0, 1.03))
        for axes in (second, pair, shared):
            axes.set_xlabel("standard deviation of the noise")
            axes.legend(loc="best")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The second learns, errs elsewhere, and the pair withstands more noise."""
    ds = with_axes(ds, AXES)
    last, found = ds["scores"].isel(time=-1), []
    clean = last.sel(blur=0)
    names = {*ds["given"].values.tolist()}
    if "P⊥x" in names:
        part = clean.sel(given="P⊥x")
        text = "second given P⊥x: test accuracy"
        found.append(mean(text, part.sel(score="second"), 0.95, 1, PAPER))
    if "x" in names:
        text = "control, second given x: errors of the first that it shares"
        shared = clean.sel(given="x", score="shared")
        found.append(mean(text, shared, 0.8, 1, "ours: what both see is the same"))
    if {"P⊥x", "x"} <= names:
        other, same = last.sel(given="P⊥x"), last.sel(given="x")
        text = "errors of the first that are shared, P⊥x − x"
        score = {"blur": 0, "score": "shared"}
        both = other.sel(score), same.sel(score)
        found.append(difference(text, *both, -1, 0, f"{PAPER}: errs elsewhere"))
        for blur in COMPARED:
            text = f"accuracy of the pair under noise {blur:g}, P⊥x − x"
            score = {"blur": blur, "score": "pair"}
            both = other.sel(score), same.sel(score)
            found.append(difference(text, *both, 0, 1, f"{PAPER}: withstands more"))
    late = float(ds["time"][-1]) >= STEPS * RATE and int(ds["n"]) >= 2000
    return [c.given(late, f"t ≥ {STEPS * RATE:g}, n ≥ 2000") for c in found]
