"""Do methods that ignore kinks end in the activation pattern of the exact flow?

    python benchmarks/deep_pattern.py [--json FILE|-] [--smallest]

Networks of `sliding_share` with width 8 and 24 samples, at t = 20.  A pre-activation
slides if |z| ≤ 1e-9 ‖w‖‖h‖ under the exact flow at rtol 1e-5.  For the others, the
share is counted that another method has on another side.  For those that slide, the
median of |z|/(‖w‖‖h‖) under the other method is taken.

Predictions, made before the run but after `sliding_share` had shown that the train
errors of descent are those of the flow to 0.4 % in the median:

*   Without those that slide, the pattern is that of the flow: on average, less than 1 %
    of the pre-activations are on another side, for each method.
*   Descent steps back and forth across the kinks on which the flow slides.  So |z| is
    proportional to the rate there: its exponent is between 0.7 and 1.3.
*   Control: the exact flow at rtol 1e-4 has less than 0.2 % on another side.
"""

import argparse
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from _results import machine, written
from jaxtyping import Array

import simbias
from simbias.claims import Claims, mean_of, median_of
from simbias.core import Dataset
from simbias.experiments.deep import sliding_share
from simbias.results import is_finished

METHOD, EXACT = sliding_share.METHOD, sliding_share.EXACT
OTHERS = ("exact, 1e-4", "Tsit5, 1e-4", "descent, 0.04", "descent, 0.01")
SLIDES = 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    rows = []
    for depth in (3,) if options.smallest else (2, 3, 4):
        ds = run(depth, is_small=options.smallest)
        rows += [row(claim) for claim in claims(ds, f"{depth} layers")]
        by_seed = shares(ds).transpose(METHOD, "seed").round(5)
        values = zip(
            by_seed[METHOD].values.tolist(), by_seed.values.tolist(), strict=True
        )
        rows += [
            {"layers": depth, "method": name, "shares_by_seed": of}
            for name, of in values
            if name != EXACT
        ]
    written(options.json, {**machine(), "rows": rows}, a_row_a_line=True)


def run(depth: int, *, is_small: bool) -> xr.Dataset:
    """z/(‖w‖‖h‖) at the end of all networks of a depth, by method."""
    changes: dict[str, Any] = {"depth": depth, "m": 8, "n": 24, "measures": {}}
    changes |= {METHOD: (EXACT, *OTHERS), "final": {}}
    end = 1.0 if is_small else sliding_share.END
    changes |= {"times": (0.0, end), "keep": (end,), "seeds": 3 if is_small else 12}
    experiment = sliding_share.experiment("quick", **changes)
    ds = simbias.simulate(experiment)
    z = simbias.evaluate(relative, ds, experiment, time=end)
    return xr.Dataset({"z": z}).where(is_finished(ds))


def relative(network: Any, data: Dataset) -> Array:
    """z/(‖w‖‖h‖) of all hidden neurons and samples; NaN where all inputs are 0."""
    hidden = jax.vmap(network.activations)(data.x)
    out = []
    for w, h in zip(network.weights[:-1], (data.x, *hidden[:-1]), strict=True):
        norm = lambda v: jnp.linalg.norm(v, axis=1)
        size = norm(h)[:, None] * norm(w)[None, :]
        out.append(jnp.where(size > 0, h @ w.T / size, jnp.nan).ravel())
    return jnp.concatenate(out)


def shares(ds: xr.Dataset) -> xr.DataArray:
    """Share on another side than under the exact flow, without those that slide."""
    z, exact = ds["z"], ds["z"].sel({METHOD: EXACT})
    is_known = z.notnull() & exact.notnull() & (abs(exact) > SLIDES)
    return (np.sign(z) != np.sign(exact)).where(is_known).mean(_entries(z))


def _entries(z: xr.DataArray) -> list[Any]:
    return [dim for dim in z.dims if dim not in (METHOD, "seed")]


def claims(ds: xr.Dataset, where: str) -> list[simbias.Claim]:
    """Shares on another side, and how far those that slide are from 0."""
    z, other, entry = ds["z"], shares(ds), _entries(ds["z"])
    slides = abs(z.sel({METHOD: EXACT})) <= SLIDES
    away = abs(z).where(slides).median(entry)
    high, low = (away.sel({METHOD: name}).values for name in OTHERS[2:])
    exponent = np.log(high / low) / math.log(4)
    exponent = exponent[np.isfinite(exponent)]
    one = lambda name: other.sel({METHOD: name})
    rows = [
        mean_of(f"{name}: share on another side", one(name), (0, 0.01), "ours")
        for name in OTHERS[1:]
    ]
    return Claims(where=where).rows(
        *rows,
        median_of(
            "descent: exponent in the rate of |z| where the flow slides",
            exponent,
            (0.7, 1.3),
            "ours: Euler's steps across a kink",
        ).given(exponent.size > 0, "networks that slide"),
        mean_of(
            "control, exact flow at rtol 1e-4: share on another side",
            one(OTHERS[0]),
            (0, 0.002),
            "ours",
        ),
    )


def row(claim: simbias.Claim) -> dict[str, Any]:
    """A claim as it is stored."""
    seen = claim.estimate
    values = {"value": seen.value, "low": seen.low, "high": seen.high}
    print(claim.statement, values, claim.verdict, flush=True)
    return {
        "statement": claim.statement,
        **{k: float(f"{v:.4g}") if np.isfinite(v) else None for k, v in values.items()},
        "band": [claim.low, claim.high],
        "verdict": claim.verdict,
    }


if __name__ == "__main__":
    main()
