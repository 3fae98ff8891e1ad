"""Two runs side by side, and what differs, with intervals."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from simbias.core import Status
from simbias.errors import BadInput
from simbias.report import _sections as parts
from simbias.report._html import Element, element
from simbias.report._packed_numbers import PackedNumbers
from simbias.report.numbers import numbers
from simbias.report.page_contents import PageContents
from simbias.report.report import page, theme_button
from simbias.verbs.compare import ESTIMATE, compare

# Of a quantity of one run, what is true of a difference too.
_KEPT = ("name", "title", "long", "units", "hasTime", "isLoss", "isOfSolver")


def comparison(
    a: PageContents, b: PageContents, names: tuple[str, str] = ("A", "B")
) -> str:
    """The page of two runs over the same axes.

    Curves are of what both recorded, on the values of axes and at the times that both
    have.

    Args:
        a: what `page_contents` makes of a result.
        b: of another one.
        names: what they are called besides A and B: their folders.

    Raises:
        ValueError: if they have other axes, or nothing in common.
    """
    apart = compare(a.ds, b.ds)
    axes = [str(dim) for dim in a.ds["status"].dims if dim != "seed"]
    shared = {
        k: np.asarray(apart[k].values) for k in (*axes, "time") if k in apart.dims
    }
    both = [str(name) for name in apart.data_vars if f"{name}.pairs" in apart]
    parts_of = [_part(run.ds, shared, both) for run in (a, b)]
    document: dict[str, Any] = {"runs": [numbers(ds) for ds in parts_of]}
    document["difference"] = _difference(apart, axes, document["runs"][0])
    header = element(
        "header",
        element("p", "simbias · two runs", class_="name"),
        theme_button(),
        element("h1", a.question if a.question == b.question else "Two runs"),
        _named(a, "A", names[0]),
        _named(b, "B", names[1]),
    )
    sides = lambda made: _sides((a, b), made)
    sections = [
        parts.section("differs", "What differs", _differing(apart), _paired(apart)),
        parts.look_closer(is_pair=True),
        parts.difference(),
        parts.section("answer", "The figures", sides(parts.figures)),
        parts.section("claims", "The claims", sides(parts.claims)),
        parts.section("run", "The runs", sides(parts.about)),
    ]
    return page(f"{names[0]} and {names[1]}", header, sections, document)


def _part(ds: xr.Dataset, shared: dict[str, np.ndarray], both: list[str]) -> xr.Dataset:
    """What both recorded, on the values that both have."""
    return ds[["status", *both]].sel(shared)


def _named(run: PageContents, letter: str, name: str) -> Element:
    text = element("p", element("b", letter), f" {name}")
    return element("div", text, *parts.answer(run), class_="answer")


def _sides(
    runs: tuple[PageContents, PageContents],
    made: Callable[[PageContents], Element | None],
) -> Element | None:
    """What is made of either run beside each other, each under its letter."""
    both = [made(run) for run in runs]
    if both == [None, None]:
        return None
    sides = [
        element("div", element("h3", letter), _none(run) if one is None else one)
        for letter, run, one in zip("AB", runs, both, strict=True)
    ]
    return element("div", *sides, class_="pair narrow")


def _none(run: PageContents) -> Element:
    """Why nothing is made of a run."""
    is_running = bool((run.ds["status"] == Status.RUNNING).any())
    text = "Not finished: none are made." if is_running else "There are none."
    return element("p", text, class_="hint")


def _differing(apart: xr.Dataset) -> Element:
    rows = [
        element("tr", element("td", name), *(element("td", _text(v)) for v in pair))
        for name, pair in json.loads(apart.attrs["differs"]).items()
    ]
    if not rows:
        return element("p", "Nothing of their configurations.")
    heads = [element("th", head, scope="col") for head in ("Argument", "A", "B")]
    table = element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_="plain",
    )
    label = "What differs in the configurations"
    return element(
        "div", table, class_="scroll", tabindex="0", role="region", aria_label=label
    )


def _paired(apart: xr.Dataset) -> Element:
    """Whether differences are of pairs, which makes intervals narrow."""
    names = json.loads(apart.attrs["independent"])
    text = "Networks of one seed have the same sample and the same start in A and in B."
    if names is None:
        text = "It is not known whether networks of one seed have the same sample."
    elif names:
        text = (
            "Networks of one seed have different samples and starts in A and in B, "
            f"because {', '.join(names)} differ{'s' * (len(names) == 1)}. "
            "So the intervals of differences are wider."
        )
    return element("p", text)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) < 400 else f"{text[:400]}…"


def _difference(
    apart: xr.Dataset, axes: list[str], first: dict[str, Any]
) -> dict[str, Any]:
    """Means of A − B with their intervals, as the script reads them."""
    packed, quantities = PackedNumbers(), []
    cells = int(np.prod([apart.sizes[k] for k in axes], dtype=int))
    for one in first["quantities"]:
        if one["name"] not in apart:
            continue  # a component of a measure
        array = apart[one["name"]]
        more = ["time"] if "time" in array.dims else []
        values = array.transpose("estimate", *axes, *more).values
        values = values.reshape(3, cells, *values.shape[len(axes) + 1 :])
        pairs = apart[f"{one['name']}.pairs"].transpose(*axes, *more).values
        quantities.append(
            {key: one[key] for key in _KEPT}
            | {k: packed.add(v) for k, v in zip(ESTIMATE, values, strict=True)}
            | {"pairs": packed.add(pairs.astype(np.float32).reshape(values.shape[1:]))}
        )
    if not quantities:
        raise BadInput("the two runs recorded no number that both have.")
    return {
        "axes": first["axes"],
        "times": packed.add(np.asarray(apart["time"].values, float)),
        "quantities": quantities,
        "packed": packed.text(),
    }
