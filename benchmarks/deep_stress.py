"""Is the exact flow of deep networks right on random and on degenerate problems?

    python benchmarks/deep_stress.py [--programs K] [--cases N] [--only WORD ...]
        [--json FILE|-] [--smallest]

Networks of depth 2 to 5 with hidden layers of 5, with and without biases, slopes 0 and
0.1, half_mse and logistic: 32 programs of N cases (`_deep_cases.py` lists what is
degenerate in them).  The flow at rtol 1e-8 is compared at time 4 or 20 with explicit
Euler in C (`_deep_euler.py`), which knows nothing of events.  The verdicts:

    right           the error is at most max(100 rtol, 10 × the oracle's own error)
    failed          the flow says that it failed
    chosen          another end, and the flow counts a choice on its way
    not well posed  perturbed starts of Euler (1e-9) end further apart than that
    silent          wrong, and the flow does not say so

A case is called wrong only if an oracle with eight times the steps says so too.
"""

import argparse
import collections
import json
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _deep_cases import PROGRAMS, DeepCase, Program, cases_of
from _deep_euler import Known, perturbed_ends, reference
from _deep_problems import advance, distance, flat, network, sample
from _results import machine, written

from simbias import losses
from simbias.core import Status
from simbias.flows.deep_relu_flow import DeepReluFlow

RTOL = 1e-8
# An error beyond this many tolerances, and this many of the oracle's own, is wrong.
TOLERANCES, OWN_ERRORS = 100, 10
STEPS, CLOSER = 50_000, 8
VERDICTS = ("right", "failed", "chosen", "not well posed", "silent")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=len(PROGRAMS))
    parser.add_argument("--cases", type=int, default=16, help="of every program")
    parser.add_argument("--only", nargs="+", default=(), help="parts of their names")
    parser.add_argument("--json", help="FILE, or - for standard output")
    parser.add_argument("--smallest", action="store_true", help="a run for CI")
    options = parser.parse_args()
    if options.smallest:
        options.programs, options.cases = 1, 2
    jax.config.update("jax_enable_x64", True)
    rows = []
    for program in PROGRAMS[: options.programs]:
        cases = [
            case
            for case in cases_of(program, options.cases)
            if all(word in case.name for word in options.only)
        ]
        for row in judged(program, cases):
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
        # No other group has this program, and a process holds only so many.
        jax.clear_caches()
    document = {"summary": summary(rows), **machine(), "rows": rows}
    if options.json:
        written(options.json, document, a_row_a_line=True)
    print(json.dumps(summary(rows), indent=1), file=sys.stderr)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many of every verdict: of all cases, by kind and by depth."""
    errors = [row["error"] for row in rows if row["verdict"] == "right"]
    shares = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "largest": 1.0}
    names = ("crossings", "slides", "releases", "choices", "evaluations")
    grouped = lambda name: {
        str(value): _counts([row for row in rows if row[name] == value])
        for value in dict.fromkeys(row[name] for row in rows)
    }
    return {
        "all": _counts(rows),
        "with choices": sum(row["choices"] > 0 for row in rows),
        "errors of right": {
            name: float(f"{np.quantile(errors, q):.3g}")
            for name, q in (shares.items() if errors else ())
        },
        "sums": {name: sum(row[name] for row in rows) for name in names},
        "kinds": grouped("kind"),
        "depths": grouped("depth"),
    }


def _counts(rows: list[dict[str, Any]]) -> dict[str, int]:
    found = collections.Counter(row["verdict"] for row in rows)
    return {"cases": len(rows)} | {v: found[v] for v in VERDICTS if found[v]}


def judged(program: Program, cases: list[DeepCase]) -> list[dict[str, Any]]:
    """One row per case of one program, all of which run together."""
    if not cases:
        return []
    rows = []
    for case, (end, status, stats) in zip(cases, ends(program, cases), strict=True):
        verdict, error, known, spread = _verdict(case, end, status, stats)
        rows.append(
            {
                "case": case.name,
                "verdict": verdict,
                "kind": case.kind,
                "depth": program.depth,
                "scale": _short(case.scale),
                "time": case.time,
                "status": status.name,
                "error": _short(error),
                "own_error": _short(known.error),
                "spread": None if spread is None else _short(spread),
                **stats,
            }
        )
    return rows


def ends(
    program: Program, cases: list[DeepCase]
) -> list[tuple[np.ndarray, Status, dict[str, int]]]:
    """Weights, status and counts at the end of every case."""
    loss, flow = getattr(losses, program.loss), DeepReluFlow(rtol=jnp.asarray(RTOL))
    nets = [
        network(program.widths, case.problem.theta, program.has_bias, program.slope)
        for case in cases
    ]
    data = [sample(case.problem.x, case.problem.y) for case in cases]
    stack = lambda *v: jnp.stack(v) if eqx.is_array(v[0]) else v[0]

    def run(net, data, until):
        state = flow.init(net, data, loss, jax.random.key(0))
        return advance(flow, state, data, loss, until)

    many = eqx.filter_vmap(run)(
        jax.tree.map(stack, *nets),
        jax.tree.map(stack, *data),
        jnp.asarray([case.time for case in cases]),
    )
    take = lambda i: lambda v: v[i] if eqx.is_array(v) else v
    return [
        (
            flat(jax.tree.map(take(i), many.network)),
            Status(int(many.status[i])),
            {name: int(v[i]) for name, v in many.stats.items()},
        )
        for i in range(len(cases))
    ]


def _verdict(
    case: DeepCase, end: np.ndarray, status: Status, stats: dict[str, int]
) -> tuple[str, float, Known, float | None]:
    """The verdict, the error, what is known and how far perturbed starts spread."""
    if status != Status.RUNNING:
        return "failed", np.inf, Known(end, np.inf), None
    for steps in (STEPS, CLOSER * STEPS):
        step = case.time / steps
        known = reference(case.problem, case.time, step)
        error = distance(end, known.end)
        allowed = max(TOLERANCES * RTOL, OWN_ERRORS * known.error)
        if error <= allowed:
            return "right", error, known, None
    base, *others = perturbed_ends(case.problem, case.time, step)
    spread = max(distance(other, base) for other in others)
    if spread > allowed:
        return "not well posed", error, known, spread
    return "chosen" if stats["choices"] else "silent", error, known, spread


def _short(value: float) -> float | None:
    """Three digits; None if it is no number, which JSON has no word for."""
    return float(f"{value:.3g}") if np.isfinite(value) else None


if __name__ == "__main__":
    main()
