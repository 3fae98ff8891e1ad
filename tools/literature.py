"""What is said of papers, statement by statement, as tables."""

import collections
from typing import Any

from claims_shown import as_text, page_of, tally, value

from simbias.ledger.paper import Paper, Statement, Tried, papers
from simbias.ledger.stored_checks import StoredChecks, stored_checks
from simbias.preset_names import run_name

# Claims that are shown of a statement, before the rest is counted.
MOST = 6


def literature() -> str:
    """Paper by paper, statement by statement."""
    known, checks = papers().values(), stored_checks()
    every = [statement for paper in known for statement in paper.statements]
    left = sum(bool(statement.missing) for statement in every)
    beside = sum(len(paper.beside) for paper in known)
    lines = [
        f"{len(known)} papers, {len(every)} statements: {len(every) - left} are looked "
        f"at, {left} are missing. {beside} things beside them, which no paper says, "
        "are listed and not counted.",
        "",
        "| paper | statements | missing | claims about them that are supported |",
        "|---|---|---|---|",
    ]
    for paper in sorted(known, key=lambda paper: paper.authors):
        seen = {
            (one.experiment, one.preset, claim["statement"]): claim
            for statement in paper.statements
            for one in statement.tried
            for claim in _seen(one, checks)
        }
        held = tally([paper.key], {paper.key: {"claims": [*seen.values()]}})
        gone = sum(bool(statement.missing) for statement in paper.statements)
        name = f"[{as_text(paper.authors)}](#{paper.key.replace('_', '-')})"
        lines.append(f"| {name} | {len(paper.statements)} | {gone or ''} | {held} |")
    for paper in sorted(known, key=lambda paper: paper.authors):
        lines += ["", *_of_paper(paper, checks)]
    return "".join(f"{line}\n" for line in lines)


def recent(first: str) -> str:
    """The statements of papers of this year and later, the newest first."""
    checks = stored_checks()
    known = [paper for paper in papers().values() if paper.year >= int(first)]
    known.sort(key=lambda paper: (-paper.year, paper.authors))
    lines = ["| paper | it says | looked at by | seen |", "|---|---|---|---|"]
    for paper in known:
        key = paper.key.replace("_", "-")
        name = f"[{as_text(paper.authors)}](ledger.md#{key}), {paper.source}"
        for statement in paper.statements:
            lines += _of_statement(statement, checks, name, most=2)
    return "".join(f"{line}\n" for line in lines)


def _seen(one: Tried, checks: StoredChecks) -> list[dict[str, Any]]:
    """The claims about a statement, of which some must be stored."""
    claims = one.seen(checks)
    if not claims:
        raise SystemExit(f"nothing is stored of {one}")
    return claims


def _of_paper(paper: Paper, checks: StoredChecks) -> list[str]:
    """A section; its title is the key, so that a link to it is short."""
    lines = [f"## {paper.key.replace('_', ' ')}", ""]
    lines += [f"{as_text(paper.paper)}, {paper.source}. From: {paper.read}.", ""]
    lines += ["| statement | it says | looked at by | seen |", "|---|---|---|---|"]
    return lines + [
        row
        for statement in (*paper.statements, *paper.beside)
        for row in _of_statement(statement, checks, as_text(statement.number))
    ]


def _of_statement(
    statement: Statement, checks: StoredChecks, name: str, most: int = MOST
) -> list[str]:
    first = f"| {name} | {as_text(statement.says)} |"
    if statement.missing:
        return [f"{first} **missing** | {as_text(statement.missing)} |"]
    lines = []
    for one in statement.tried:
        order = ("contradicted", "inconclusive", "supported", "not applicable")
        claims = sorted(_seen(one, checks), key=lambda c: order.index(c["verdict"]))
        shown = [_one_claim(claim) for claim in claims[:most]]
        rest = collections.Counter(claim["verdict"] for claim in claims[most:])
        shown += [f"and {count} more: {verdict}" for verdict, count in rest.items()]
        run = run_name(one.experiment, one.preset.removesuffix("_paper"))
        command = f"[`{one.command(checks)}`]({page_of(run)})"
        size = f"{one.preset}, {one.setting}"
        lines.append(f"{first} {command}, {size} | {'<br>'.join(shown)} |")
        first = "| | |"
    return lines


def _one_claim(claim: dict[str, Any]) -> str:
    needs = f" (needs {as_text(claim['needs'])})" if claim["needs"] else ""
    seen = f"{value(claim)}, **{claim['verdict']}**{needs}"
    return f"{as_text(claim['statement'])}: {seen}"
