"""What a finished run shows: its figure, and its claims as a table or as JSON."""

import collections
import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Container, Sequence
from typing import Any

import xarray as xr

from simbias.cli._terminal import put
from simbias.core import VERDICTS, Claim, Status
from simbias.results import is_failed, is_finished
from simbias.store.place import AbstractPlace
from simbias.verbs.decide import Decided
from simbias.verbs.phenomenon import draw

# Bytes of the name of a file.
_LONGEST = 200


def write_figures(
    module: Any,
    ds: xr.Dataset,
    out: AbstractPlace,
    formats: Sequence[str],
    check: Callable[[], None] = lambda: None,
) -> list[str]:
    """The figures of a run, unless `check` raises once they are drawn; their names."""
    images = {}
    for label, figure in draw(module, ds).items():
        for kind in formats:
            image = io.BytesIO()
            figure.savefig(image, format=kind, dpi=150)
            images[_free(label, kind, images)] = image.getvalue()
    check()
    for name, image in images.items():
        (out / name).write(image)
    for kind in formats:
        # Of the time when the run was not cut into parts.
        if f"figure.{kind}" not in images and (out / f"figure.{kind}").exists():
            (out / f"figure.{kind}").delete()
    return list(images)


def _free(label: str, kind: str, taken: Container[str]) -> str:
    """Name of the file of a part, which no other part has."""
    name = re.sub(r"[^\w=.+-]", "_", label.replace(" = ", "=").replace(", ", "_"))
    file = f"figure_{name}.{kind}" if name else f"figure.{kind}"
    if file in taken or len(file.encode()) > _LONGEST:
        digest = hashlib.sha256(label.encode()).hexdigest()[:8]
        file = f"figure_{name[:40]}-{digest}.{kind}"
    return file


def claims_document(
    name: str, preset: str, ds: xr.Dataset, claims: Sequence[Claim | Decided]
) -> dict[str, Any]:
    """The claims of a run, with what was seen, as JSON-ready data.

    Of those that seeds were added for, with how many each was judged, and about how
    many would decide it.
    """
    return {
        "experiment": name,
        "preset": preset,
        **_counts(ds),
        "claims": [_of_claim(claim) for claim in claims],
    }


def verdicts_of(documents: Sequence[dict[str, Any]]) -> str:
    """How the claims of several experiments came out, counted."""
    claims = [c for document in documents for c in document["claims"]]
    count = collections.Counter(c["verdict"] for c in claims)
    verdicts = ", ".join(f"{word} {count[word]}" for word in VERDICTS)
    return f"claims {len(claims)}: {verdicts}"


def tally_of(documents: Sequence[dict[str, Any]]) -> str:
    """`verdicts_of`, and what chance alone would do.

    A true claim is contradicted if its interval lies beyond one end of the band, for
    which it must miss the truth on that side: with probability (1 − level)/2 at most.
    """
    claims = [c for document in documents for c in document["claims"]]
    applicable = [c for c in claims if c["verdict"] != "not applicable"]
    # Without an interval, or with one that is a tolerance, there is no chance in it.
    chances = [(1 - c["level"]) / 2 for c in applicable if c["low"] != c["high"]]
    chances = [chance for chance in chances if chance > 0]
    return (
        f"{verdicts_of(documents)}\n"
        f"By chance, at most {sum(chances):.2g} of the {len(chances)} claims with an "
        "interval would be contradicted if all were true, and as many supported if all "
        "were false."
    )


def _of_claim(claim: Claim | Decided) -> dict[str, Any]:
    if isinstance(claim, Decided):
        counts = {"seeds": claim.seeds, "seeds_needed": claim.needed}
        return {**_of_claim(claim.claim), **counts}
    seen = claim.estimate
    return {
        "statement": claim.statement,
        "value": _json_ready(seen.value),
        "low": _json_ready(seen.low),
        "high": _json_ready(seen.high),
        "level": seen.level,
        "method": seen.method,
        "band": [_json_ready(claim.low), _json_ready(claim.high)],
        "verdict": claim.verdict,
        "needs": claim.needs,
        "source": claim.source,
    }


def _json_ready(value: float) -> float | None:
    """JSON knows neither NaN nor infinity: both become null."""
    return value if math.isfinite(value) else None


def _counts(ds: xr.Dataset) -> dict[str, int]:
    return {
        "members": int(ds["status"].size),
        "finished": int(is_finished(ds).sum()),
        "failed": int(is_failed(ds).sum()),
    }


def print_claims(name: str, ds: xr.Dataset, claims: Sequence[Claim | Decided]) -> None:
    """The claims of a run as lines of text."""
    counts = _counts(ds)
    failures = ", ".join(
        f"{int((ds['status'] == s).sum())} {s.name}"
        for s in Status
        if s.is_failure and bool((ds["status"] == s).any())
    )
    put(
        f"\n{name}: {counts['finished']} of {counts['members']} networks finished"
        + (f" (failed: {failures})" if failures else "")
    )
    for one in claims:
        claim, needs = (one, "") if isinstance(one, Claim) else (one.claim, "")
        if isinstance(one, Decided):
            needs = f"; {one.seeds} seeds"
            needs += f", about {one.needed:,} would decide" if one.needed else ""
        seen = claim.estimate
        if claim.needs:  # what was seen is not about the claim
            put(f"  {claim.verdict:14s} {claim.statement}: needs {claim.needs}")
            continue
        put(
            f"  {claim.verdict:14s} {claim.statement}: {seen.value:.6g} "
            f"[{seen.low:.6g}, {seen.high:.6g}] {seen.method}{needs} "
            f"(expected {claim.low:.6g} … {claim.high:.6g}; {claim.source})"
        )


def write_json(place: AbstractPlace, document: Any) -> None:
    """A JSON file."""
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    place.write(text.encode())
