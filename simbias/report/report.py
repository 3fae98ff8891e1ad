"""A run as one page of HTML that needs no network and no server."""

import json
from collections.abc import Iterable
from typing import Any

from simbias.report import _sections as parts
from simbias.report._assets import library, policy, script, style_sheet
from simbias.report._html import Element, element, raw, written
from simbias.report.numbers import numbers
from simbias.report.page_contents import PageContents
from simbias.report.run_table import counts


def report(run: PageContents, *, is_live: bool = False) -> str:
    """The page of a run: its question, answer, claims, figures and numbers.

    Args:
        run: what `page_contents` makes of a result.
        is_live: it asks the server that it is from for newer numbers.
    """
    sections = [
        parts.answer_section(run),
        parts.section("claims", "The claims", parts.claims(run)),
        parts.look_closer(is_pair=False),
        parts.one_member(),
        parts.section("run", "The run", parts.about(run)),
    ]
    header = element(
        "header",
        element("p", f"simbias · {run.name}", class_="name"),
        theme_button(),
        element("h1", run.question or run.name),
        parts.opening(run),
        _progress(run) if is_live else parts.answer(run),
    )
    document = {"runs": [numbers(run.ds, run.experiment)], "isLive": is_live}
    title = f"{run.name}: {run.question}" if run.question else run.name
    return page(title, header, sections, document)


def page(
    title: str,
    header: Element,
    sections: Iterable[Element | None],
    document: dict[str, Any],
) -> str:
    """A whole page, with the numbers that its script draws from."""
    body = [one for one in sections if one is not None]
    links = [
        element("li", element("a", one.findtext("h2") or "", href=f"#{one.get('id')}"))
        for one in body
    ]
    notes = [note for run in document["runs"] for note in run["notes"]]
    notes.append(
        "Numbers of this page are rounded to four digits; those of the run are not."
    )
    data = json.dumps(document, separators=(",", ":"), allow_nan=False)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content=policy(is_live=document.get("isLive", False)),
        ),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        raw("style", style_sheet()),
    )
    wrap = element(
        "div",
        header,
        element("nav", element("ul", *links), aria_label="Parts of this page"),
        element(
            "noscript", element("p", "Curves and single networks need JavaScript.")
        ),
        element("p", id="wrong", role="alert"),
        element("main", *body, id="main"),
        element("footer", *(element("p", note) for note in notes)),
        class_="wrap",
    )
    return written(
        element(
            "html",
            head,
            element(
                "body",
                element("a", "To the content", href="#main", class_="skip"),
                element("span", id="probe", hidden=""),
                wrap,
                raw(
                    "script",
                    data.replace("<", "\\u003c"),
                    id="numbers",
                    type="application/json",
                ),
                raw("script", library()[0], id="library", type="text/plain"),
                raw("script", script()),
            ),
            lang="en",
        )
    )


def theme_button() -> Element:
    """Between light and dark; shown where scripts run."""
    return element("button", "Dark theme", id="theme", type="button", hidden="")


def _progress(run: PageContents) -> Element:
    done = run.ds["status"].size - counts(run.ds).get("RUNNING", 0)
    return element(
        "div",
        element(
            "progress",
            id="progress",
            max=str(run.ds["status"].size),
            value=str(done),
            aria_label="Networks that are done",
        ),
        element("p", id="progress-said", role="status", class_="hint"),
        style="grid-column: 1 / -1",
    )
