"""Which frequencies a network has on the way from one input to another."""

from typing import Any, ClassVar, Literal, get_args

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs, second_sample
from simbias.numerics import spectrum
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Kind = Literal["all", "within", "between"]
Sample = Literal["test", "train"]


class PathSpectrum(AbstractMeasure):
    """Spectrum of the network along straight paths between samples.

    R_q = ln(A_q/Σ A), A_q = (1/K) Σ_c E |f̃_c(q)|².

    f̃_c(q) = Σₙ f_c(xₙ) e^{−2πiqn/N} for x_n = x + (n/N)(x′ − x), n = 0, …, N − 1, and
    E is over pairs (x, x′) of a sample.  q = 1, …, N/2: the mean of a path,
    q = 0, is left out, and a constant added to an output changes nothing.  With
    `has_mean` q = 0, …, N/2, and Σ A is over all N frequencies of the transform, where
    q and N − q are equal: the R of the whole spectrum.

    A path does not close: where f(x) ≠ f(x′) the jump alone gives A_q ∝ q⁻², as between
    classes.  With `is_closed` every path is run there and back, 2N points, so that
    nothing jumps; q then counts periods there and back, up to N.

    Args:
        points: N.
        pairs: how many, the first that are of the kind; fewer if there are fewer.
        kind: "within" a class, "between" two, or "all".
        is_closed: run every path there and back.
        is_relative: False gives A_q.
        sample: "test" or "train": its inputs are the ends, its labels tell the kinds.
        has_mean: the mean of a path, q = 0, is a part of the spectrum.

    Reference: Fridovich-Keil, Gontijo-Lopes & Roelofs (2022), arXiv:2110.02424.
    """

    points: int = eqx.field(static=True, default=64)
    pairs: int = eqx.field(static=True, default=50)
    kind: str = eqx.field(static=True, default="all")
    is_closed: bool = eqx.field(static=True, default=False)
    is_relative: bool = eqx.field(static=True, default=True)
    sample: str = eqx.field(static=True, default="test")
    has_mean: bool = eqx.field(static=True, default=False)
    dims: ClassVar[tuple[str, ...]] = ("path_frequency",)

    def __check_init__(self):
        positive_integer("pairs", self.pairs)
        one_of("kind", self.kind, get_args(Kind))
        one_of("sample", self.sample, get_args(Sample))
        if not isinstance(self.points, int) or self.points < 2:
            raise BadInput(
                f"`points` must be at least 2, got {self.points!r}. Example: points=64."
            )

    def coords(self) -> dict[str, np.ndarray]:
        """Frequencies, in periods per path, or per way there and back."""
        count = self.points if self.is_closed else self.points // 2
        return {"path_frequency": np.arange(0 if self.has_mean else 1, count + 1)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " q"]:
        """Logarithms of shares, or powers; NaN without a pair of the kind.

        Raises:
            ValueError: if the data have no test sample, and one is asked for.
        """
        sample = data if self.sample == "train" else second_sample(data)
        starts, ends, is_pair = self._chosen(sample)
        steps = np.arange(self.points) / self.points
        if self.is_closed:
            steps = np.concatenate([steps, 1 - steps])
        t = jnp.asarray(steps, sample.x.dtype)[:, None, None]
        x = (1 - t) * starts[None, :, :] + t * ends[None, :, :]
        values = outputs(network, x.reshape(-1, x.shape[2]))
        values = values.reshape(*x.shape[:2], -1)
        # A mean over those that are pairs.
        count = jnp.sum(is_pair.astype(values.dtype))
        share = jnp.where(count > 0, is_pair.shape[0] / jnp.maximum(count, 1), jnp.nan)
        kept = jnp.where(is_pair[None, :, None], values, 0)
        powers = share * spectrum.path_powers(kept, self.has_mean)
        if not self.is_relative:
            return powers
        q = self.coords()["path_frequency"]
        count = spectrum.times_counted(q, len(steps)) if self.has_mean else 1
        return spectrum.power_shares(powers, count)

    def _chosen(
        self, sample: Dataset
    ) -> tuple[Float[Array, "p d"], Float[Array, "p d"], Bool[Array, " p"]]:
        """Starts and ends of the first pairs of the kind; what is none comes last."""
        n, one = sample.x.shape[0], sample.y.shape[1] == 1
        if n < 2:
            raise BadInput(f"`PathSpectrum` needs two {self.sample} samples, got one.")
        label = sample.y[:, 0] > 0 if one else jnp.argmax(sample.y, axis=1)
        # Row i with row i + s: all s, until there are some for every kind.
        shifts = min(n - 1, max(1, -(-4 * self.pairs // n)) + 8)
        first = jnp.tile(jnp.arange(n), shifts)
        second = (first + jnp.repeat(jnp.arange(1, shifts + 1), n)) % n
        is_pair = (sample.weight[first] > 0) & (sample.weight[second] > 0)
        is_same = label[first] == label[second]
        if self.kind != "all":
            is_pair = is_pair & (is_same if self.kind == "within" else ~is_same)
        order = jnp.argsort(~is_pair)[: self.pairs]
        return sample.x[first[order]], sample.x[second[order]], is_pair[order]
