"""Catapult: above 2/λ₀ the loss grows first, and training ends in a flatter minimum.

A linear network f = v·u x/√m learns one sample, x = 1 and y = 0, by gradient descent on
f²/2.  With the tangent kernel λ = (‖u‖² + ‖v‖²)/m a step is

    f' = f (1 − ηλ + η²f²/m),   λ' = λ + (ηf²/m)(ηλ − 4)

For ηλ₀ < 2 training is lazy: λ changes by order 1/m.  For 2 < ηλ₀ < 4 the loss grows
for a time of order ln m.  Then λ falls below 2/η, by as much at every width, and the
loss goes to 0.  For ηλ₀ > 4 the loss diverges.

Reference: Lewkowycz et al. (2020), arXiv:2003.02218; the sizes and λ₀ = 1 are ours.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.slope_along import slope_along
from simbias.claims import Claims, largest_of, mean_of, share_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Status
from simbias.experiment_presets import presets
from simbias.figures import Curves, Law, Panels, Points
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import KernelEigenvalues, TrainRisk

PAPER = "Lewkowycz et al. (2020), arXiv:2003.02218 (?); tolerance ours"
RATE = "flow.rate"  # η, which is ηλ₀ because λ₀ = 1
AXES = ("m", RATE)
RATES = (0.5, 1.0, 1.5, 2.25, 2.5, 2.75, 3.0, 3.5, 4.25, 4.5)
LOW, HIGH, OVER = slice(0, 1.99), slice(2.01, 3.99), slice(4.01, None)


class Product(AbstractNetwork):
    """f(x) = v·u x/√m, with the rows u and v."""

    rows: Float[Array, "2 m"]

    def __call__(self, x: Float[Array, " 1"]) -> Float[Array, " 1"]:
        """Output for one input."""
        return (self.rows[0] @ self.rows[1]) * x / self.rows.shape[1] ** 0.5


def make(key: PRNGKeyArray, *, m: int = 1000) -> tuple[Dataset, AbstractNetwork]:
    """The sample, and m hidden neurons with Gaussian weights of ‖u‖² + ‖v‖² = m.

    Args:
        key: random key of the weights.
        m: hidden neurons.
    """
    z = jax.random.normal(key, (2, m), jnp.float64)
    one, zero = jnp.ones((1, 1)), jnp.zeros((1, 1))
    data = Dataset(x=one, y=zero, weight=jnp.ones(1), mean=zero, features=one)
    return data, Product(z * m**0.5 / jnp.linalg.norm(z))


experiment = presets(
    Experiment(
        name="catapult",
        make=make,
        cell={"m": (100, 1000, 10_000), RATE: RATES},
        seeds=20,
        flow=Descent(counts_steps=True),
        loss=half_mse,
        times=tuple(map(float, range(101))),
        measures={"square": TrainRisk(), "kernel": KernelEigenvalues(1)},
    ),
    smoke={"cell": {"m": (100, 1000), RATE: (1.0, 2.5, 4.5)}},
    paper={"cell": {"m": (100, 1000, 10_000, 100_000)}, "seeds": 200},
)


def phases(ds: xr.Dataset) -> xr.Dataset:
    """Growth of f² and change of λ; at first |f| grows by a factor ηλ₀ − 1 per step."""
    square, kernel, rate = ds["square"], ds["kernel"].isel(eigenvalue=0), ds[RATE]
    first, end = square.isel(time=0), kernel.isel(time=-1)
    delay = square.fillna(-1).argmax("time") * np.log((rate - 1).where(rate > 2))
    ds = ds.assign(reach=np.log(ds["m"] / first) / 2, delay=delay, end=end)
    ds = ds.assign(drift=np.log((1 - end).where(end < 1)) / -2, last=rate * end)
    ds = ds.assign(product=rate * kernel, growth=square.max("time") / first)
    return ds.assign(flat=2 / rate, is_lost=ds["status"] == Status.NONFINITE)


_widest = lambda ds: at(ds, "m", max).isel({RATE: slice(0, None, 2), "time": slice(41)})
_path = functools.partial(Curves, colour=RATE, is_graded=True, xlabel="steps")
_mean = functools.partial(Curves, x=RATE, xlabel="ηλ₀", colour="m", mark="o")
_each = functools.partial(Points, x="reach", xlabel="ln(√m/|f₀|)", colour=RATE)
figure = Panels(
    _path("square", title="f², m = {m}", yscale="log", ylim=(1e-6, 1e6), of=_widest),
    _path("product", title="ηλ, m = {m}", ylim=(0, 5), laws=(Law(2),), of=_widest),
    _mean("end", title="λ∞; dashed: 2/η", ylim=(0, 1.1), laws=(Law("flat"),)),
    _each("delay", title="peak step × ln(ηλ₀ − 1)", of=lambda ds: ds.sel({RATE: HIGH})),
    of=phases,
    legend="inside",
    names={RATE: "ηλ₀"},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The lazy, the catapult and the divergent phase."""
    ds = phases(ds)
    low, high, over = (ds.sel({RATE: phase}) for phase in (LOW, HIGH, OVER))
    slope = lambda what, rate: at(slope_along(ds[what], ds["reach"], "m"), RATE, rate)
    drift, peak = "exponent of 1 − λ∞/λ₀ in f₀²/m", "largest f²/f₀²"
    step = "step of the largest f² over ln(√m/|f₀|)/ln(ηλ₀ − 1), slope"
    one, none, much = (0.9, 1.1), (-0.1, 0.1), (2, np.inf)
    wide, lost = high["growth"].isel(m=-1), "share that diverges at"
    # The rates of a seed have the same network, those of another width have not.
    always, ever = over["is_lost"].all(RATE), high["is_lost"].any(RATE)
    late = f"ηλ₀ > 4: {lost} every rate, all m"
    soon = f"2 < ηλ₀ < 4, control: {lost} any rate, all m"
    return [
        *Claims({"two widths": ds.sizes["m"] > 1}).rows(
            mean_of(f"ηλ₀ = 1: {drift}", slope("drift", 1.0), one, PAPER),
            mean_of(f"ηλ₀ = 2.5, control: {drift}", slope("drift", 2.5), none, PAPER),
            mean_of(f"ηλ₀ = 2.5: {step}", slope("delay", 2.5), one, PAPER),
        ),
        smallest_of(f"2 < ηλ₀ < 4, widest: {peak}, smallest", wide, much, PAPER),
        largest_of(f"ηλ₀ < 2, control: {peak}, largest", low["growth"], (0, 1), PAPER),
        largest_of("2 < ηλ₀ < 4: ηλ∞, largest", high["last"], (0, 2), PAPER),
        share_of(late, always, (0.9, 1), PAPER, pooled=("m",)),
        share_of(soon, ever, (0, 0.1), PAPER, pooled=("m",)),
    ]
