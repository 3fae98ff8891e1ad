"""n* at λ = 0 and t = ∞: which training sets are interpolated in the limit λ → 0.

The teacher of the experiment `threshold` (σ = 0.3) and `VanishingStart` with m = 200
neurons of random directions, or with the first m of these (the others are 0).  For each
d and n: how many networks interpolate (train error below 1 % of σ²), how many limits
are not known (ties and orbits that did not end; `n_star` counts them both ways), jumps,
and n*, the size of half.  `exponent` is p of n* ∝ dᵖ between the smallest and the
largest d whose n* is known; `same_verdicts` compares two widths on one sample.

    python benchmarks/vanishing_threshold.py [--json FILE|-] [--seeds S] [--d D …]
                             [--m M …] [--minutes T] [--figure FILE] [--smallest]

A FILE that exists is continued: limits that it has are not computed again.
"""

import argparse
import dataclasses
import functools
import json
import pathlib
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from _results import machine, written
from jaxtyping import Array, Float
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from simbias.core import Dataset, FlowState, Status
from simbias.experiments._noisy_teacher import noisy_teacher
from simbias.experiments.interpolation._rest import INTERPOLATED, size_of_half
from simbias.flows.vanishing_start import VanishingStart
from simbias.losses import half_mse, mse
from simbias.networks.two_layer import TwoLayer
from simbias.theory.two_group import two_group_threshold

ROOT, SIGMA = 4800, 0.3
# Problems are padded to two shapes (n, d) and one width: there are two programs.
SHAPES, WIDTH = ((40, 5), (64, 10)), 200
SIZES = {
    5: (4, 6, 8, 10, 12, 16, 20, 27, 40),
    2: (2, 3, 4, 6, 8, 12),
    3: (3, 4, 6, 8, 12, 18),
    8: (8, 12, 16, 24, 40),
    10: (14, 20, 28, 48),
}
FLOW = VanishingStart(rtol=1e-4, max_steps=3000)
# Sizes on the axis of n*: an interval that has no end ends there.
_SEEN = (2, 80)
AT_REST = (Status.CONVERGED, Status.STATIONARY)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--d", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--m", type=int, nargs="+", default=[200])
    parser.add_argument("--minutes", type=float, default=10.0, help="of the processor")
    parser.add_argument("--figure")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    sizes, widths, seeds, path = SIZES, options.m, options.seeds, options.json
    if options.smallest:
        sizes, widths, seeds = {2: (2, 4)}, [4], 2
    limits: dict[str, list] = {}
    if path != "-" and pathlib.Path(path).exists():
        limits = json.loads(pathlib.Path(path).read_text())["limits"]
    cases = [(m, d, n) for m in widths for d in options.d for n in sizes.get(d, ())]
    for m, dimension, n in cases:
        found = limits.setdefault(f"d={dimension} m={m} n={n}", [])
        for seed in range(len(found), seeds):
            if time.process_time() < 60 * options.minutes:
                found.append(one(seed, n, dimension, m))
        if path != "-":
            written(path, document(limits))
    if path == "-":
        written(path, document(limits))
    if options.figure:
        figure(document(limits)["rows"]).savefig(options.figure, dpi=120)


def document(limits: dict[str, list]) -> dict:
    """What is written: n*, what depends on the width, and every limit."""
    parts: dict[tuple[int, int], dict[int, list]] = {}
    for key, found in limits.items():
        d, m, n = (int(v.split("=")[1]) for v in key.split())
        if found:
            parts.setdefault((d, m), {})[n] = found
    rows = []
    for (d, m), sizes in parts.items():
        of = dict(sorted(sizes.items()))
        seeds = min(map(len, of.values()))
        if seeds > 1 and len(of) > 1:
            rows.append(row(d, m, {n: found[:seeds] for n, found in of.items()}))
    same = same_verdicts(rows)
    found = {"exponent": exponent(rows), "same_verdicts": same, "rows": rows}
    return {**machine(), **found, "limits": limits}


