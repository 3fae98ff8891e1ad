"""What was run: configuration, versions, device, and how its members ended."""

import json
from typing import Any

import numpy as np
import xarray as xr

from simbias.core import Status
from simbias.report._html import Element, element


def run_table(ds: xr.Dataset, origin: str = "", time_taken: str = "") -> Element:
    """A list of what decides the result, and of what it was computed with."""
    stored = json.loads(ds.attrs.get("configuration", "{}"))
    versions = json.loads(ds.attrs.get("versions", "{}"))
    cell = dict(stored.get("cell", {}))
    rows = [("experiment", origin or str(stored.get("name", "")))]
    rows += [(name, _plain(value)) for name, value in cell.items()]
    rows.append(("seeds per cell", str(ds.sizes["seed"])))
    flow = dict(stored.get("flow", {}))
    rows += [("flow", _call(flow)), ("loss", _short(stored.get("loss", "")))]
    times = ds["time"].values
    if times.size:
        rows.append(("times", f"{times.size}, from {times[0]:.4g} to {times[-1]:.4g}"))
    rows.append(
        ("numbers", f"{stored.get('dtype', '')}, root {stored.get('root', '')}")
    )
    if stored.get("stop"):
        rows.append(("ends early", _call(stored["stop"])))
    if time_taken:
        rows.append(("took", time_taken))
    rows.append(("device", _device(str(ds.attrs.get("device", "")))))
    rows.append(("versions", ", ".join(f"{k} {v}" for k, v in versions.items())))
    if "citation" in ds.attrs:
        rows.append(("to be cited as", str(ds.attrs["citation"])))
    items = [e for k, v in rows for e in (element("dt", k), element("dd", v))]
    whole = json.dumps(stored, indent=1, ensure_ascii=False)
    return element(
        "div",
        element("dl", *items, class_="run"),
        element(
            "details",
            element("summary", "The whole configuration, as JSON"),
            element("pre", whole, tabindex="0"),
        ),
    )


def counts(ds: xr.Dataset) -> dict[str, int]:
    """Members by how they ended; only what there is."""
    status = ds["status"].values
    found = {one: int(np.sum(status == one)) for one in Status}
    return {one.name: count for one, count in found.items() if count}


def status_table(ds: xr.Dataset) -> Element:
    """Statuses with their counts, what each one means, and where failures are."""
    total = ds["status"].size
    rows = [
        element(
            "tr",
            element("td", _words(name)),
            element("td", f"{count:,} of {total:,}", class_="number"),
            element("td", Status[name].message),
        )
        for name, count in counts(ds).items()
    ]
    heads = [element("th", h, scope="col") for h in ("Ended", "Networks", "That is")]
    return element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_="plain",
    )


def said(ds: xr.Dataset) -> str:
    """How many networks finished, failed or run, in a line."""
    status, total = ds["status"].values, ds["status"].size
    failed = int(np.isin(status, [s for s in Status if s.is_failure]).sum())
    running = int((status == Status.RUNNING).sum())
    out = f"{total - failed - running:,} of {total:,} networks finished"
    out += f", {failed:,} failed" if failed else ""
    return out + (f", {running:,} not finished" if running else "")


def _device(text: str) -> str:
    """`cpu` of `cpu:cpu`; a platform and a kind that differ stay as they are."""
    platform, _, kind = text.partition(":")
    return platform if platform == kind else text


def _words(name: str) -> str:
    return name.replace("_", " ").lower()


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    if isinstance(value, dict):
        return _call(value)
    if isinstance(value, float):
        return f"{value:g}"
    return _short(value) if isinstance(value, str) else str(value)


def _call(value: Any) -> str:
    """A component as it would be written: `ReluFlow(rtol=0.0001)`."""
    if not isinstance(value, dict):
        return _short(str(value))
    fields = {k: v for k, v in value.items() if k != "type" and v is not None}
    inner = ", ".join(f"{k}={_plain(v)}" for k, v in fields.items())
    return f"{value.get('type', '')}({inner})"


def _short(text: str) -> str:
    """`half_mse` of `simbias.losses.half_mse`."""
    is_path = text.startswith("simbias.") and " " not in text
    return text.rpartition(".")[2] if is_path else text
