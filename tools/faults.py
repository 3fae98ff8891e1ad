"""What was done to runs on engines, and what became of them, as a table."""

import ast
import json
import pathlib
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent
TRIALS = ROOT / "benchmarks" / "engines"
RESULTS = ROOT / "benchmarks" / "results"
# Engine -> the script of its trials, whose results have the same name.
_ENGINES = {
    "Slurm": "on_slurm",
    "Ray": "on_ray",
    "Dask": "on_dask",
    "bucket": "on_bucket",
}
# Trials that several engines have in common.
_SHARED = "_placed"


def faults(_: Any = None) -> str:
    """A line for every trial of every engine."""
    lines = [
        "| | what happened | members | finished | left within | bytes equal | when |",
        "|---|---|---|---|---|---|---|",
    ]
    for engine, script in _ENGINES.items():
        file = RESULTS / f"{script}.json"
        for row in json.loads(file.read_text())["trials"] if file.exists() else ():
            lines.append(_line(engine, _said(script, row["trial"]), row))
    return "".join(f"{line}\n" for line in lines)


def _line(engine: str, said: str, row: dict[str, Any]) -> str:
    if "error" in row:
        finished = f"**no**: {row['error']}"
    elif "finished_by_workers" not in row:
        finished = "refused" if "objects_left" in row else "yes"
    else:
        finished = "yes" if row["finished_by_workers"] else "by another worker"
    left = [v for k, v in row.items() if k.startswith("seconds_") and "left" in k]
    left += [row[k] for k in ("seconds_to_leave",) if k in row]
    seconds = f"{left[0]:g} s" if left else ""
    equal = {True: "yes", False: "**no**", None: ""}[row.get("bytes_equal")]
    cells = (engine, said, row.get("members", ""), finished, seconds, equal)
    return f"| {' | '.join(map(str, cells))} | {row['at'][:10]} |"


def _said(script: str, trial: str) -> str:
    """The docstring of a trial, as one sentence after its name."""
    for name in (script, _SHARED):
        for node in ast.parse((TRIALS / f"{name}.py").read_text()).body:
            is_it = isinstance(node, ast.FunctionDef)
            if is_it and node.name == trial.replace(" ", "_"):
                said = " ".join((ast.get_docstring(node) or "").split())
                return f"{trial}: {said}".rstrip(".")
    return trial
