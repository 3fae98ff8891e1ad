"""Do claims come out alike in plain NumPy, written from the pages alone?

    python benchmarks/plain_numpy.py [--json FILE|-] [--only NAME ...] [--smallest]

Claims of four themes are computed again, from the text of the page and the paper, with
other random numbers and without a line of simbias: extremal vectors in the plane, the
risk of least norm at d = n, random and trained networks that fit six strings, and
parities under SGD.  The rows have the stored value of `simbias check` and its interval
beside value, interval and number of seeds of NumPy, and whether the intervals overlap.
"""

import argparse
import json
import math
import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _results import written

CHECKED = pathlib.Path(__file__).parent / "results" / "check_quick"
# Of the normal law: half-width of a 95 % interval in standard errors.
_Z = 1.96
# Value, both ends of its interval, seeds.
Found = tuple[float, float, float, int]
Cases = dict[str, Callable[[bool], dict[str, Found]]]


def main(cases: Cases, description: str | None) -> None:
    """Compute the cases that are named, and write them beside the stored claims."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", default="-")
    parser.add_argument("--only", nargs="*", default=tuple(cases))
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    rows = []
    for name in options.only:
        begun = time.monotonic()
        found = cases[name](options.smallest)
        seconds = round(time.monotonic() - begun, 1)
        for statement, (value, low, high, seeds) in found.items():
            ours = _stored(name, statement)
            plain = {"value": value, "low": low, "high": high, "seeds": seeds}
            overlap = _overlap(ours, plain)
            row = {"experiment": name, "statement": statement, "simbias": ours}
            rows.append({**row, "numpy": plain, "overlap": overlap, "seconds": seconds})
            print(name, "|", statement, "|", ours, "|", plain, flush=True)
    written(options.json, {"numpy": np.__version__, "claims": rows})


def extremal_count(is_smallest: bool) -> dict[str, Found]:
    """Local maxima of ±G in the plane, by sorting the angles where a sample turns on.

    G(θ) = (1/n) Σ yᵢ (w(θ)·xᵢ)₊ is D·w(θ) on each arc, with D = (1/n) Σ_{on} yᵢ xᵢ.
    """
    seeds, n = (20, 50) if is_smallest else (12_000, 2000)
    out = {}
    for sigma in (1.0, 3.0):
        rng = np.random.default_rng(round(10 * sigma))
        counts = [_extrema(rng, n, sigma) for _ in range(seeds)]
        law = 1 + sigma / math.pi
        statement = (
            f"extremal vectors per sign over 1 + σ/π = {law:.4f}, σ = {sigma:g}, "
            "n = 2000"
        )
        out[statement] = _mean(np.array(counts) / law)
    return out


def _extrema(rng: np.random.Generator, n: int, sigma: float) -> float:
    """Local maxima of G with G > 0 and of −G with −G > 0, half of their number."""
    x = rng.standard_normal((n, 2))
    y = x[:, 0] + sigma * rng.standard_normal(n)
    along = np.arctan2(x[:, 1], x[:, 0])
    # At the angle of x less π/2 a sample turns on, at that plus π/2 off.
    angles = np.mod(np.concatenate([along - np.pi / 2, along + np.pi / 2]), 2 * np.pi)
    change = np.concatenate([y[:, None] * x, -y[:, None] * x])
    order = np.argsort(angles)
    angles, change = angles[order], change[order]
    at_zero = (y[:, None] * x)[x[:, 0] > 0].sum(axis=0)  # w = (1, 0)
    after = at_zero + np.cumsum(change, axis=0)  # D on the arc after each angle
    before = np.concatenate([at_zero[None], after[:-1]])
    w = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turned = np.stack([-w[:, 1], w[:, 0]], axis=1)
    slope_before = (before * turned).sum(axis=1)
    slope_after = (after * turned).sum(axis=1)
    level = (after * w).sum(axis=1)
    at_angle = (slope_before > 0) & (slope_after < 0) & (level > 0)
    at_angle |= (slope_before < 0) & (slope_after > 0) & (level < 0)
    # Inside the arc to the next angle the slope changes its sign at ±D.
    begins, ends = slope_after, np.roll(slope_before, -1)
    # There G'' = −G: a fall through 0 has G > 0 and a rise G < 0.
    inside = begins * ends < 0
    return float(at_angle.sum() + inside.sum()) / 2


def random_design(is_smallest: bool) -> dict[str, Found]:
    """Risk of the interpolator of least norm at d = n, by the eigenvalues of XXᵀ."""
    out = {}
    for n, seeds in ((40, 20_000), (200, 3000)):
        seeds = 20 if is_smallest else seeds
        rng = np.random.default_rng(n)
        peak, past = np.empty(seeds), np.empty(seeds)
        for k in range(seeds):
            wide = rng.standard_normal((n, 2 * n))
            w = rng.standard_normal(2 * n)
            w /= np.linalg.norm(w)
            square = wide[:, :n]
            peak[k] = 0.25 * (1 / np.linalg.eigvalsh(square @ square.T)).sum()
            gram = wide @ wide.T
            inside = wide.T @ np.linalg.solve(gram, wide @ w)
            noise = 0.25 * np.trace(np.linalg.inv(gram))
            past[k] = ((w - inside) ** 2).sum() + noise
        alone = 0.25 * n / 0.2967
        statement = (
            f"n = {n}, d = n: median risk over σ²n/0.2967, of the least eigenvalue "
            "alone"
        )
        out[statement] = median(peak / alone)
        statement = f"n = {n}: risk at d = n over that at d = 2n, median of pairs"
        out[statement] = median(peak / past)
    return out


def random_fit(is_smallest: bool) -> dict[str, Found]:
    """Networks 7–40–40–1 on the majority of three of seven bits."""
    rng = np.random.default_rng(7)
    strings = 2.0 * ((np.arange(128)[:, None] >> np.arange(7)) & 1) - 1
    label = np.where(strings[:, :3].sum(axis=1) > 0, 1.0, -1.0)
    seeds, draws = (2, 200) if is_smallest else (60, 10_000)
    means = []
    for _ in range(seeds):
        order = rng.permutation(128)
        right = np.concatenate(
            [
                np.where(_forward(_drawn(rng, 200), strings)[-1] >= 0, 1, -1) == label
                for _ in range(draws // 200)
            ]
        )
        fits = right[:, order[:6]].all(axis=1)
        means.append(right[fits][:, order[6:]].mean())
    trained = _trained(rng, strings, label, 20 if is_smallest else 2000)
    return {
        "majority: random network that fits, on the rest": _mean(np.array(means)),
        "majority: SGD at t = 30, on the rest": _mean(trained),
    }


def _drawn(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Weights and biases of many networks, U(±1/√inputs)."""
    out = []
    for inputs, outputs in ((7, 40), (40, 40), (40, 1)):
        end = 1 / math.sqrt(inputs)
        out.append(rng.uniform(-end, end, (count, inputs, outputs)))
        out.append(rng.uniform(-end, end, (count, 1, outputs)))
    return out


