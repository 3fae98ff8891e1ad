"""Do the tests notice?  Small faults are put into the library, one at a time.

    uv run --with pytest-cov python tools/mutants.py --reach FILE [--json FILE]
        [--count 300] [--seed 0] [--jobs 2] [--budget 60] [--again] [--tests PATH ...]

The first call runs the tests, all or those of some folders, once and writes which test
reaches which line to FILE.
Then every mutant of a random sample is tried, in a copy of the tree, on the tests that
reach its line: first those that reach least besides, then those that use most of its
file.  A run that was stopped goes on; `--again --budget 300` tries the survivors once
more, on tests that take as long as that together.  A mutant that changes nothing anyone
could see may be judged so by hand: `"outcome": "equivalent"` in the JSON, with a
reason, is kept.
"""

import argparse
import ast
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree

from other_versions import ROOT, copied

PACKAGES = ("store", "validation", "ensemble", "flows", "measures")
# A test that reaches this share of the lines that any test does, of a file, uses it.
_USED = 0.8
# As many tests that reach the fewest lines come first.
_FOCUSSED = 20
# Seconds that its tests may take with a mutant, by those that they take without.
PATIENCE = lambda seconds: 120 + 5 * seconds

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMED = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
}


def mutations(tree: ast.Module) -> Iterator[tuple[ast.AST, str, ast.AST]]:
    """Every node that is changed, how, and what takes its place."""
    parents = {
        kid: node for node in ast.walk(tree) for kid in ast.iter_child_nodes(node)
    }
    for node in ast.walk(tree):
        if is_told_only(node, parents):
            continue
        if isinstance(node, ast.Compare):
            for i, operator in enumerate(node.ops):
                ops = [*node.ops]
                ops[i] = COMPARED[type(operator)]()
                yield node, "compare", ast.Compare(node.left, ops, node.comparators)
        elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
            other = COMPUTED[type(node.op)]()
            yield node, "compute", ast.BinOp(node.left, other, node.right)
        elif isinstance(node, ast.BoolOp):
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node, "combine", ast.BoolOp(other, node.values)
        elif isinstance(node, ast.UnaryOp):
            yield node, "drop sign", node.operand
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            no = ast.UnaryOp(ast.Not(), node.test)
            yield node.test, "negate", no
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, "flip", ast.Constant(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield node, "add one", ast.Constant(node.value + 1)
        elif isinstance(node, ast.Name | ast.Attribute) and is_called(node, parents):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in NAMED and isinstance(node, ast.Name):
                yield node, "rename", ast.Name(NAMED[name], ast.Load())
            elif name in NAMED:
                yield node, "rename", ast.Attribute(node.value, NAMED[name], ast.Load())
        elif isinstance(node, ast.AugAssign) and type(node.op) in COMPUTED:
            other = COMPUTED[type(node.op)]()
            yield node, "compute", ast.AugAssign(node.target, other, node.value)
        elif is_left_out(node):
            yield node, "leave out", ast.Pass()


def is_left_out(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return is_call or isinstance(node, ast.Continue | ast.Break)


def is_told_only(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """True for what is said and not done: texts, annotations, what errors say."""
    while node in parents:
        above = parents[node]
        if isinstance(above, ast.Raise | ast.JoinedStr | ast.AnnAssign | ast.arg):
            return not (isinstance(above, ast.AnnAssign) and node is above.value)
        if isinstance(above, ast.FunctionDef) and node is above.returns:
            return True
        node = above
    return False


def is_called(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    above = parents.get(node)
    return isinstance(above, ast.Call) and above.func is node


def all_mutants() -> list[dict]:
    """Every mutant of the packages, each with the text that takes a node's place."""
    found, seen = [], Counter()
    for package in PACKAGES:
        for path in sorted((ROOT / "simbias" / package).rglob("*.py")):
            text = path.read_text()
            for node, kind, other in mutations(ast.parse(text)):
                ast.copy_location(other, node)
                before = ast.get_source_segment(text, node)
                after = ast.unparse(ast.fix_missing_locations(other))
                after = after if isinstance(other, ast.stmt) else f"({after})"
                place = {"file": str(path.relative_to(ROOT)), "kind": kind}
                span = [node.lineno, node.col_offset, node.end_lineno]
                span.append(node.end_col_offset)
                mutant = {**place, "span": span, "before": before, "after": after}
                mutant["nth"] = seen[key({**mutant, "nth": 0})]
                seen[key({**mutant, "nth": 0})] += 1
                found.append(mutant)
    return found


def mutated(text: str, mutant: dict) -> str:
    first, start, last, end = mutant["span"]
    lines = text.encode().splitlines(keepends=True)
    before = b"".join(lines[: first - 1]) + lines[first - 1][:start]
    after = lines[last - 1][end:] + b"".join(lines[last:])
    return (before + mutant["after"].encode() + after).decode()


def reach(path: pathlib.Path, tests: list[str], jobs: int) -> dict:
    """Which of the tests reaches which line, and how long each takes; measured once."""
    if not path.exists():
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            command += ["--cov=simbias", "--cov-context=test", "--cov-report="]
            command += [f"--junitxml={folder / 'report.xml'}"]
            command += ["-n", str(jobs if jobs > 1 else 0), *tests]
            data = {"COVERAGE_FILE": str(folder / "coverage")}
            subprocess.run(command, cwd=ROOT, env={**os.environ, **data}, check=False)
            found = reached(folder / "coverage", folder / "report.xml")
        path.write_text(json.dumps({"made_from": tests, **found}))
    known = json.loads(path.read_text())
    if sorted(known["made_from"]) != sorted(tests):
        sys.exit(f"{path} was made from {known['made_from']}, not from {tests}")
    return known


def reached(data: pathlib.Path, report: pathlib.Path) -> dict:
    """What one run of the tests says; those that failed are no judges."""
    import coverage

    seconds = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is None and case.find("error") is None:
            file = case.get("classname", "").replace(".", "/") + ".py"
            seconds[f"{file}::{case.get('name')}"] += float(case.get("time", 0))
    covered = coverage.CoverageData(str(data))
    covered.read()
    tests = sorted(seconds, key=lambda test: seconds[test])
    number = {test: i for i, test in enumerate(tests)}
    lines = {}
    for file in covered.measured_files():
        by_line = covered.contexts_by_lineno(file).items()
        lines[str(pathlib.Path(file).relative_to(ROOT))] = {
            line: sorted({number[c] for c in names(contexts) if c in number})
            for line, contexts in by_line
        }
    return {"tests": tests, "seconds": [seconds[t] for t in tests], "lines": lines}


def names(contexts: list[str]) -> Iterator[str]:
    """The tests' names without the phase, which stands behind the last bar."""
    return (context.rpartition("|")[0] for context in contexts)


def tests_of(mutant: dict, known: dict, budget: float) -> tuple[list[str], float]:
    """The tests that reach a mutant, or else its file, as far as the budget goes."""
    lines = known["lines"].get(mutant["file"], {})
    first, last = mutant["span"][0], mutant["span"][2]
    near = {i for n in range(first, last + 1) for i in lines.get(str(n), [])}
    if not near:
        near = {i for found in lines.values() for i in found}
    # First those that reach little else, then those that use the file before those
    # that only make what is in it.  Last those beside them in their files: what JAX
    # has traced in one test it does not trace again in the next, which then seems not
    # to reach the line.
    uses = Counter(i for found in lines.values() for i in found)
    most = max((uses[i] for i in near), default=0)
    rank = {i: (uses[i] < _USED * most, i) for i in near}
    all_lines = [of for file in known["lines"].values() for of in file.values()]
    breadth = Counter(i for found in all_lines for i in found)
    for i in sorted(near, key=lambda i: breadth[i])[:_FOCUSSED]:
        rank[i] = (-1, i)
    files = {known["tests"][i].partition("::")[0] for i in near}
    for i, test in enumerate(known["tests"]):
        if test.partition("::")[0] in files:
            rank.setdefault(i, (2, i))
    chosen, total = [], 0.0
    for i in sorted(rank, key=lambda i: rank[i]):
        if chosen and total + known["seconds"][i] > budget:
            break
        chosen.append(known["tests"][i])
        total += known["seconds"][i]
    return chosen, total


def tried(mutant: dict, known: dict, budget: float, folder: pathlib.Path) -> dict:
    """What became of a mutant in a copy of the tree."""
    tests, seconds = tests_of(mutant, known, budget)
    if not tests:
        return {**mutant, "outcome": "survived", "tests": 0}
    path, cache = folder / mutant["file"], folder.with_suffix(".cache")
    text = path.read_text()
    arguments = folder.with_suffix(".tests")
    arguments.write_text("\n".join(tests))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p"]
    command += ["no:cacheprovider", f"@{arguments}"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "JAX_COMPILATION_CACHE_DIR": str(cache),
    }
    began = time.monotonic()
    path.write_text(mutated(text, mutant))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=PATIENCE(seconds))
        outcome = "killed" if process.returncode else "survived"
    except subprocess.TimeoutExpired:
        outcome, said = "killed", "too slow"
        shutil.rmtree(cache, ignore_errors=True)
    finally:
        # Also what the tests have started.
        killed(process)
        path.write_text(text)
    last = [line for line in said.splitlines() if line.strip()][-1:]
    return {
        **mutant,
        "outcome": outcome,
        "tests": len(tests),
        "seconds": round(time.monotonic() - began, 1),
        "said": "" if outcome == "survived" else "".join(last)[:160],
    }


def killed(process: subprocess.Popen) -> None:
    """End a process and all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def key(mutant: dict) -> tuple:
    """What a mutant is known by while the lines around it move."""
    return tuple(mutant[name] for name in ("file", "kind", "before", "after", "nth"))


def lot(mutant: dict, seed: int) -> bytes:
    """What a sample is drawn by: the same for a mutant whatever is beside it."""
    return hashlib.sha256(repr((seed, key(mutant))).encode()).digest()


def written(path: pathlib.Path | None, options, rows: list[dict], total: int) -> None:
    counts = Counter(row["outcome"] for row in rows)
    judged = counts["killed"] + counts["survived"]
    score = round(counts["killed"] / judged, 4) if judged else None
    print(f"{len(rows)} of {options.count}: {dict(counts)}, score {score}", flush=True)
    document = {"score": score, "outcomes": counts, "seed": options.seed}
    document |= {"mutants": total, "budget_seconds": options.budget}
    document |= {"tests": options.tests, "rows": rows}
    if path is not None:
        path.write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reach", type=pathlib.Path, required=True)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--tests", nargs="+", default=["tests"])
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    known = reach(options.reach, options.tests, options.jobs)
    everything = all_mutants()
    now = {key(mutant): mutant for mutant in everything}
    rows = []
    if options.json and options.json.exists():
        rows = json.loads(options.json.read_text())["rows"]
        rows = [row for row in rows if key(row) in now]
    drawn = sorted(everything, key=lambda mutant: lot(mutant, options.seed))
    done = {key(row) for row in rows}
    left = [mutant for mutant in drawn if key(mutant) not in done]
    left = left[: max(options.count - len(rows), 0)]
    if options.again:
        again = [row for row in rows if row["outcome"] == "survived"]
        left = [now[key(row)] for row in again]
        rows = [row for row in rows if row not in again]
    with (
        tempfile.TemporaryDirectory() as name,
        concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
    ):
        free = [pathlib.Path(name) / f"copy{i}" for i in range(options.jobs)]
        for folder in free:
            folder.mkdir()
            copied(folder)

        def attempt(mutant: dict) -> dict:
            folder = free.pop()
            try:
                return tried(mutant, known, options.budget, folder)
            finally:
                free.append(folder)

        for row in pool.map(attempt, left):
            rows.append(row)
            written(options.json, options, rows, len(everything))


if __name__ == "__main__":
    main()
