"""Diagonal linear networks: initialised small they end at least ℓ1 norm, large at ℓ2.

f(x) = β·x with β = u∘u − v∘v follows the gradient flow from u = v = α.  There are fewer
samples than weights.  Of all β with Xβ = y training ends at the one of least

    Q_α(β) = α² Σⱼ q(βⱼ/α²),   q(z) = 2 − √(4 + z²) + z arcsinh(z/2)

There ∇Q_α = arcsinh(β/2α²) is a sum of samples, Xᵀν.  For α → 0 β has the least ℓ1 norm
(rich), for α → ∞ the least ℓ2 norm (kernel): its distance to X⁺y falls like α⁻⁴.

Reference: Woodworth et al. (2020), arXiv:2002.09277; sizes and the power α⁻⁴ are ours.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, largest_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Buffer, Claim, Dataset, Experiment, Real
from simbias.experiment_presets import presets
from simbias.figures import AxisEnd, Curves, Law, Panels
from simbias.flows.gradient_flow import STIFF, GradientFlow
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.stops import TrainRiskBelow

PAPER = "Woodworth et al. (2020), arXiv:2002.09277 (?); tolerance ours"
AXES = ("scale",)
KKT, WRONG = "KKT residual for Q_α", "KKT residual for Q_2α"
L1, L2, ERROR = "‖β‖₁ over a lower bound, less 1", "|β − X⁺y|/|X⁺y|", "test error"
LARGE = "test error of X⁺y, α = ∞"
NUMBERS = (KKT, WRONG, L1, L2, ERROR, LARGE)


class Diagonal(AbstractNetwork):
    """f(x) = (u∘u − v∘v)·x; α is there for `minimiser`."""

    u: Float[Array, " d"]
    v: Float[Array, " d"]
    alpha: Buffer

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        """Output for one input."""
        return ((self.u**2 - self.v**2) @ x)[None]


def minimiser(network: Diagonal, data: Dataset) -> Float[Array, " 6"]:
    """How near the end is to the minima of Q_α, ℓ1 and ℓ2, and to the teacher."""
    x, beta = data.x * data.weight[:, None], network.u**2 - network.v**2
    z = jnp.arcsinh(beta[:, None] / network.alpha.value**2 / jnp.array([[2.0, 8.0]]))
    nu = jnp.linalg.lstsq(x.T, z)[0]
    kkt = jnp.linalg.norm(z - x.T @ nu, axis=0) / jnp.linalg.norm(z, axis=0)
    bound = data.y[:, 0] @ nu[:, 0] / jnp.max(jnp.abs(x.T @ nu[:, 0]))
    far = lambda of, to: jnp.linalg.norm(of - to) / jnp.linalg.norm(to)
    least, teacher = jnp.linalg.lstsq(x, data.y[:, 0])[0], data.features[0]
    ends = far(beta, least), far(beta, teacher) ** 2, far(least, teacher) ** 2
    return jnp.stack([*kkt, jnp.sum(jnp.abs(beta)) / bound - 1, *ends])


vars(minimiser).update(dims=("number",), coords=lambda: {"number": np.array(NUMBERS)})


def make(
    key: PRNGKeyArray, *, scale: Real = 0.1, n: int = 20, d: int = 40, ones: int = 2
) -> tuple[Dataset, AbstractNetwork]:
    """Gaussian inputs, a teacher with `ones` entries 1, others 0, and u = v = scale.

    Args:
        key: random key of the inputs.
        scale: the initial value α of all weights.
        n: samples, fewer than d.
        d: inputs.
        ones: entries of the teacher that are 1.
    """
    if not 1 <= n < d or not 1 <= ones <= d:
        raise ValueError(f"1 <= n < d and 1 <= ones <= d, not {n=}, {d=}, {ones=}")
    x = jax.random.normal(key, (n, d), jnp.float64)
    teacher = (jnp.arange(d) < ones).astype(jnp.float64)
    y, u = (x @ teacher)[:, None], jnp.full(d, jnp.asarray(scale, jnp.float64))
    return Dataset(x, y, jnp.ones(n), y, teacher[None]), Diagonal(u, u, Buffer(u[0]))


experiment = presets(
    Experiment(
        name="diagonal_linear",
        make=make,
        cell={"scale": (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0)},
        seeds=20,
        shared=AXES,
        flow=GradientFlow(STIFF, rtol=1e-8),
        loss=half_mse,
        times=tuple(np.geomspace(0.1, 1e6, 15).tolist()),
        measures={"train_risk": TrainRisk()},
        final={"end": minimiser},
        stop=TrainRiskBelow(1e-18),
    ),
    smoke={"cell": {"scale": (0.1, 1.0, 3.0), "n": 8, "d": 16}},
    paper={"cell": {"n": 100, "d": 200, "ones": 5}, "seeds": 100},
)

_of = lambda *which: lambda ds: ds["end"].sel(number=[*which])
_level = Law(lambda ds: 1 - ds["n"] / ds["d"])
figure = Panels(
    Curves(_of(KKT, WRONG), colour="number", title="KKT residual", yscale="log"),
    Curves(_of(L1), title=L1, yscale="log"),
    Curves(_of(L2), title=L2, yscale="log"),
    Curves(
        _of(ERROR),
        title="test error; dashed: 1 − n/d",
        laws=(_level,),
        beyond=(AxisEnd(_of(LARGE), "∞"),),
    ),
    x="scale",
    xlabel="initial scale α",
    xscale="log",
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The minimiser of Q_α; ℓ1 and the teacher for small α, ℓ2 for large α."""
    of = lambda number, scale: at(ds["end"].sel(number=number), "scale", scale)
    power = np.log(of(L2, 3.0) / of(L2, 1.0)) / np.log(3)
    fall, error = of(L1, 1e-2) / of(L1, 1e-3), of(ERROR, 3.0) / (1 - ds["n"] / ds["d"])
    rich, ours, some, any_ = "α = 0.001", "ours", (0.01, np.inf), (1, np.inf)
    is_fitted = bool((ds["train_risk"].isel(time=-1) < 1e-12).all())
    return Claims({"train MSE < 1e-12": is_fitted}).rows(
        largest_of(f"{KKT}, largest", ds["end"].sel(number=KKT), (0, 1e-6), PAPER),
        smallest_of(f"α = 0.1, control: {WRONG}, smallest", of(WRONG, 0.1), some, ours),
        largest_of(f"{rich}: {L1}, largest", of(L1, 1e-3), (0, 0.05), PAPER),
        smallest_of(f"{L1}: α = 0.01 over {rich}, smallest", fall, any_, PAPER),
        mean_of(f"{L2}: exponent in α, 1 to 3", power, (-4.1, -3.9), "derived"),
        smallest_of(f"{rich}, control: {L2}, smallest", of(L2, 1e-3), some, ours),
        largest_of(f"{rich}: {ERROR}, largest", of(ERROR, 1e-3), (0, 0.01), PAPER),
        mean_of("α = 3, control: test error/(1 − n/d)", error, (0.8, 1.2), "exact"),
    )
