"""What more seeds decide of the claims that are inconclusive, as tables.

Read from `benchmarks/results/decided`, which `benchmarks/decided.py` writes, and from
the stored checks of quick size.
"""

import collections
import json
import math
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from claims_shown import band, command_of, value

from simbias.core import VERDICTS

DECIDED = pathlib.Path(__file__).parent.parent / "benchmarks" / "results" / "decided"
Checks = dict[str, dict[str, Any]]
OPEN = "inconclusive"


def open_claims(kind: str, checked: Checks, place: pathlib.Path = DECIDED) -> str:
    """One of three tables: "totals", "turned", or "left".

    Args:
        kind: "totals" counts verdicts before and after, "turned" has a line for every
            claim whose verdict is another one, "left" one for every inconclusive claim.
        checked: the stored check of every run.
        place: folder of the checks with more seeds.
    """
    after = {f.stem: json.loads(f.read_text()) for f in sorted(place.glob("*.json"))}
    lines = {"totals": _totals, "turned": _turned, "left": _left}[kind]
    return "".join(f"{line}\n" for line in lines(checked, after))


class Pair(NamedTuple):
    """A claim in the quick check and with more seeds; None where it is not there."""

    run: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


def pairs(checked: Checks, after: Checks) -> Iterator[Pair]:
    """Claims of the runs that finished with more seeds, joined by their statements."""
    for run, found in after.items():
        old = {claim["statement"]: claim for claim in checked[run]["claims"]}
        for claim in found["claims"]:
            yield Pair(run, old.pop(claim["statement"], None), claim)
        if not found["is_stopped"]:
            for claim in old.values():
                yield Pair(run, claim, None)


def _totals(checked: Checks, after: Checks) -> list[str]:
    """Verdicts of all claims, and of the runs with more seeds, before and after.

    The last line has the quick verdict where that is decided.
    """
    done = {run: one for run, one in after.items() if not one["is_stopped"]}
    of = lambda checks: [c for one in checks.values() for c in one["claims"]]
    rows = {
        f"{len(checked)} checks, quick": of(checked),
        "the same, with more seeds": of({**checked, **done}),
        f"{len(done)} of them that were given more seeds, quick": of(
            {run: checked[run] for run in done}
        ),
        "the same, with more seeds ": of(done),
        "quick, and with more seeds where that is inconclusive": [
            *of({run: one for run, one in checked.items() if run not in done}),
            *(_kept(old, new) for _, old, new in pairs(checked, done)),
        ],
    }
    lines = [f"| claims of | {' | '.join(VERDICTS)} |", "|---" * 5 + "|"]
    for title, claims in rows.items():
        count = collections.Counter(claim["verdict"] for claim in claims)
        cells = " | ".join(str(count[verdict]) for verdict in VERDICTS)
        lines.append(f"| {title.strip()} | {cells} |")
    return lines


def _kept(old: dict[str, Any] | None, new: dict[str, Any] | None) -> dict[str, Any]:
    """The first of the two that is decided, or the last."""
    if old is None or (new is not None and old["verdict"] == OPEN):
        assert new is not None
        return new
    return old


def _turned(checked: Checks, after: Checks) -> list[str]:
    """The claims whose verdict is another one with more seeds."""
    lines = [
        "| run | claim | band | quick | with more seeds | seeds | verdict |",
        "|---" * 7 + "|",
    ]
    for run, old, new in pairs(checked, after):
        if old is None or new is None or old["verdict"] == new["verdict"]:
            continue
        verdict = f"{old['verdict']} → {new['verdict']}"
        cells = [_text(new), band(*new["band"]), value(old), value(new), new["seeds"]]
        lines.append(_line(f"`{command_of(run)}`", *cells, verdict))
    return lines


def _left(checked: Checks, after: Checks) -> list[str]:
    """The claims that are inconclusive, why, and what deciding them would cost."""
    lines = [
        "| run | claim | value [interval] | band | seeds | why | cost |",
        "|---" * 7 + "|",
    ]
    for run, one in sorted({**checked, **after}.items()):
        is_old = run not in after or one["is_stopped"]
        for claim in checked[run]["claims"] if is_old else one["claims"]:
            if claim["verdict"] != OPEN:
                continue
            reason, cost = _why_old(after.get(run)) if is_old else _why(claim, one)
            cells = [_text(claim), value(claim), band(*claim["band"])]
            seeds = claim.get("seeds", "quick")
            lines.append(_line(f"`{command_of(run)}`", *cells, seeds, reason, cost))
    return lines


def _why_old(stopped: dict[str, Any] | None) -> tuple[str, str]:
    if stopped is None:
        return "not run with more seeds", "not known"
    return "the run was stopped", f"over {_time(stopped['processor_seconds'])}"


def _why(claim: dict[str, Any], one: dict[str, Any]) -> tuple[str, str]:
    """Why a claim is open after the last look, and about how long it would take."""
    if claim["value"] is None:
        return "no finite value", "seeds do not decide"
    if claim["level"] == 1:
        return "every network counts", "seeds do not decide"
    needed = claim["seeds_needed"]
    if needed is None:
        return "at the edge of the band", "over 1000 times the seeds"
    more = max(needed - claim["seeds"], 0)
    return "budget spent", f"{needed:,} seeds, {_time(more * seconds_per_seed(one))}"


def seconds_per_seed(one: dict[str, Any]) -> float:
    """Processor seconds that a further seed takes in all cells of the grid."""
    seeds = max(claim["seeds"] for claim in one["claims"])
    cells = one["members"] / seeds
    return one["processor_seconds"] * cells / max(one["finished"], 1)


def _time(seconds: float) -> str:
    """With a unit, in two digits."""
    for unit, length in (("h", 3600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= length or unit == "s":
            break
    number = seconds / length
    digits = max(1 - math.floor(math.log10(number)), 0) if number > 0 else 0
    return f"{number:.{min(digits, 1)}f} {unit}"


def _text(claim: dict[str, Any]) -> str:
    return claim["statement"].replace("|", "\\|")


def _line(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"
