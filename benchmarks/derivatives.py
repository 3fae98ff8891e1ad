"""Derivatives through events, against differences of two runs.

    python benchmarks/derivatives.py [--problems 30] [--json FILE|-] [--smallest]

Random two-layer ReLU and leaky ReLU networks of 6 neurons on 8 samples in 3 dimensions,
to t = 20, perturbed in all weights, inputs and targets at once.  `error` is the largest
difference between `simbias.derivative` and (θ(ε) − θ(−ε))/2ε, over the largest
derivative; the two runs have the same tolerance and ε = 1e-5.  A problem in which the
two runs have other events is counted apart: a perturbation of ε then crosses a point
without a derivative.
"""

import argparse
import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written

import simbias
from simbias.datasets import gaussian_teacher
from simbias.losses import half_mse
from simbias.networks import balanced

STEP, END, RTOL = 1e-5, 20.0, 1e-10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=30)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    problems = 1 if options.smallest else options.problems
    end = 1.0 if options.smallest else END
    with simbias.exact_numerics():
        rows = [problem(number, end) for number in range(problems)]
    errors = [row["error"] for row in rows if row["is_comparable"]]
    summary = {
        "problems": problems,
        "finished": sum(row["finding"] == "finished" for row in rows),
        "comparable": len(errors),
        "median error": float(np.median(errors)) if errors else None,
        "largest error": max(errors, default=None),
    }
    written(options.json, {**machine(), "end": end, **summary, "rows": rows})


def problem(number: int, end: float) -> dict:
    """One network and one perturbation."""
    key = jax.random.key(number)
    data = gaussian_teacher(key, n=8, d=3, sigma=0.5, n_test=1)
    activation = ("relu", "leaky_relu")[number % 2]
    network = balanced(
        jax.random.fold_in(key, 1), m=6, d=3, scale=0.5, activation=activation
    )
    rng = np.random.default_rng(number)
    draw = lambda v: jnp.array(rng.normal(size=(1, *v.shape)))
    weights = lambda net: (net.w, net.a)
    start = eqx.tree_at(weights, network, (draw(network.w), draw(network.a)))
    x, y = draw(data.x), draw(data.y)
    moved = {"start": start, "x": x, "y": y}
    seen = simbias.derivative(network, data, half_mse, end, **moved, rtol=RTOL)
    ends = []
    for step in (STEP, -STEP):
        other = eqx.tree_at(
            weights,
            network,
            (network.w + step * start.w[0], network.a + step * start.a[0]),
        )
        sample = dataclasses.replace(
            data, x=data.x + step * x[0], y=data.y + step * y[0]
        )
        ends.append(simbias.derivative(other, sample, half_mse, end, y=y, rtol=RTOL))
    up, down = ends
    apart = [
        np.abs((getattr(up.network, k) - getattr(down.network, k)) / (2 * STEP) - v[0])
        for k, v in (("w", seen.tangent.w), ("a", seen.tangent.a))
    ]
    size = max(float(jnp.max(jnp.abs(v))) for v in (seen.tangent.w, seen.tangent.a))
    is_comparable = (
        all(one.finding == "finished" for one in (seen, *ends))
        and seen.events == up.events == down.events
    )
    return {
        "problem": number,
        "finding": seen.finding,
        "events": [seen.events, up.events, down.events],
        "growth": seen.growth,
        "is_comparable": is_comparable,
        "error": float(max(np.max(one) for one in apart)) / size,
    }


if __name__ == "__main__":
    main()
