"""`simbias ledger`."""

import collections
import dataclasses
import json as _json
import pathlib
from typing import Annotated, Any

import tyro

from simbias.cli._terminal import put
from simbias.errors import BadInput
from simbias.ledger.paper import Paper, Statement, papers
from simbias.ledger.stored_checks import StoredChecks, stored_checks
from simbias.suggestion import suggestion


@dataclasses.dataclass(frozen=True)
class LedgerOptions:
    """The papers behind the experiments, with the claims on each of their results."""

    papers: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Papers, by name, arXiv number or author: all their claims are printed.  Without
    names, the claims of all papers are counted."""
    missing: bool = False
    """Print only results for which something is missing."""
    checked: pathlib.Path | None = None
    """Checks to read: a file of `simbias check --json`, or a folder of such files.  By
    default those stored in a clone of the repository."""
    json: bool = False
    """Print JSON."""


def ledger(arguments: list[str]) -> int:
    """Print what there is of every statement, and what is missing."""
    parsed = tyro.cli(LedgerOptions, args=arguments, prog="simbias ledger")
    chosen, seen = _chosen(parsed.papers), stored_checks(parsed.checked)
    if parsed.missing:
        left = [(one, [s for s in one.statements if s.missing]) for one in chosen]
        chosen = [
            dataclasses.replace(one, statements=tuple(kept), beside=())
            for one, kept in left
            if kept
        ]
    rows_of = {
        one.key: [_row(one, s, seen) for s in (*one.statements, *one.beside)]
        for one in chosen
    }
    if parsed.json:
        rows = [row for of_one in rows_of.values() for row in of_one]
        put(_json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    for i, one in enumerate(chosen):
        put("\n" * (i > 0) + f"{one.key}: {one.paper}, {one.source}")
        put(f"  (from: {one.read})")
        for row in rows_of[one.key]:
            _print(row, with_claims=bool(parsed.papers))
    return 0


def _chosen(words: tuple[str, ...]) -> list[Paper]:
    """All papers, or those that are meant."""
    known, found = papers(), {}
    for word in words:
        meant = [p for p in known.values() if _is_meant(word.lower(), p)]
        if not meant:
            raise BadInput(f"`{word}` is not a paper.{suggestion(word, known)}")
        found |= {p.key: p for p in meant}
    return [*(found if words else known).values()]


def _is_meant(word: str, paper: Paper) -> bool:
    number = word.removeprefix("arxiv:")
    is_source = bool(number) and paper.source.lower().endswith(number)
    return word == paper.key or is_source or word in paper.authors.lower()


def _row(paper: Paper, statement: Statement, seen: StoredChecks) -> dict[str, Any]:
    """A statement with what was seen; `claims` is None where no check is stored."""
    tried = [
        {
            "experiment": one.experiment,
            "preset": one.preset,
            "setting": one.setting,
            "command": one.command(seen),
            "claims": one.seen(seen),
        }
        for one in statement.tried
    ]
    about = {"paper": paper.key, "number": statement.number, "says": statement.says}
    return {**about, "tried": tried, "missing": statement.missing or None}


def _print(row: dict[str, Any], *, with_claims: bool) -> None:
    put(f"  {row['number']}: {row['says']}")
    if row["missing"]:
        put(f"    MISSING: {row['missing']}")
    for one in row["tried"]:
        size = f"{one['preset']}, {one['setting']}"
        put(f"    {one['command']}  ({size}): {_tally(one['claims'])}")
        for claim in (one["claims"] or ()) if with_claims else ():
            value = "none" if claim["value"] is None else f"{claim['value']:.4g}"
            ends = [claim["low"], claim["high"]]
            if None not in ends and ends != [claim["value"]] * 2:
                value += f" [{ends[0]:.4g}, {ends[1]:.4g}]"
            value += f"; needs {claim['needs']}" if claim["needs"] else ""
            put(f"      {claim['verdict']:14s} {claim['statement']}: {value}")


def _tally(claims: list[dict[str, Any]] | None) -> str:
    """How many claims have which verdict."""
    if claims is None:
        return "no stored check"
    verdicts = collections.Counter(claim["verdict"] for claim in claims)
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
