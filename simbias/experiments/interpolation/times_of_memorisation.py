"""Times of generalisation, of memorisation and of overfitting.

A network learns a linear teacher from n noisy samples in d dimensions.  Three times:

    τ_gen    the excess risk comes within 10 % of its least value
    τ_mem    the train error falls below half of σ²(1 − d/n), which is what linear least
             squares leaves: half of the noise beyond a linear fit is fitted
    τ_over   after its least value the excess risk has grown by 20 %

Bonnaire et al. find for diffusion models, and derive for random features, that τ_gen
does not depend on n and τ_mem ∝ n.  Here the exact flow of ReLU networks is looked at,
for n/d = 2 to 16.  A level that is not reached by t = 1000 is censored: exponents over
such times are lower bounds.

Derived, for a kernel K that is nearly constant in time and n ≪ d²: linear functions
have eigenvalues of K/n that do not depend on n, what is beyond them has μ/n, with
μ ≈ λ²d²/4.  So τ_mem = n ln 2/(2μ).  The noise that is fitted adds about
σ²(n/d²)(μt/n)² to an excess risk of about σ²d/n.  So τ_over ∝ d^(3/2)/μ: later than
τ_gen, but not ∝ n.

Predictions, before any run (λ = 1, m = 100, σ = ½ unless another is named):
    n        exponents: τ_gen 0 ± 0.2, τ_mem 1 ± 0.2, τ_over below 0.5
    others   exponents of τ_mem at n = 128: σ 0 ± 0.2, m 0 ± 0.2, λ −2 ± 0.3
    test     at n ≥ 128 the excess risk falls and then rises by 20 %, in 90 %
    control  σ = 0: it rises in at most 10 %
    n*       m = 5 (85 weights): 80 % memorise at n = 32, at most 10 % at n = 256, and
             the exponent of τ_mem from 32 to 128 is above 1.2; from λ = 1e-3 at most
             20 % memorise at n = 256

Exponents in σ, m and λ were wrong: the derivation forgets the function of the start,
f(0), which is as large as the targets and has to be unlearned too.  So there is a
second start, `--preset centred`, whose neurons come in pairs ±a with f(0) = 0.  The
same exponents were predicted for it, before its own run.

Reference: Bonnaire, Urfin, Biroli & Mézard (2025), arXiv:2505.17638; Montanari & Urbani
(2025), arXiv:2502.21269, for the test error that is not monotone.
"""

import dataclasses
import functools
from typing import Literal

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.first_passage import first_passage
from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, median_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import noisy_teacher
from simbias.experiments._times import log_times
from simbias.figures import Curves, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import ExcessRisk, TrainRisk
from simbias.networks import TwoLayer
from simbias.results import is_finished
from simbias.stops import TrainRiskBelow

