"""Does the error of the exact flow follow its tolerance?

Every reference problem at rtol 1e-3 … 1e-9, against the same flow at rtol 1e-12.  The
error at a time is the root mean square over neurons of |(w, a) − (w, a)_ref| /
|(w, a)_ref|, or the largest; the worst time counts.  The slope is that of the least
squares line of log(error) on log(rtol); 1 means that the error follows the tolerance.

    python benchmarks/tolerance.py [--folder FOLDER] [--json FILE|-] [--smallest]
    python benchmarks/tolerance.py --fine [--names NAME ...]

What an error of 2e-5 (median over neurons, at the worst time) costs is read off a line
of log(evaluations) on log(error), which at one tolerance scatters by 10 %: `--fine`
takes 25 tolerances from 2e-3 to 2e-5.
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written
from work_precision import REFERENCE, Problem, by_flow, load

from simbias.flows.relu_flow import ReluFlow

RTOLS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
TIGHT = 1e-12
FINE = tuple(np.geomspace(2e-3, 2e-5, 25).tolist())
# At which the evaluations are compared.
ERROR = 2e-5


# Of the flow, told beside the errors.
COUNTS = ("evaluations", "crossings", "slides", "releases")


def trajectory(
    problem: Problem, rtol: float
) -> tuple[np.ndarray, dict[str, int], list[str]]:
    """Weights at every time, t m (d + k), what was counted, and the statuses."""
    reached = list(by_flow(problem, ReluFlow(rtol=jnp.asarray(rtol))))
    weights = [np.concatenate([r.network.w, r.network.a], axis=1) for r in reached]
    names = [r.status.name for r in reached]
    return np.stack(weights), {k: reached[-1].stats[k] for k in COUNTS}, names


def study(problem: Problem, rtols: tuple[float, ...], tight: float) -> dict:
    reference, counts, statuses = trajectory(problem, tight)
    size = np.linalg.norm(reference, axis=2)
    rows = []
    for rtol in rtols:
        found, seen, names = trajectory(problem, rtol)
        apart = np.linalg.norm(found - reference, axis=2)
        error = apart / np.where(size > 0, size, 1)
        rows.append(
            {
                "rtol": rtol,
                "error_rms": float(np.sqrt(np.mean(error**2, axis=1)).max()),
                "error_median": float(np.median(error, axis=1).max()),
                "error_max": float(error.max()),
                **seen,
                "statuses": sorted(set(names)),
            }
        )
        print(problem.name, rows[-1], flush=True)
    slope = lambda name: float(
        np.polyfit(np.log10(rtols), np.log10([row[name] for row in rows]), 1)[0]
    )
    error, count = (
        np.log([row[name] for row in rows]) for name in ("error_median", "evaluations")
    )
    line = np.polyfit(error, count, 1)
    return {
        "problem": problem.name,
        "evaluations_at_2e-5": float(np.exp(np.polyval(line, np.log(ERROR)))),
        "scatter_of_evaluations": float(np.std(count - np.polyval(line, error))),
        "reference_rtol": tight,
        **{f"reference_{name}": count for name, count in counts.items()},
        "reference_statuses": sorted(set(statuses)),
        "slope_rms": slope("error_rms"),
        "slope_median": slope("error_median"),
        "slope_max": slope("error_max"),
        "rows": rows,
    }


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=REFERENCE)
    parser.add_argument("--json", default="-")
    parser.add_argument("--names", nargs="+", help="problems; all of the folder")
    parser.add_argument("--fine", action="store_true")
    parser.add_argument("--smallest", action="store_true", help="a run for CI")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.npz"))
    paths = [p for p in paths if options.names is None or p.stem in options.names]
    rtols, tight = FINE if options.fine else RTOLS, TIGHT
    if options.smallest:
        paths = [REFERENCE / "three_points.npz"]
        rtols, tight = (1e-3, 1e-4), 1e-6
    problems = []
    for path in paths:
        try:
            problems.append(load(path))
        except ValueError as error:
            print(error)
    document = {
        "problems": [study(problem, rtols, tight) for problem in problems],
        **machine(),
    }
    written(options.json, document)


if __name__ == "__main__":
    main()