def row(d: int, m: int, of: dict[int, list]) -> dict:
    """Of one dimension and width."""
    verdict = np.array([[v[0] for v in found] for found in of.values()], float)
    verdict = np.where(verdict < 0, np.nan, verdict)
    coords = {"n": list(of), "seed": range(verdict.shape[1])}
    half = size_of_half(xr.DataArray(verdict, coords, ("n", "seed")))
    statuses = [v[1] for found in of.values() for v in found]
    jumps = [[v[2] for v in found] for found in of.values()]
    return {
        "d": d,
        "m": m,
        "n": list(of),
        "seeds": verdict.shape[1],
        "interpolated": np.sum(verdict == 1, axis=1).tolist(),
        "unknown": np.sum(np.isnan(verdict), axis=1).tolist(),
        "statuses": {s: statuses.count(s) for s in sorted(set(statuses))},
        "mean_jumps": np.mean(jumps, axis=1).tolist(),
        "n_star": dataclasses.asdict(half),
        "two_regressions": two_group_threshold(d),
        "verdicts": np.where(np.isnan(verdict), -1, verdict).astype(int).tolist(),
        "cpu_seconds": float(sum(v[4] for found in of.values() for v in found)),
    }


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def drawn(key, n: int, d: int, m: int):
    """As many samples of a teacher as there is room for, and a network."""
    return noisy_teacher(key, n=n, d=d, m=m, sigma=SIGMA, scale=1.0, n_test=2)


def error(state: FlowState, data: Dataset) -> Float[Array, ""]:
    """Train error over σ²."""
    f = jax.vmap(state.network)(data.x)
    return mse(f, data.y, data.weight) / SIGMA**2


@eqx.filter_jit
def limit(network: TwoLayer, data: Dataset) -> tuple[FlowState, Float[Array, ""]]:
    """The state at the end of the limit, or once it interpolates, and its error.

    The loss falls, so a network that interpolates at any time does so at the end.
    """
    state = FLOW.init(network, data, half_mse, jax.random.key(0))
    step = lambda s: FLOW.step(s, data, half_mse, jnp.float64(jnp.inf))
    is_open = lambda s: error(s, data) >= INTERPOLATED
    goes = lambda s: (s.status == Status.RUNNING) & is_open(s)
    state = jax.lax.while_loop(goes, step, state)
    return state, error(state, data)


def one(seed: int, n: int, d: int, m: int) -> list:
    """Of one training set: verdict (-1 unknown), status, jumps, attempts, seconds."""
    room, wide = next(shape for shape in SHAPES if d <= shape[1])
    key = jax.random.fold_in(jax.random.key(ROOT), seed)
    data, network = drawn(key, room, d, WIDTH)
    is_there = jnp.arange(WIDTH)[:, None] < m
    padded = lambda v: jnp.pad(v, ((0, 0), (0, wide - d)))
    weight = (jnp.arange(room) < n).astype(float)
    x, y = padded(data.x) * weight[:, None], data.y * weight[:, None]
    sample = Dataset(x, y, weight, y, jnp.zeros((0, wide)))
    begin = time.process_time()
    w, a = (jnp.where(is_there, v, 0) for v in (padded(network.w), network.a))
    state, left = limit(TwoLayer(w, a), sample)
    is_fitted, status = bool(left < INTERPOLATED), Status(int(state.status))
    seconds = time.process_time() - begin
    verdict = int(is_fitted) if is_fitted or status in AT_REST else -1
    stats = {k: int(v) for k, v in state.stats.items()}
    attempts = stats["accepted"] + stats["rejected"]
    return [verdict, status.name, stats["jumps"], attempts, round(seconds, 3)]


