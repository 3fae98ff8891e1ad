"""What a finished run shows: its figure, and its claims as a table or as JSON."""

import dataclasses
import io
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import xarray as xr
from tqdm import tqdm

from simbias.core import Claim, Status
from simbias.results import is_failed, is_finished
from simbias.shown import draw
from simbias.store.place import AbstractPlace


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
        name = label.replace(" = ", "=").replace(", ", "_").replace("/", "_")
        for kind in formats:
            image = io.BytesIO()
            figure.savefig(image, format=kind, dpi=150)
            file = f"figure_{name}.{kind}" if name else f"figure.{kind}"
            images[file] = image.getvalue()
    check()
    for name, image in images.items():
        (out / name).write(image)
    return list(images)


def claims_document(
    name: str, preset: str, ds: xr.Dataset, claims: list[Claim]
) -> dict[str, Any]:
    """The claims of a run, with what was seen, as JSON-ready data."""
    return {
        "experiment": name,
        "preset": preset,
        **_counts(ds),
        "claims": [
            {
                **{k: _json_ready(v) for k, v in dataclasses.asdict(claim).items()},
                "verdict": claim.verdict,
            }
            for claim in claims
        ],
    }


def _json_ready(value: Any) -> Any:
    """JSON knows neither NaN nor infinity: both become null."""
    if isinstance(value, tuple):
        return [_json_ready(v) for v in value]
    is_number = isinstance(value, float)
    return None if is_number and not math.isfinite(value) else value


def _counts(ds: xr.Dataset) -> dict[str, int]:
    return {
        "members": int(ds["status"].size),
        "finished": int(is_finished(ds).sum()),
        "failed": int(is_failed(ds).sum()),
    }


def print_claims(name: str, ds: xr.Dataset, claims: list[Claim]) -> None:
    """The claims of a run as lines of text."""
    counts = _counts(ds)
    failures = ", ".join(
        f"{int((ds['status'] == s).sum())} {s.name}"
        for s in Status
        if s.is_failure and bool((ds["status"] == s).any())
    )
    tqdm.write(
        f"\n{name}: {counts['finished']} of {counts['members']} members finished"
        + (f" (failed: {failures})" if failures else "")
    )
    for claim in claims:
        tqdm.write(
            f"  {claim.verdict:9s} {claim.statement}: {_seen(claim)} "
            f"(expected {claim.low:.6g} … {claim.high:.6g}; {claim.source})"
        )


def _seen(claim: Claim) -> str:
    """What was observed, with its interval if it has one."""
    if claim.interval is None:
        return f"{claim.observed:.6g}"
    low, high = claim.interval
    return f"{claim.observed:.4g} [{low:.4g}, {high:.4g}]"


def write_json(place: AbstractPlace, document: Any) -> None:
    """A JSON file."""
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    place.write(text.encode())
