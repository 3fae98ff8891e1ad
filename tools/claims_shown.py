"""How claims are written on pages, and where an experiment has its page."""

import html
import pathlib
import re
from collections.abc import Iterable
from typing import Any

from simbias.preset_names import run_name
from simbias.registry import variants

DOCS = pathlib.Path(__file__).parent.parent / "docs"


def table(one: dict[str, Any]) -> str:
    """A line for every claim of a stored check."""
    lines = ["| claim | value [interval] | band | verdict |", "|---|---|---|---|"]
    for claim in one["claims"]:
        statement, ends = claim["statement"].replace("|", "\\|"), band(*claim["band"])
        lines.append(f"| {statement} | {value(claim)} | {ends} | {claim['verdict']} |")
    return "".join(f"{line}\n" for line in lines)


def band(low: float | None, high: float | None) -> str:
    """A band of expected values; an end that it lacks is None."""
    if low is None or high is None:
        ends = ("≥", low) if high is None else ("≤", high)
        return "any" if ends[1] is None else f"{ends[0]} {_number(ends[1])}"
    return f"{_number(low)} … {_number(high)}"


def value(claim: dict[str, Any]) -> str:
    """The value of a claim, with its interval if it has one."""
    text = _number(claim["value"])
    if (claim["low"], claim["high"]) != (claim["value"], claim["value"]):
        text += f" [{_number(claim['low'])}, {_number(claim['high'])}]"
    return text


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def tally(runs: Iterable[str], checked: dict[str, Any]) -> str:
    """Of the claims that apply."""
    claims = [c for run in runs for c in checked.get(run, {"claims": []})["claims"]]
    verdicts = [c["verdict"] for c in claims if c["verdict"] != "not applicable"]
    return f"{verdicts.count('supported')} of {len(verdicts)}"


def runs_of(names: Iterable[str]) -> list[str]:
    """Names of runs: of each experiment, and of its variants, as "threshold-sgd"."""
    every = [(name, ["quick", *variants(name)]) for name in names]
    return [run_name(name, preset) for name, presets in every for preset in presets]


def command_of(run: str) -> str:
    """How an experiment or a variant is run."""
    name, _, variant = run.partition("-")
    return f"simbias run {name}" + (f" --preset {variant}" if variant else "")


def page_of(run: str) -> str:
    """The page that runs an experiment or a variant first, among those of themes."""
    first = {}
    for path in DOCS.glob("*/[!R]*.md"):
        found = re.search(rf"{command_of(run)}(_paper)?\b", path.read_text())
        if found:
            first[path.relative_to(DOCS).as_posix()] = found.start()
    if not first:
        raise SystemExit(f"no page in docs/*/ has `{command_of(run)}`")
    return min(first, key=lambda page: first[page])


def as_text(said: str) -> str:
    """With the signs that would be mark-up shown as they are, but for `code`."""
    text, code = (r"([*_|\[\]])", r"([|])")
    parts = html.escape(said, quote=False).split("`")
    is_code = lambda i: i % 2 and i < len(parts) - 1
    return "`".join(
        re.sub(code if is_code(i) else text, r"\\\1", part)
        for i, part in enumerate(parts)
    )
