"""Gradient of the parity: it depends on the parity only for 2⁻ᵈ of its square.

For fixed weights w, let g = ∂f/∂w and D_I = ∂/∂w E(f − χ_I)².  Over a uniform subset I,

    Var_I D_I = 4 (E g²/2ᵈ − g(1)²/4ᵈ),   x = 1 the point without a −1,

exactly.  The reason: E_I (E_x g χ_I)² = E g²/2ᵈ (Parseval), and E_I χ_I(x) is 1 at
x = 1 and 0 elsewhere.  The lecture states the lemma with both means inside the square,
(E_x E_I g χ_I)² ≤ E g²/2ᵈ.  This is true but weaker; the proof needs the equality.
Here the Walsh–Hadamard transform enumerates all 2ᵈ points and all 2ᵈ subsets.

No function of fewer than |I| bits correlates with χ_I; the majority of the same bits
correlates with each of them.  Control: over single bits the gradient varies.

Reference: Shalev-Shwartz, Shamir & Shammah (2017), arXiv:1703.07950, theorem 1 and
section 2.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import mean_of
from simbias.core import AbstractMeasure, AbstractNetwork, Claim, Dataset, Experiment
from simbias.datasets.boolean.parity import ParityRows, parity
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments.boolean._learning_times import slopes_of_seeds
from simbias.experiments.boolean._published_start import published_start
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent
from simbias.introspection.trained_arrays import split_trained
from simbias.losses import mse
from simbias.numerics.tiling import ROWS
from simbias.numerics.walsh_hadamard import MOST_BITS, cube, walsh_coefficients

PAPER = "Shalev-Shwartz, Shamir & Shammah (2017), arXiv:1703.07950"
# What the figure and the claims read.
AXES = ("d",)
FACTS = ("variance", "bound", "single")
CORRELATIONS = ("own", "fewer_bits", "majority")


class GradientOverParities(AbstractMeasure):
    """Statistics of D_I over all subsets I, for `count` weights across the network.

    The sample must be all of `cube(d)`.  They are: `variance` of D_I; `bound`, E g²/2ᵈ;
    `single`, the variance of D_I over the d subsets of one bit.
    """

    count: int = 16
    dims: ClassVar[tuple[str, ...]] = ("weight", "fact")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "w 3"]:
        """Facts of each weight."""
        params, rest = split_trained(network)
        flat, unravel = jax.flatten_util.ravel_pytree(params)
        chosen = np.linspace(0, flat.size - 1, self.count).round().astype(int)

        def one(x: Float[Array, " d"]) -> tuple[Array, Array]:
            value = lambda flat: eqx.combine(unravel(flat), rest)(x)[0]
            f, gradient = jax.value_and_grad(value)(flat)
            return f, gradient[chosen]

        f, g = jax.lax.map(one, data.x, batch_size=ROWS // 4)
        points, d = data.x.shape
        correlations = walsh_coefficients(g)
        same = jnp.mean(f[:, None] * g, axis=0, keepdims=True)
        derivative = 2 * same - 2 * correlations
        energy = jnp.mean(g**2, axis=0)
        single = derivative[2 ** np.arange(d)]
        facts = (  # as in FACTS
            jnp.var(derivative, axis=0),
            energy / points,
            jnp.var(single, axis=0),
        )
        return jnp.stack(facts, axis=1)

    def coords(self) -> dict[str, np.ndarray]:
        """Names of the facts."""
        return {"fact": np.array(FACTS)}


class Correlations(AbstractMeasure):
    """Correlation of the labels with χ_I, and the largest with a parity of fewer bits.

    `majority` is the smallest correlation of the majority of the bits of I (for even
    |I|, of all but the last) with one of these bits: C(k−1, (k−1)/2)/2^{k−1}.
    """

    dims: ClassVar[tuple[str, ...]] = ("correlation",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " 3"]:
        """By name; the sample must be all of `cube(d)`."""
        del network
        subset = data.features[0]
        d, size = subset.shape[0], jnp.sum(subset)
        bits = jnp.asarray(cube(d) < 0, subset.dtype)
        place = jnp.sum(subset * 2.0 ** jnp.arange(d, dtype=subset.dtype)).astype(
            jnp.int32
        )
        labels = walsh_coefficients(data.y[:, 0])
        has_fewer = jnp.sum(bits, axis=1) < size
        fewer = jnp.max(jnp.where(has_fewer, jnp.abs(labels), 0))
        count = jnp.cumsum(subset) * subset
        odd = jnp.where((count > 0) & (count <= size - 1 + size % 2), 1.0, 0.0)
        votes = walsh_coefficients(jnp.sign(data.x @ odd))[2 ** np.arange(d)]
        least = jnp.min(jnp.where(odd > 0, votes, jnp.inf))
        return jnp.stack([labels[place], fewer, least])

    def coords(self) -> dict[str, np.ndarray]:
        """Names of the entries."""
        return {"correlation": np.array(CORRELATIONS)}


def make(key: PRNGKeyArray, *, d: int = 10) -> tuple[Dataset, AbstractNetwork]:
    """All points of the cube, the parity of ⌈d/2⌉ bits, and a network of 10d ReLUs.

    Raises:
        ValueError: for d < 3, where the cube has fewer points than the smallest sample,
            or d > 14.
    """
    if isinstance(d, int) and d < 3:
        raise BadInput(f"`d` must be from 3 to {MOST_BITS}, got {d}. Example: d=10.")
    key_data, key_network = jax.random.split(key)
    x = jnp.asarray(cube(d), jnp.float64)
    subset = parity(key_data, n=1, d=d, k=(d + 1) // 2).features
    y = ParityRows(subset[0] > 0).label(x)
    whole = Dataset(x, y, jnp.ones(len(x), jnp.float64), y, subset)
    return whole, published_start(key_network, (d, 10 * d, 1))


experiment = presets(
    Experiment(
        name="parity_gradient",
        make=make,
        cell={"d": (4, 6, 8, 10, 12, 14)},
        seeds=20,
        flow=Descent(rate=0.01),
        loss=mse,
        times=(0.0,),
        measures={"gradient": GradientOverParities(), "correlations": Correlations()},
    ),
    smoke={"cell": {"d": (4, 8)}, "seeds": 6},
    paper={"seeds": 100},
)


def figure(ds: xr.Dataset) -> Figure:
    """Var D_I/E g² against d for every seed, also over single bits; correlations."""
    d = ds["d"].values
    total = ds["gradient"].isel(time=0).sum("weight")
    energy = total.sel(fact="bound") * 2.0 ** ds["d"]
    with style():
        whole = blank(9.6, 3.8)
        left, right = whole.subplots(1, 2)
        for fact, colour, label in (
            ("single", COLOURS[1], "I of one bit (control)"),
            ("variance", COLOURS[0], "all I"),
        ):
            seen = (total.sel(fact=fact) / energy).transpose("d", "seed")
            lines = left.plot(d, seen, "o", ms=3.5, color=colour)
            lines[0].set_label(label)
        left.plot(d, 4 * 2.0**-d, "k:", lw=1, label="4 · 2⁻ᵈ")
        left.set_yscale("log")
        left.set_ylim(top=1)
        left.set_xlabel("bits, d")
        left.set_title("Var of the gradient over I, over E g²")
        left.legend(loc="lower left")
        part = ds["correlations"].isel(time=0).mean("seed")
        for name, colour, label in (
            ("own", COLOURS[0], "labels, with χ_I"),
            ("majority", COLOURS[1], "majority (control), with one bit"),
            ("fewer_bits", COLOURS[2], "labels, with any of fewer bits"),
        ):
            seen = part.sel(correlation=name)
            right.plot(d, seen, "-o", ms=4, color=colour, label=label)
        right.set_ylim(-0.05, 1.6)
        right.set_yticks(np.linspace(0, 1, 5))
        right.set_xlabel("bits, d; |I| = d/2")
        right.set_title("correlations")
        right.legend(loc="upper right")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The variance falls like 2⁻ᵈ; over single bits it does not."""
    facts = ds["gradient"].isel(time=0)
    variance, bound, single = (facts.sel(fact=name) for name in FACTS)
    energy = bound.sum("weight") * 2.0 ** ds["d"]
    d = ds["d"].values
    has_slope = len(d) > 1
    slopes, of_single = (
        slopes_of_seeds(d, seen.sum("weight") / energy, "d") if has_slope else []
        for seen in (variance, single)
    )
    slope = "slope of ln(Var/E g²) in d (−ln 2 = −0.6931)"
    return [
        mean_of(slope, slopes, (-0.7131, -0.6731), f"{PAPER}; ± 0.02 ours").given(
            has_slope, "two sizes d"
        ),
        mean_of(
            "control, I of one bit: slope of ln(Var/E g²) in d",
            of_single,
            (-0.3466, np.inf),
            "−½ ln 2, ours",
        ).given(has_slope, "two sizes d"),
    ]
