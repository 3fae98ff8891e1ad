"""Is the exact flow right where samples, neurons and events coincide?

Random problems with every oddity that its events may meet (`_cases.py`) and the
smallest known ones (`_named_cases.py`), to times 2 to 40 at rtol 1e-7, against explicit
Euler in C (`_euler.py`), which knows nothing of events.  Per case: the largest error of
a neuron relative to |(w, a)|, that of the loss relative to its start, the oracle's own
error, and a verdict:

    right           every neuron within max(1000 rtol, 20 × the oracle's own error)
    failed          the flow says that it failed
    silent          wrong, and the flow does not say so
    chosen          another end, and on its way the flow counts a choice of several
    not well posed  perturbed starts of Euler (1e-9) end further apart than that
    not judged      the oracle's own error is beyond 1e-2

    python benchmarks/stress.py [--cases N] [--seed FIRST] [--only WORD ...] [--wide]
        [--neurons FEWEST MOST] [--rtol RTOL] [--oracle FOLDER] [--json FILE|-]
        [--smallest]

A case is called silent only if an oracle of eight times the steps says so too.

These cases are small.  With --wide the flow takes the forms that it keeps for wide
networks and large samples: noninteracting steps, aggregation, clearances, few
candidates.  With --neurons 200 2000 all cases are random and as wide as that, and
classes move them.

The oracle takes most of the time; with --oracle its ends are kept in a folder, and read
from there the next time.
"""

import argparse
import collections
import dataclasses
import hashlib
import json
import pathlib
import sys

import jax
import numpy as np
from _as_if_wide import as_if_wide, by_classes
from _cases import Case, random_case, wide_case
from _euler import SOURCE, Reference, reference
from _named_cases import named_cases
from _results import machine, written
from _verdicts import VERDICTS, flow_ends, judged

# Times as many steps of the oracle, before it is believed against the flow.
_CLOSER = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="random ones")
    parser.add_argument("--seed", type=int, default=0, help="of the first random case")
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        help="cases of this name, seed or kind; names may be cut short",
    )
    parser.add_argument("--steps", type=int, default=2_000_000, help="of the oracle")
    parser.add_argument("--oracle", type=pathlib.Path, help="where its ends are kept")
    parser.add_argument("--wide", action="store_true", help="the forms of wide ones")
    parser.add_argument("--neurons", type=int, nargs=2, help="of every random case")
    parser.add_argument("--rtol", type=float, help="in place of 1e-7")
    parser.add_argument("--json")
    parser.add_argument("--smallest", action="store_true", help="a run for CI")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    if options.wide:
        as_if_wide()
    if options.smallest:
        options.only, options.steps, options.cases = ("coincident",), 200_000, 0
    if options.neurons:
        by_classes()
        cases = [wide_case(seed, *options.neurons) for seed in _seeds(options)]
    else:
        cases = [*named_cases(), *map(random_case, _seeds(options))]
    cases = [case for case in cases if _is_wanted(case, options.only)]
    if options.rtol:
        cases = [dataclasses.replace(case, rtol=options.rtol) for case in cases]
    rows = []
    for case, end in flow_ends(cases):
        known = _known(case, options.steps, options.oracle)
        row = judged(case, end, known)
        if row["verdict"] == "silent":
            # Extrapolation errs by chance as well: who blames the flow looks closer.
            least = _CLOSER * known.steps
            row = judged(case, end, reference(case.problem, case.time, least=least))
        rows.append(row)
        _print(row)
    order = [case.name for case in cases]
    rows.sort(key=lambda row: order.index(row["case"]))
    summary = summarised(rows)
    document = {"summary": summary, **machine(), "rows": rows}
    if options.json:
        written(options.json, document, a_row_a_line=True)
    print(json.dumps(summary, indent=1), file=sys.stderr)


def _known(case: Case, steps: int, folder: pathlib.Path | None) -> Reference:
    """The end of the oracle, from the folder where it was found before."""
    problem, time = case.problem, case.time
    if folder is None:
        return reference(problem, time, steps)
    digest = hashlib.sha256(repr((time, steps, problem.slope, problem.loss)).encode())
    # What is kept is what this oracle found.
    digest.update(SOURCE.read_bytes() + SOURCE.with_suffix(".py").read_bytes())
    for array in (problem.x, problem.y, problem.weight, problem.w, problem.a):
        digest.update(repr(array.shape).encode() + array.tobytes())
    path = folder / f"{digest.hexdigest()[:24]}.npz"
    if path.exists():
        with np.load(path) as file:
            return Reference(**{**file, "steps": int(file["steps"])})
    found = reference(problem, time, steps)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(path, **dataclasses.asdict(found))
    return found


def summarised(rows: list[dict]) -> dict:
    """How many of every verdict: of all cases, of the named ones, per kind."""
    kinds = sorted({kind for row in rows for kind in row["kinds"]})
    return {
        "all": _counts(rows),
        "named": _counts([row for row in rows if not row["case"].isdigit()]),
        "random": _counts([row for row in rows if row["case"].isdigit()]),
        "statuses": dict(collections.Counter(row["status"] for row in rows)),
        "errors_of_right": _quantiles(
            [row["error"] for row in rows if row["verdict"] == "right"]
        ),
        "evaluations": sum(row["evaluations"] for row in rows),
        "steps": {
            name: sum(row[name] for row in rows)
            for name in ("accepted", "noninteracting", "aggregated")
        },
        "kinds": {
            kind: _counts([row for row in rows if kind in row["kinds"]])
            for kind in kinds
        },
    }


def _quantiles(errors: list[float]) -> dict[str, float]:
    shares = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "largest": 1.0}
    if not errors:
        return {}
    return {name: float(np.quantile(errors, q)) for name, q in shares.items()}


def _counts(rows: list[dict]) -> dict[str, int]:
    found = collections.Counter(row["verdict"] for row in rows)
    return {"cases": len(rows)} | {v: found[v] for v in VERDICTS if found[v]}


def _seeds(options: argparse.Namespace) -> range:
    return range(options.seed, options.seed + options.cases)


def _is_wanted(case, words) -> bool:
    return not words or any(
        word == case.name
        or word in case.kinds
        or (not word.isdigit() and case.name.startswith(word))
        for word in words
    )


def _print(row: dict) -> None:
    names = ("error", "own_error", "spread", "nearest_end", "loss_error", "evaluations")
    numbers = "  ".join(f"{name} {row[name]}" for name in names)
    what = f"{row['loss']} slope {row['slope']} t {row['time']:g}"
    print(
        f"{row['case']:>16}  {row['verdict']:14} {row['status']:14} {numbers}  "
        f"{what}  {' '.join(row['kinds'])}",
        flush=True,
    )


if __name__ == "__main__":
    main()
