"""The smooth field that is integrated while no activation changes."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import Dataset, Loss, Real
from simbias.flows._relu.norms import norm_of_rows
from simbias.flows._relu.sliding import sliding_normals
from simbias.flows._shared.weight_decay import decayed, traced_decay
from simbias.numerics.planes import Planes, find_planes
from simbias.numerics.precision import matmul
from simbias.numerics.tiling import columns_cut, columns_joined, tiles


class Sample(eqx.Module):
    """Inputs, one coordinate longer with a hidden bias, and their hyperplanes.

    `normal` is the unit normal of a plane in the place of its first row, 0 elsewhere.
    `norm_x` is |x| of every row.
    `is_output_frozen` says that output weights are held fixed: a' = 0.
    `weight_decay` is μ of the flow of L + (μ/2)‖θ‖²; None is 0.
    """

    x: Float[Array, "n e"]
    normal: Float[Array, "n e"]
    norm_x: Float[Array, " n"]
    planes: Planes
    y: Float[Array, "n k"]
    weight: Float[Array, " n"]
    loss: Loss = eqx.field(static=True)
    is_output_frozen: bool = eqx.field(static=True, default=False)
    weight_decay: Float[Array, ""] | None = None

    def is_plane(self) -> Bool[Array, " n"]:
        """Which rows hold the normal of a plane."""
        return jnp.any(self.normal != 0, axis=1)

    def residual(self, prediction: Float[Array, "n k"]) -> Float[Array, "n k"]:
        """Residuals r = ∂L/∂f, the 1/n of the loss included; 0 on padding."""
        return jax.grad(self.loss)(prediction, self.y, self.weight)

    def pulls(self, residual: Float[Array, "n k"]) -> Float[Array, "n k"]:
        """R = Σ |x| r over the samples of each plane, in the place of its first."""
        return self.planes.totals(self.norm_x[:, None] * residual)


class FlowVector(NamedTuple):
    """A velocity (w', a') with the moments M and residuals r that it is made of.

    A state (w, a), or an error of it, has the same form: a Runge–Kutta method adds
    multiples of velocities to it.  Its moments and residuals mean nothing.
    """

    w: Float[Array, "..."]
    a: Float[Array, "..."]
    moment: Float[Array, "..."]
    residual: Float[Array, "..."]


def extended_sample(
    data: Dataset,
    loss: Loss,
    has_bias: bool,
    planes: Planes | None = None,
    is_output_frozen: bool = False,
    weight_decay: Real | None = None,
) -> Sample:
    """The sample as the neurons see it: (x, 1) if they have a bias; padding is 0.

    Args:
        data: the dataset.
        loss: of the flow.
        has_bias: whether the hidden neurons have one.
        planes: those of the same data, if they are known already.
        is_output_frozen: whether output weights are held fixed.
        weight_decay: μ of the flow of L + (μ/2)‖θ‖².
    """
    is_kept = data.weight > 0
    x = data.x
    if has_bias:
        x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
    x = jnp.where(is_kept[:, None], x, 0)
    # Squares that overflow or underflow are taken in other units.
    plain = jnp.sqrt(jnp.sum(x**2, axis=1))
    is_safe = jnp.isfinite(plain) & (plain**2 > jnp.finfo(x.dtype).tiny)
    length = jnp.where(is_safe, plain, norm_of_rows(x))
    is_point = length > 0
    unit = x / jnp.where(is_point, length, 1)[:, None]
    planes = find_planes(unit) if planes is None else planes
    normal = jnp.where(planes.is_first()[:, None], unit, 0)
    decay = traced_decay(weight_decay, x.dtype)
    return Sample(
        x, normal, length, planes, data.y, data.weight, loss, is_output_frozen, decay
    )


class FrozenField(eqx.Module):
    """Field of the flow with the activation pattern held fixed.

        fᵢ = xᵢ·Σⱼ Sⱼᵢ wⱼ aⱼᵀ,  Mⱼ = −Σᵢ Sⱼᵢ rᵢ xᵢᵀ,
        wⱼ' = P Mⱼᵀ aⱼ − μ wⱼ,  aⱼ' = Mⱼ wⱼ − μ aⱼ

    With S given, f needs no m × n array of activations: two products with S are all.
    Neurons and samples are the last axis here: sums over the short axes then run along
    the processor's vectors, which halves the time of an evaluation.

    Attributes:
        pattern: S, 1 where active and the negative slope elsewhere; a sliding neuron
            counts as below.  In tiles of neurons: truth values if there are several
            tiles, which become numbers one at a time, in the cache.
        normals: of planes slid on, see `sliding_normals`.
        dual: their `dual_basis`.
        sample: the data.
        slope: the negative slope.
        group: neurons next to each other that have one row of S.
    """

    pattern: Float[Array, "t c n"] | Bool[Array, "t c n"]
    normals: Float[Array, "p e m"]
    dual: Float[Array, "p e m"]
    sample: Sample
    slope: float = eqx.field(static=True)
    group: int = eqx.field(static=True, default=1)

    def __call__(self, w: Float[Array, "e m"], a: Float[Array, "k m"]) -> "FlowVector":
        """Rates, with neurons last."""
        (e, m), (k, n), x = w.shape, self.sample.y.T.shape, self.sample.x.T
        product = (a[:, None, :] * w[None, :, :]).reshape(k * e, m)
        if self.group > 1:
            product = jnp.sum(product.reshape(k * e, -1, self.group), axis=2)
        summed = self._sum_over_neurons(product).reshape(k, e, n)
        prediction = jnp.sum(summed * x[None, :, :], axis=1)
        residual = self.sample.residual(prediction.T).T
        products = (residual[:, None, :] * x[None, :, :]).reshape(k * e, n)
        moment = -self._sum_over_samples(products, m // self.group)
        if self.group > 1:
            moment = jnp.repeat(moment, self.group, axis=1)
        return rates_under(
            moment.reshape(k, e, m),
            residual,
            w,
            a,
            self.normals,
            self.dual,
            self.sample,
        )

    def _sum_over_neurons(self, values: Float[Array, "q m"]) -> Float[Array, "q n"]:
        count, width, n = self.pattern.shape
        if count == 1:
            return matmul(values, self.pattern[0])
        pieces = columns_cut(values, count, width)
        add = lambda total, tile: (
            total + matmul(tile[0], _factor(tile[1], self.slope, values.dtype)),
            None,
        )
        zero = jnp.zeros((values.shape[0], n), values.dtype)
        return jax.lax.scan(add, zero, (pieces, self.pattern))[0]

    def _sum_over_samples(
        self, values: Float[Array, "q n"], m: int
    ) -> Float[Array, "q m"]:
        if self.pattern.shape[0] == 1:
            return matmul(values, self.pattern[0].T)
        pieces = jax.lax.map(
            lambda tile: matmul(values, _factor(tile, self.slope, values.dtype).T),
            self.pattern,
        )
        return columns_joined(pieces, m)


def rates_under(
    moment: Float[Array, "k e m"],
    residual: Float[Array, "k n"],
    w: Float[Array, "e m"],
    a: Float[Array, "k m"],
    normals: Float[Array, "p e m"],
    dual: Float[Array, "p e m"],
    sample: Sample,
) -> FlowVector:
    """Rates of neurons from their moments: P Mⱼᵀ aⱼ − μ wⱼ and Mⱼ wⱼ − μ aⱼ."""
    drive = jnp.sum(a[:, None, :] * moment, axis=0)
    part = jnp.sum(dual * drive[None, :, :], axis=1)
    along = drive - jnp.sum(part[:, None, :] * normals, axis=0)
    da = output_rates(moment * w[None, :, :], sample.is_output_frozen)
    dw, da = neuron_decay(along, da, w, a, sample)
    return FlowVector(w=dw, a=da, moment=moment, residual=residual)


def neuron_decay(
    dw: Float[Array, "..."],
    da: Float[Array, "..."],
    w: Float[Array, "..."],
    a: Float[Array, "..."],
    sample: Sample,
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Rates of (w, a) with the decay of what is trained: w' − μw, a' − μa.

    It is tangent to every plane w·x = 0 that a neuron is on, and turns no neuron: the
    speeds that decide events do not contain it.
    """
    decay = sample.weight_decay
    dw = decayed(dw, w, decay)
    return dw, da if sample.is_output_frozen else decayed(da, a, decay)