def _forward(weights: list[np.ndarray], x: np.ndarray) -> list[np.ndarray]:
    """Both hidden layers, and the outputs (network, sample)."""
    first, bias1, second, bias2, last, bias3 = weights
    one = np.maximum(x @ first + bias1, 0)
    two = np.maximum(one @ second + bias2, 0)
    return [one, two, (two @ last + bias3)[..., 0]]


def _trained(
    rng: np.random.Generator, strings: np.ndarray, label: np.ndarray, count: int
) -> np.ndarray:
    """Accuracy on the 122 other strings after 300 steps of SGD with one string each."""
    orders = np.stack([rng.permutation(128) for _ in range(count)])
    weights = _drawn(rng, count)
    for _ in range(300):
        chosen = orders[np.arange(count), rng.integers(6, size=count)]
        x, y = strings[chosen][:, None, :], label[chosen][:, None]
        one, two, f = _forward(weights, x)
        _, _, second, _, last, _ = weights
        # d/df of ln(1 + exp(−y f)).
        slope = (-y / (1 + np.exp(y * f)))[..., None]
        back2 = slope * last.swapaxes(1, 2) * (two > 0)
        back1 = back2 @ second.swapaxes(1, 2) * (one > 0)
        inputs, backs = (x, one, two), (back1, back2, slope)
        for k, (value, back) in enumerate(zip(inputs, backs, strict=True)):
            weights[2 * k] -= 0.1 * value.swapaxes(1, 2) @ back
            weights[2 * k + 1] -= 0.1 * back
    right = np.where(_forward(weights, strings)[-1] >= 0, 1, -1) == label
    rest = np.take_along_axis(right, orders[:, 6:], axis=1)
    return rest.mean(axis=1)