def exponent(rows: list[dict]) -> dict | None:
    """p of n* ∝ dᵖ from the first to the last d, and the hull of both intervals."""
    rows = [r for r in rows if r["m"] == rows[0]["m"]]
    rows = [r for r in rows if np.isfinite(r["n_star"]["value"]) and r["n_star"]["low"]]
    if len(rows) < 2:
        return None
    ends = [f(rows, key=lambda r: r["d"]) for f in (min, max)]
    few, many = (r["n_star"] for r in ends)
    unit = np.log(ends[1]["d"] / ends[0]["d"])
    over = lambda a, b: float(np.log(a / b) / unit)
    return {
        "d": [r["d"] for r in ends],
        "value": over(many["value"], few["value"]),
        "low": over(many["low"], few["high"]),
        "high": over(many["high"], few["low"]),
    }


def same_verdicts(rows: list[dict]) -> list[dict]:
    """Of the training sets run at two widths: how many have one verdict."""
    pairs = [(a, b) for a in rows for b in rows if a["d"] == b["d"] and a["m"] < b["m"]]
    return [_same_verdicts(a, b) for a, b in pairs]


def _same_verdicts(few: dict, many: dict) -> dict:
    count = min(few["seeds"], many["seeds"])
    sizes = sorted({*few["n"]} & {*many["n"]})
    pick = lambda r: [r["verdicts"][r["n"].index(n)][:count] for n in sizes]
    pair = np.array(pick(few)), np.array(pick(many))
    is_known = (pair[0] >= 0) & (pair[1] >= 0)
    number = lambda is_one: int(np.sum(is_one & is_known))
    return {
        "d": few["d"],
        "m": [few["m"], many["m"]],
        "of": number(is_known),
        "same": number(pair[0] == pair[1]),
        "only_one_interpolates": [
            number(pair[0] > pair[1]),
            number(pair[0] < pair[1]),
        ],
    }


def figure(rows: list[dict]) -> Figure:
    """Shares against n, and n* against d."""
    fig = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = fig.subplots(1, 2)
    widths = sorted({r["m"] for r in rows})
    most = max(widths, key=[r["m"] for r in rows].count)
    shown = sorted((r for r in rows if r["m"] == most), key=lambda r: r["d"])
    for i, r in enumerate(shown):
        share, more = (np.array(r[k]) / r["seeds"] for k in ("interpolated", "unknown"))
        look = {"color": f"C{i}", "label": f"d = {r['d']}"}
        left.errorbar(r["n"], share, [0 * more, more], fmt="o-", ms=4, **look)
        left.axvline(r["two_regressions"], color=f"C{i}", ls=":", lw=1)
    left.axhline(0.5, color="0.7", lw=1)
    left.set(xlabel="samples n", ylabel="share that is interpolated", xscale="log")
    left.set_title(f"m = {most}; dotted: n* of two regressions", fontsize=9)
    left.legend(fontsize=8, loc="lower left")
    for i, m in enumerate(widths):
        of = sorted((r for r in rows if r["m"] == m), key=lambda r: r["d"])
        d = np.array([r["d"] for r in of]) * (1 + 0.03 * i)
        value, low, high = (
            [r["n_star"][k] for r in of] for k in ("value", "low", "high")
        )
        ends = np.abs(np.clip([low, high], *_SEEN) - value)
        right.errorbar(d, value, ends, fmt="o", ms=5, capsize=3, label=f"m = {m}")
    d = np.arange(2, 11)
    law = [two_group_threshold(int(k)) for k in d]
    right.plot(d, law, color="0.4", label="two regressions")
    right.plot(d, d**3.0, ":", color="0.4", label="d³")
    right.set(xscale="log", yscale="log", xlabel="d", ylabel="n* at λ = 0, t = ∞")
    right.set(ylim=_SEEN)
    sizes = [2, 3, 5, 10, 20, 40]
    for axes, name, ticks in (
        (left, "x", sizes),
        (right, "x", [2, 3, 5, 8, 10]),
        (right, "y", sizes),
    ):
        axis = getattr(axes, f"{name}axis")
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    right.set_title("intervals: 95 %", fontsize=9)
    right.legend(fontsize=8)
    return fig


if __name__ == "__main__":
    main()
