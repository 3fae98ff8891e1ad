"""`simbias doctor DIR`: whether the files of a run are what they should be."""

import dataclasses
import shlex
from collections.abc import Iterable
from typing import Literal

from simbias.cli._place import found_run
from simbias.ensemble.table import Table
from simbias.errors import BadInput
from simbias.store.documents import behind
from simbias.store.layout import Store
from simbias.store.plain import listing_fault, plain_faults
from simbias.validation.steps import said_of_steps

Verdict = Literal["ok", "hint", "wrong"]
# Files that are named, of those that are wrong.
_MOST = 5


@dataclasses.dataclass(frozen=True)
class Finding:
    """What was looked at, what was seen, and what can be done about it."""

    what: str
    verdict: Verdict
    seen: str
    advice: str = ""


def findings(folder: str) -> list[Finding]:
    """What there is to say of a run; nothing is written.

    Raises:
        ValueError: if it is not a run, or its root is damaged.
    """
    out, store = found_run(folder)
    advice = (
        f"To compute or write it again: {shlex.join(['simbias', 'resume', str(out)])}"
    )
    documents = _documents(store)
    found = [_finding("documents", documents, "agree with the root file", advice)]
    table, wrong = store.read(is_checked=False)
    blocks, done = store.attributes["extents"][-1]["blocks"], len(store.committed())
    seen = f"{done - len(wrong)} of {blocks} blocks are written and intact"
    found.append(_finding("blocks", wrong.values(), seen, advice))
    if not table.is_done().all():
        listing = listing_fault(store)
        faults = {} if listing is None else {"zarr.json": listing}
        seen = "will be written when all networks are done"
    else:
        faults, seen = plain_faults(store, table), "agree with the blocks"
    said = [f"{file} {fault}" for file, fault in faults.items()]
    return [*found, _finding("plain data", said, seen, advice), _steps(store, table)]


def _documents(store: Store) -> list[str]:
    """Documents that are missing or damaged."""
    try:
        return [f"{name} is missing" for name in behind(store.place)]
    except BadInput as error:
        return [str(error)]


def _steps(store: Store, table: Table) -> Finding:
    """Whether finished networks rejected too many steps."""
    is_done = table.is_done()
    counts = {k: column.values[is_done] for k, column in table.members.items()}
    if store.attributes["configuration"]["flow"].get("allow_kinks", False):
        counts.pop("rejected_again", None)
    said = said_of_steps(counts, counts["end_time"]) if is_done.any() else []
    if said:
        return Finding("steps", "hint", " ".join(said))
    return Finding("steps", "ok", "no finished network rejected too many steps")


def _finding(what: str, faults: Iterable[str], seen: str, advice: str) -> Finding:
    named = [*faults]
    if not named:
        return Finding(what, "ok", seen)
    more = len(named) - _MOST
    said = "; ".join(named[:_MOST]) + (f"; and {more} more" if more > 0 else "")
    return Finding(what, "wrong", said, advice)
