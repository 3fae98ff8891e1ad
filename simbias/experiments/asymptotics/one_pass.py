"""Infinite dimension: one-pass SGD follows ordinary differential equations.

A student f(x) = Σ φ(wᵢ·x) learns a teacher f*(x) = Σ φ(vₙ·x), φ(h) = erf(h/√2), from
one new sample x ~ N(0, I/d) per step with learning rate η.  As d → ∞ all products
wᵢ·vₙ/d and wᵢ·wₖ/d follow equations in closed form in the time α = steps/d.  Here they
are solved from the products of each student at time 0 and compared with the student,
for dimensions up to 1000.

At finite d the overlaps fluctuate by d^(−1/2).  The control is the same student against
the population flow, η → 0: the equations have a term η² that this flow lacks, and so a
distance that does not vanish.

Reference: Saad & Solla (1995), doi:10.1103/PhysRevE.52.4225, for the equations; Goldt,
Advani, Saxe, Krzakala & Zdeborová (2019), arXiv:1906.08632, for their proof.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import committee
from simbias.experiment_presets import presets
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import OrderParameters
from simbias.networks import TwoLayer
from simbias.networks.activations import erf
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.order_parameters import committee_loss, order_parameters

AXES = ("d",)
PAPER = "Saad & Solla (1995), doi:10.1103/PhysRevE.52.4225; tolerance ours"
ALPHAS = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 60.0, 80.0, 100.0)
# η of the population flow: so small that its square plays no part.
SLOW = 1e-4


def make(
    key: PRNGKeyArray, *, d: int, neurons: int = 2, size: Real = 0.3
) -> tuple[Dataset, AbstractNetwork]:
    """A student of as many erf neurons as its teacher; output weights are 1.

    Args:
        key: random key.
        d: entries of an input.
        neurons: of the student and of the teacher.
        size: standard deviation of the initial weights, whose products are size² at d =
            ∞; those of the teacher are 1.
    """
    key_data, key_network = jax.random.split(key)
    w = size * jax.random.normal(key_network, (neurons, d), jnp.float64)
    ones = jnp.ones((neurons, 1), jnp.float64)
    student = TwoLayer(w, ones, activation=erf, frozen=("a",))
    return committee(key_data, d=d, neurons=neurons), student


def steps(alphas: tuple[float, ...], sizes: tuple[int, ...]) -> tuple[float, ...]:
    """Numbers of steps α d, for all sizes."""
    return tuple(sorted({float(round(a * d)) for a in alphas for d in sizes}))


experiment = presets(
    Experiment(
        name="one_pass",
        make=make,
        cell={"d": (100, 300, 1000), "flow.rate": 1.0},
        seeds=20,
        flow=Descent(batch=1, sampling="fresh", counts_steps=True),
        loss=half_mse,
        times=steps(ALPHAS, (100, 300, 1000)),
        measures={"overlaps": OrderParameters()},
    ),
    smoke={
        "cell": {"d": (10, 30)},
        "seeds": 3,
        "times": steps(ALPHAS[:6], (10, 30)),
    },
    paper={
        "cell": {"d": (100, 300, 1000, 3000)},
        "seeds": 100,
        "times": steps(ALPHAS, (100, 300, 1000, 3000)),
    },
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Losses over α = steps/d and distances of the overlaps to the equations.

    `loss` is that of the student, `law` that of the equations from its own start;
    `distance` is the root mean square difference of the overlaps, and `to_flow` that
    from the population flow.
    """
    last = float(ds["time"][-1]) / max(ds["d"].values)
    alphas = [a for a in ALPHAS if a <= last]
    rows = []
    for d in ds["d"].values:
        one = ds["overlaps"].sel(d=d, time=[round(a * d) for a in alphas])
        rows.append(one.transpose("seed", "time", "row", "column").values)
    c, rate = np.stack(rows), ds["flow.rate"].item()
    with exact_numerics():
        seen, m = jnp.asarray(c), c.shape[-1] // 2
        along = jnp.asarray(alphas)
        flow = lambda start, r: order_parameters(start, m, r, along * rate / r)
        both = jax.vmap(jax.vmap(flow, (0, None)), (0, None))
        law, slow = (both(seen[:, :, 0], r) for r in (rate, SLOW))
        loss = jax.vmap(jax.vmap(jax.vmap(lambda one: committee_loss(one, m))))
        apart = lambda other: jnp.sqrt(jnp.mean((seen - other) ** 2, axis=(-2, -1)))
        values = {
            "loss": loss(seen),
            "law": loss(law),
            "distance": apart(law),
            "to_flow": apart(slow),
        }
    dims, coords = ("d", "seed", "alpha"), {"d": ds["d"].values, "alpha": alphas}
    return xr.Dataset({k: (dims, np.asarray(v)) for k, v in values.items()}, coords)


figure = Panels(
    Curves(
        "loss",
        x="alpha",
        colour="d",
        yscale="log",
        xlabel="α = steps/d",
        ylabel="population loss",
        laws=(
            Law(
                lambda part: part["law"].isel(d=-1).median("seed"),
                "equations, largest d",
            ),
        ),
    ),
    Curves(
        lambda part: part["distance"].isel(alpha=slice(1, None)),
        x="d",
        colour="alpha",
        is_graded=True,
        spread="none",
        xscale="log",
        yscale="log",
        ylabel="distance to the equations",
    ),
    names={"alpha": "α", "d": "d"},
    across=2,
    of=numbers,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Exponents of the distances in d, and the loss at the end."""
    seen = numbers(ds)
    late = seen.sel(alpha=seen["alpha"] > 0)
    mean = lambda name: xr.ufuncs.log(late[name]).mean("alpha")
    wide = at(seen, "d", max)
    ratio = xr.ufuncs.log(wide["loss"] / wide["law"]).isel(alpha=-1)
    far = xr.ufuncs.log(at(late, "d", max)["to_flow"]).mean("alpha")
    is_high = int(ds["d"].max()) >= 1000
    needs = {"three dimensions": ds.sizes["d"] > 2, "d ≥ 1000": is_high}
    return Claims(needs).rows(
        mean_of(
            "exponent in d of the distance of the overlaps to the equations",
            slope_in_log(mean("distance"), "d"),
            (-0.65, -0.35),
            PAPER,
        ),
        mean_of(
            "ln of the loss over that of the equations at the end, largest d",
            ratio,
            (-0.3, 0.3),
            PAPER,
        ),
        mean_of(
            "control, population flow: exponent in d of the distance",
            slope_in_log(mean("to_flow"), "d"),
            (-0.2, 0.2),
            "derived: it lacks the term η²",
        ),
        mean_of(
            "ln of the distance to the population flow over that to the equations",
            far - mean("distance").isel(d=-1),
            (np.log(2), np.inf),
            "derived: it lacks the term η²",
        ),
    )
