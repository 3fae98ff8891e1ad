"""The parts of a page, as elements that the script finds by their ids."""

import base64

from simbias.report._html import Element, element
from simbias.report.claims_in_words import found
from simbias.report.claims_table import claims_table, meanings, summary
from simbias.report.kind_of_film import kind_of_film
from simbias.report.page_contents import PageContents
from simbias.report.run_table import run_table, said, status_table


def answer(run: PageContents) -> Element:
    """How many networks finished, and how many claims have which verdict."""
    counted = summary(run.claims)
    return element("div", element("p", said(run.ds)), counted, class_="answer")


def opening(run: PageContents) -> Element | None:
    """What was found, in sentences; None without claims."""
    text = found(run.claims, run.ds.sizes["seed"])
    return element("p", text, class_="found") if text else None


def figures(run: PageContents) -> Element | None:
    """The images; None if there are none."""
    if not run.figures:
        return None
    return element("div", *(_figure(run, *one) for one in run.figures.items()))


def _figure(run: PageContents, label: str, image: bytes) -> Element:
    kind = "gif" if image.startswith(b"GIF8") else "png"
    address = f"data:image/{kind};base64,{base64.b64encode(image).decode()}"
    text = f"Figure of {run.name}" + (f", {label}" if label else "")
    said = run.question or "What the run shows."
    return element(
        "figure",
        element("img", src=address, alt=f"{text}: {said}"),
        element("figcaption", label) if label else None,
    )


def film(run: PageContents) -> Element | None:
    """The film, folded if nobody can stop it; None if there is none."""
    kind = kind_of_film(run.film)
    if not kind:
        return None
    if kind == "mp4":
        address = f"data:video/mp4;base64,{base64.b64encode(run.film).decode()}"
        video = element(
            "video",
            src=address,
            controls="",
            loop="",
            muted="",
            playsinline="",
            aria_label=f"A film of one network of {run.name}",
        )
        return element("figure", video, element("figcaption", "A film of one network"))
    seen = _figure(run, "a film of one network", run.film)
    return element("details", element("summary", "A film of one network"), seen)


def claims(run: PageContents) -> Element | None:
    """The table of claims; None if there are none."""
    if not run.claims:
        return None
    hint = "The band (shaded) is what a paper or theory says, the line what was seen:"
    return element(
        "div",
        element("p", hint, class_="hint"),
        meanings(run.claims),
        claims_table(run.claims, run.ds.sizes["seed"]),
    )


def setting(run: PageContents) -> Element | None:
    """The rest of what the experiment says about itself, folded below a figure."""
    if not run.setting:
        return None
    text = element("p", run.setting, class_="setting")
    if not run.figures:
        return text
    return element("details", element("summary", "The setting"), text)


def about(run: PageContents) -> Element:
    """Configuration and statuses."""
    return element(
        "div", status_table(run.ds), run_table(run.ds, run.origin, run.time_taken)
    )


def answer_section(run: PageContents) -> Element | None:
    """Figures and setting, under a heading of what is there."""
    bare = "A film" if run.film else "The setting"
    title = (bare, "The figure", "The figures")[min(len(run.figures), 2)]
    return section("answer", title, figures(run), film(run), setting(run))


def section(name: str, title: str, *children: Element | None) -> Element | None:
    """A part with a heading; None if there is nothing in it."""
    if all(child is None for child in children):
        return None
    return element(
        "section",
        element("h2", title, id=f"{name}-heading"),
        *children,
        id=name,
        aria_labelledby=f"{name}-heading",
    )


def look_closer(*, is_pair: bool) -> Element:
    """Where the script puts what is recorded, over time and against the axes."""
    hint = "Both runs on the same axes. " if is_pair else ""
    drag = " Drag over a figure to enlarge a part; double-click for all of it."
    return element(
        "section",
        element("h2", "Look closer", id="closer-heading"),
        element(
            "p",
            hint,
            element("span", id="point-hint"),
            element("span", drag, class_="mouse"),
            class_="hint",
        ),
        element("div", id="controls", class_="bar"),
        element("p", id="meaning", class_="note", role="status"),
        element("div", id="curves", class_="bar"),
        element(
            "div",
            _plot("over-time", "Over time"),
            _plot("against", "Against"),
            class_="two" if is_pair else "pair",
        ),
        id="closer",
        aria_labelledby="closer-heading",
    )


def one_member() -> Element:
    """Where the script puts a single network."""
    hint = (
        "Neurons of networks with one hidden layer are shown here if the run keeps "
        "networks at some of its times: simbias run … --keep 0 10 100."
    )
    return element(
        "section",
        element("h2", "One network", id="member-heading"),
        element("div", id="member-controls", class_="bar"),
        element("p", id="member-said", role="status"),
        element("p", hint, id="member-hint", class_="hint", hidden=""),
        element(
            "div",
            _plot(
                "member-losses", "Over time", tools="member-tools", table="member-table"
            ),
            _plot("neurons", "Its neurons", tall=True),
            _plot("array", "Another measure of it"),
            _plot("events", "Its events"),
            class_="pair",
        ),
        id="member",
        aria_labelledby="member-heading",
    )


def difference() -> Element:
    """Where the script puts the differences of two runs."""
    hint = (
        "The mean over pairs of seeds of A − B, with its 95 % interval; where it does "
        "not meet 0, the runs differ."
    )
    return element(
        "section",
        element("h2", "A − B", id="difference-heading"),
        element("p", hint, class_="hint"),
        element("div", id="difference-controls", class_="bar"),
        _plot("difference", ""),
        id="difference-section",
        aria_labelledby="difference-heading",
    )


def _plot(
    name: str, title: str, *, tall: bool = False, tools: str = "", table: str = ""
) -> Element:
    return element(
        "div",
        element("h3", title, id=f"{name}-title") if title else None,
        element("div", id=f"{name}-controls", class_="bar"),
        element("div", id=name, class_="plot tall" if tall else "plot", role="img"),
        element("p", id=f"{name}-note", class_="note", role="status"),
        element("div", id=tools or f"{name}-tools", class_="bar tools"),
        element("div", id=table or f"{name}-table"),
        id=f"{name}-figure",
    )
