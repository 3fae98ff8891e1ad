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

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.slope_along import slope_along
from simbias.claims import Claims, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.datasets.boolean.parity import ParityRows, parity
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments.boolean._published_start import published_start
from simbias.figures import Curves, Law, Panels, Points
from simbias.flows import Descent
from simbias.losses import mse
from simbias.measures import GradientOverParities, ParityCorrelations
from simbias.numerics.walsh_hadamard import MOST_BITS, cube

PAPER = "Shalev-Shwartz, Shamir & Shammah (2017), arXiv:1703.07950"
AXES = ("d",)


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
        measures={
            "gradient": GradientOverParities(),
            "correlations": ParityCorrelations(),
        },
    ),
    smoke={"cell": {"d": (4, 8)}, "seeds": 6},
    paper={"seeds": 100},
)


def relative(ds: xr.Dataset) -> xr.DataArray:
    """Variance of the gradient over E g², of single bits and of all subsets."""
    total = ds["gradient"].isel(time=0).sum("weight")
    energy = total.sel(fact="bound", drop=True) * 2.0 ** ds["d"]
    return total.sel(fact=["single", "variance"]) / energy


figure = Panels(
    Points(
        relative,
        colour="fact",
        has_median=False,
        title="Var of the gradient over I, over E g²",
        xlabel="bits, d",
        yscale="log",
        ylim=(None, 1),
        laws=(Law(lambda ds: 4 * 2.0 ** -ds["d"], "4 · 2⁻ᵈ", ":", "black"),),
    ),
    Curves(
        lambda ds: ds["correlations"].isel(time=0),
        colour="correlation",
        first_colour=2,
        mark="o",
        spread="none",
        title="correlations",
        xlabel="bits, d; |I| = d/2",
        ylim=(-0.05, 1.05),
    ),
    x="d",
    names={
        "fact": {"single": "I of one bit (control)", "variance": "all I"},
        "correlation": {
            "own": "labels, with χ_I",
            "fewer_bits": "labels, with any of fewer bits",
            "majority": "majority (control), with one bit",
        },
    },
    size=(4.8, 3.8),
    legend=3,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The variance falls with d like 2⁻ᵈ, but not over single bits."""
    d, seen = ds["d"], relative(ds)
    slopes = lambda name: slope_along(
        xr.ufuncs.log(seen.sel(fact=name)), d, "d", skipna=False
    )
    single, every = slopes("single"), slopes("variance")
    text = "slope of ln(Var/E g²) in d"
    law, control = f"{text} (−ln 2 = −0.6931)", f"control, I of one bit: {text}"
    return Claims({"two sizes d": len(d) > 1}).rows(
        mean_of(law, every, (-0.7131, -0.6731), f"{PAPER}; ± 0.02 ours"),
        mean_of(control, single, (-0.3466, np.inf), "−½ ln 2, ours"),
    )