AXES = ("n", "case")
Case = Literal["base", "noisy", "wide", "large", "clean", "narrow", "small"]
# λ, m, σ.
CASES = {
    "base": (1.0, 100, 0.5),
    "noisy": (1.0, 100, 1.0),
    "wide": (1.0, 200, 0.5),
    "large": (2.0, 100, 0.5),
    "clean": (1.0, 100, 0.0),
    "narrow": (1.0, 5, 0.5),
    "small": (1e-3, 100, 0.5),
}
PAPER = "Bonnaire et al. (2025), arXiv:2505.17638, for diffusion models; band ours"
DMFT = "Montanari & Urbani (2025), arXiv:2502.21269, for m → ∞; band ours"
KERNEL = "derived: a kernel that is constant in time; band ours"
COUNT = "derived: 85 weights fit no more than 85 samples; band ours"


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    case: Case = "base",
    is_centred: bool = False,
    d: int = 16,
    n_test: int = 500,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and balanced ReLU neurons.

    Args:
        key: random key.
        n: samples to train on.
        case: of λ, m and σ: 1, 100 and ½ ("base"); σ = 1 ("noisy") or 0 ("clean");
            m = 200 ("wide") or 5 ("narrow"); λ = 2 ("large") or 1e-3 ("small").
        is_centred: whether the second half of the neurons are the first with −a.
        d: entries of an input.
        n_test: samples of the test set.
    """
    scale, m, sigma = CASES[case]
    data, network = noisy_teacher(
        key, n=n, d=d, m=m, sigma=sigma, scale=scale, n_test=n_test
    )
    if is_centred:
        assert isinstance(network, TwoLayer)
        w, a = network.w[: m // 2], network.a[: m // 2]
        both = jnp.concatenate([w, w]), jnp.concatenate([a, -a])
        network = dataclasses.replace(network, w=both[0], a=both[1])
    return data, network


experiment = presets(
    Experiment(
        name="times_of_memorisation",
        make=make,
        cell={"n": (32, 64, 128, 256), "case": tuple(CASES), "d": 16},
        seeds=8,
        shared=("n", "case"),
        pad_to=256,
        flow=ReluFlow(rtol=1e-4, max_steps=20_000, decouple=False),
        loss=half_mse,
        times=log_times(0.01, 1000.0, 80),
        measures={"train_risk": TrainRisk(), "excess_risk": ExcessRisk()},
        stop=TrainRiskBelow(1e-4),
    ),
    smoke={
        "cell": {"n": (6, 12), "case": "narrow", "d": 3, "n_test": 50},
        "seeds": 2,
        "pad_to": 0,
        "times": log_times(0.1, 100.0, 20),
    },
    centred={"cell": {"case": tuple(CASES)[:5], "is_centred": True}},
    centred_smoke={"cell": {"case": "narrow"}},
    paper={"cell": {"n": (80, 160, 320, 640), "d": 40}, "pad_to": 640, "seeds": 100},
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """The three times, NaN where a level is not reached; `rises`, `is_fitted`.

    `rises`: whether the excess risk has grown by 20 % after its least value.
    `is_fitted`: whether τ_mem is known.  `bound`: τ_mem, or the final time.
    """
    ds = ds.where(is_finished(ds))
    sigma = xr.DataArray([CASES[v][2] for v in ds["case"].values], dims="case")
    level = sigma**2 / 2 * (1 - ds["d"] / ds["n"])
    excess = xr.ufuncs.log(ds["excess_risk"] / ds["excess_risk"].min("time"))
    is_later = ds["time"] >= ds["time"].where(excess <= 0).min("time")
    train = xr.ufuncs.log(level.where(level > 0) / ds["train_risk"])
    known = ds["train_risk"].isel(time=-1).notnull()
    times = {
        "gen": first_passage(-excess, -np.log(1.1)),
        "mem": first_passage(train, 0.0),
        "over": first_passage(excess.where(is_later), np.log(1.2)),
    }
    values = {
        **times,
        "bound": times["mem"].fillna(ds["time"][-1]).where(known & (sigma > 0)),
        "rises": times["over"].notnull().where(known).astype(float),
        "is_fitted": times["mem"].notnull().where(known).astype(float),
    }
    return ds.assign(values)


KINDS = {"gen": "τ_gen", "mem": "τ_mem", "over": "τ_over"}
_over = functools.partial(Curves, yscale="log")
_over_n = functools.partial(_over, x="n", mark="o", ticks=True)
figure = Panels(
    _over(
        lambda ds: at(ds["train_risk"], "case", "base"),
        colour="n",
        xlabel="t",
        ylabel="train error",
        ylim=(1e-3, None),
    ),
    _over(
        lambda ds: at(ds["excess_risk"], "case", "base"),
        colour="n",
        xlabel="t",
        ylabel="excess risk",
    ),
    _over_n(
        lambda ds: at(ds, "case", "base")[[*KINDS]].to_dataarray("kind"),
        colour="kind",
        first_colour=4,
        ylabel="time, base",
        has_exponent=True,
    ),
    _over_n("bound", colour="case", first_colour=7, ylabel="τ_mem, or the final time"),
    of=numbers,
    xscale="log",
    across=2,
    names={"kind": KINDS},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Exponents in n, σ, m and λ; test errors that rise; times beyond the end."""
    seen = numbers(ds)
    cases = {k: at(seen, "case", k) for k in CASES}
    base, narrow = cases["base"], cases["narrow"]
    slope = lambda v: slope_in_log(xr.ufuncs.log(v), "n")
    long = base["n"] >= 4 * base["d"]

    def against(case: str, factor: int) -> xr.DataArray:
        both = (at(cases[k], "n", 128)["mem"] for k in (case, "base"))
        other, own = both
        return xr.ufuncs.log(other / own) / np.log(factor)

    def share(case: str, n: int, name: str) -> xr.DataArray:
        return at(cases[case], "n", n)[name]

    given = {"n from 32 to 256": {32, 256} <= {*ds["n"].values.tolist()}}
    given |= {"t ≥ 1000": float(ds["time"][-1]) >= 1000}
    band, rises = (-0.2, 0.2), "excess risk rises by 20 % after its least value"
    fits = "networks that memorise by t = 1000"
    rows = Claims(given).rows(
        median_of("exponent of τ_gen in n", slope(base["gen"]), band, PAPER),
        median_of("exponent of τ_mem in n", slope(base["mem"]), (0.8, 1.2), PAPER),
        median_of(
            "exponent of τ_over in n ≥ 64",
            slope(base["over"].where(long, drop=True)),
            (-np.inf, 0.5),
            KERNEL,
        ),
        median_of("exponent of τ_mem in σ", against("noisy", 2), band, KERNEL),
        median_of("exponent of τ_mem in m", against("wide", 2), band, KERNEL),
        median_of("exponent of τ_mem in λ", against("large", 2), (-2.3, -1.7), KERNEL),
        *(
            share_of(f"n = {n}: {rises}", share("base", n, "rises"), (0.9, 1), DMFT)
            for n in (128, 256)
        ),
        *(
            share_of(
                f"control, σ = 0, n = {n}: {rises}",
                share("clean", n, "rises"),
                (0, 0.1),
                DMFT,
            )
            for n in (128, 256)
        ),
    )
    if "narrow" not in ds["case"]:
        return rows
    return rows + Claims(given).rows(
        share_of(
            f"m = 5, n = 32: {fits}", share("narrow", 32, "is_fitted"), (0.8, 1), COUNT
        ),
        share_of(
            f"m = 5, n = 256: {fits}",
            share("narrow", 256, "is_fitted"),
            (0, 0.1),
            COUNT,
        ),
        median_of(
            "m = 5: exponent of τ_mem in n ≤ 128, at least",
            slope(narrow["bound"].where(narrow["n"] <= 128, drop=True)),
            (1.2, np.inf),
            COUNT,
        ),
        share_of(
            f"λ = 1e-3, n = 256: {fits}",
            share("small", 256, "is_fitted"),
            (0, 0.2),
            "Boursier & Flammarion (2024), arXiv:2410.02348, for λ → 0; band ours",
        ),
    )
