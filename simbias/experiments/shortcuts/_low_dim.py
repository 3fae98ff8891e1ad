"""Networks, panels and claims that the experiments on low-dimensional inputs share."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.claims import farthest_of, largest_of, mean_of
from simbias.core import AbstractNetwork, Buffer, Claim, Real
from simbias.errors import BadInput
from simbias.figures import Curves, Law
from simbias.validation.values import positive, positive_integer

PAPER = "Morwani et al. (2023), arXiv:2302.00457 (?)"
# Directions of P.
RANK = 2
RICH, LAZY = 0.01, 10.0
# What is exchanged, for labels.
MIXED = {"nothing": "x", "inside": "P x′ + P⊥x", "outside": "P x + P⊥x′"}


class Paired(AbstractNetwork):
    """f(x) = (1/λ) Σⱼ aⱼ relu(wⱼ·x), λ not trained."""

    w: Float[Array, "m d"]
    a: Float[Array, " m"]
    scale: Buffer

    has_kinks: ClassVar[bool] = True  # those of ReLU

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        """Output for one input."""
        return (self.a @ jax.nn.relu(self.w @ x) / self.scale.value)[None]


def paired(key: PRNGKeyArray, *, d: int, m: int, scale: Real) -> Paired:
    """Weights of size λ in pairs of opposite sign, so that f = 0.

    Raises:
        ValueError: for a size or a scale that is not positive, an odd m, or inputs of
            which P would leave nothing.
    """
    positive_integer("d", d)
    if d <= RANK:
        raise BadInput(
            f"`d` must be above {RANK}, the directions of P, got {d}: of fewer inputs "
            "nothing is outside of P. Example: d=10."
        )
    positive_integer("m", m)
    positive("scale", scale)
    if m % 2:
        raise BadInput(f"`m` must be even, got {m}: neurons come in pairs.")
    z = jax.random.normal(key, (m // 2, d + 1), jnp.float64)
    size = jnp.asarray(scale, jnp.float64)
    z = size * (2 / (m * d)) ** 0.25 * z
    w, a = z[:, :d], z[:, d]
    both = jnp.concatenate([w, w]), jnp.concatenate([a, -a])
    return Paired(*both, Buffer(size))


def scores(score: str, **options: Any) -> Curves:
    """Final values of `ProjectedScores` against λ, by exchanged part."""

    def at_the_end(part: xr.Dataset) -> xr.DataArray:
        seen = part["scores"].isel(time=-1).sel(score=score)
        # Without an exchange no logit changes; NaN is not drawn.
        is_shown = (score == "accuracy") | (seen["mixed"] != "nothing")
        return seen.where(is_shown)

    kind = Curves(
        at_the_end, colour="mixed", mark="o", first_colour=4, x="scale", xlabel="λ"
    )
    return dataclasses.replace(kind, xscale="log", **options)


CHANCE = Law(0.5, "chance", ":")
SIMPLE = {k: f"all of {k} slabs" for k in (3, 5, 7)} | {2: "a linear coordinate"}
NAMES = {"scale": "λ", "mixed": MIXED, "simple": SIMPLE}
RANKS = Curves("rank", colour="scale", mark="o", xscale="symlog", xlabel="time")


def claims_at(part: xr.Dataset, scale: float, few: int) -> list[Claim]:
    """Claims for a rich or a lazy λ; none for a λ in between.

    Args:
        part: results for one λ: `scores`, of `ProjectedScores`, and `rank`, of W.
        scale: λ.
        few: the largest effective rank of a rich network.
    """
    last, at = part.isel(time=-1), f"λ = {scale:g}"
    score = last["scores"].sel(score="accuracy")
    clean, inside, outside = (score.sel(mixed=k) for k in MIXED)
    if scale <= RICH:
        text = f"{at}: effective rank of W, largest"
        lost = f"{at}: accuracy lost by P x + P⊥x′, farthest from 0"
        moved = f"{at}: change of the logits, P x + P⊥x′"
        change = last["scores"].sel(score="logit_change", mixed="outside")
        rank = PAPER if few == RANK else f"{PAPER}: few; up to {few} ours"
        return [
            largest_of(text, last["rank"], (1, few), rank),
            farthest_of(lost, clean - outside, 0, (-0.02, 0.02), PAPER),
            mean_of(f"{at}: accuracy of P x′ + P⊥x", inside, (0.45, 0.55), PAPER),
            mean_of(moved, change, (0, 0.2), f"{PAPER}; band ours"),
        ]
    if scale >= LAZY:
        ratio = last["rank"] / part["rank"].isel(time=0)
        return [
            mean_of(f"control, {at}: rank over the start", ratio, (0.9, 1.1), PAPER),
            mean_of(f"control, {at}: accuracy of P x′ + P⊥x", inside, (0.6, 1), "ours"),
        ]
    return []