def output_rates(
    products: Float[Array, "*s"], is_frozen: bool, axis: int = 1
) -> Float[Array, "*r"]:
    """aⱼ' = Mⱼ wⱼ from the products of their entries, 0 where a is held fixed."""
    rates = jnp.sum(products, axis=axis)
    return jnp.zeros_like(rates) if is_frozen else rates


def frozen_field(
    is_above: Bool[Array, "g n"],
    slope: float,
    sliding: Int[Array, "m p"],
    dual: Float[Array, "m p e"],
    sample: Sample,
) -> FrozenField:
    """The field on given sides of the planes, with sliding (its planes, their duals).

    A row of sides is that of m/g neurons next to each other.
    """
    (g, n), dtype = is_above.shape, sample.x.dtype
    is_active = is_above ^ sample.planes.is_reversed[None, :]
    count, width = tiles(n, g, dtype.itemsize)
    pattern = jnp.pad(is_active, ((0, count * width - g), (0, 0)))
    pattern = pattern.reshape(count, width, n)
    if count == 1:
        pattern = _factor(pattern, slope, dtype)
    normals = sliding_normals(sample.normal, sliding)
    last = lambda v: jnp.moveaxis(v, 0, -1)
    group = len(sliding) // g
    return FrozenField(pattern, last(normals), last(dual), sample, slope, group)


def _factor(
    is_active: Bool[Array, "*s"], slope: float, dtype: jnp.dtype
) -> Float[Array, "*s"]:
    return jnp.where(is_active, jnp.ones((), dtype), jnp.asarray(slope, dtype))


def neurons_last(rates: FlowVector) -> FlowVector:
    """From the layout of the weights to that of the field."""
    return FlowVector(
        rates.w.T, rates.a.T, jnp.moveaxis(rates.moment, 0, -1), rates.residual.T
    )


def neurons_first(rates: FlowVector) -> FlowVector:
    """From the layout of the field to that of the weights."""
    return FlowVector(
        rates.w.T, rates.a.T, jnp.moveaxis(rates.moment, -1, 0), rates.residual.T
    )