def parity(is_smallest: bool) -> dict[str, Found]:
    """Steps until 90 % of the strings are right, for parities of half of the bits."""
    sizes, seeds, most = (5, 6, 8, 10), 10, 50_000
    if is_smallest:
        sizes, seeds, most = (3, 5), 2, 20
    rng = np.random.default_rng(12)
    times = [[_until_learned(rng, d, most) for d in sizes] for _ in range(seeds)]
    x = np.array(sizes) - np.mean(sizes)
    slopes = np.log(times) @ x / (x @ x)
    return {"half of d ≤ 10 bits: slope of ln time to 0.9 in d": _mean(slopes)}


def _until_learned(rng: np.random.Generator, d: int, most: int) -> float:
    """Steps until the accuracy on 4000 samples is 0.9, looked at every 10, later 50."""
    chosen = rng.permutation(d)[: d // 2]
    width = 10 * d
    first, last = _truncated(rng, (d, width), d), _truncated(rng, (width,), width)
    bias, constant = np.zeros(width), 0.0
    held = rng.choice([-1.0, 1.0], size=(4000, d))
    truth = held[:, chosen].prod(axis=1)
    for step in range(most):
        if step % (10 if step < 1000 else 50) == 0:
            f = np.maximum(held @ first + bias, 0) @ last + constant
            if (np.where(f >= 0, 1, -1) == truth).mean() >= 0.9:
                return max(step, 1)
        x = rng.choice([-1.0, 1.0], size=(128, d))
        y = x[:, chosen].prod(axis=1)
        hidden = np.maximum(x @ first + bias, 0)
        f = hidden @ last + constant
        slope = np.where(y * f < 1, -y, 0.0) / 128
        back = slope[:, None] * last * (hidden > 0)
        last = last - 0.01 * slope @ hidden
        constant -= 0.01 * slope.sum()
        first -= 0.01 * x.T @ back
        bias -= 0.01 * back.sum(axis=0)
    return float(most)


def _truncated(
    rng: np.random.Generator, shape: tuple[int, ...], inputs: int
) -> np.ndarray:
    """Normal numbers within two standard deviations, which are 1/√inputs."""
    out = rng.standard_normal(shape)
    while (beyond := np.abs(out) > 2).any():
        out[beyond] = rng.standard_normal(beyond.sum())
    return out / math.sqrt(inputs)


def _mean(values: np.ndarray) -> Found:
    error = _Z * values.std(ddof=1) / math.sqrt(values.size)
    mean = values.mean()
    return float(mean), float(mean - error), float(mean + error), values.size


def median(values: np.ndarray) -> Found:
    """With the order statistics ± 1.96 standard deviations of a fair coin away."""
    values = np.sort(values)
    away = _Z * math.sqrt(values.size) / 2
    low = max(math.floor(values.size / 2 - away) - 1, 0)
    high = min(math.ceil(values.size / 2 + away), values.size - 1)
    median = float(np.median(values))
    return median, float(values[low]), float(values[high]), values.size


def share(successes: int, trials: int) -> Found:
    """With Wilson's interval."""
    p, z = successes / trials, _Z**2 / trials
    middle = (p + z / 2) / (1 + z)
    away = _Z * math.sqrt(p * (1 - p) / trials + z / (4 * trials)) / (1 + z)
    return p, middle - away, middle + away, trials


def _stored(name: str, statement: str) -> dict[str, Any] | None:
    """Value and interval of `simbias check`."""
    claims = json.loads((CHECKED / f"{name}.json").read_text())["claims"]
    for claim in claims:
        if claim["statement"] == statement:
            return {key: claim[key] for key in ("value", "low", "high")}
    return None


def _overlap(ours: dict[str, Any] | None, plain: dict[str, Any]) -> bool | None:
    if ours is None:
        return None
    return bool(ours["low"] <= plain["high"] and plain["low"] <= ours["high"])


CASES: Cases = {
    "extremal_count": extremal_count,
    "random_design": random_design,
    "random_fit": random_fit,
    "parity": parity,
}


if __name__ == "__main__":
    main(CASES, __doc__)
