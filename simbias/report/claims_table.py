"""Claims as a table: the verdict, what is claimed, its interval against its band."""

import functools
import math
from collections.abc import Callable, Sequence

from simbias.core import VERDICTS, Claim
from simbias.report._html import Element, element
from simbias.report.claims_in_words import MEANINGS, number, why_open

# Verdict -> its mark.
MARKS: dict[str, str] = dict(zip(VERDICTS, "✓✕?–", strict=True))
_WIDTH, _HEIGHT, _PAD = 240.0, 30.0, 12.0


def summary(claims: Sequence[Claim]) -> Element | None:
    """How many claims have which verdict; None without claims."""
    counts = {v: sum(claim.verdict == v for claim in claims) for v in VERDICTS}
    items = [
        element("li", _mark(verdict), f" {count} {verdict}")
        for verdict, count in counts.items()
        if count
    ]
    return element("ul", *items, class_="verdicts") if items else None


def meanings(claims: Sequence[Claim]) -> Element:
    """What the verdicts mean that the claims have."""
    items = [
        element("li", _mark(v), element("b", f" {v}"), f": {MEANINGS[v]}")
        for v in VERDICTS
        if any(claim.verdict == v for claim in claims)
    ]
    return element("ul", *items, class_="meanings")


def claims_table(claims: Sequence[Claim], seeds: int) -> Element:
    """One row per claim; those that are not about the run stand below, folded.

    Args:
        claims: about the run.
        seeds: of the run, per cell of the grid.
    """
    about = [claim for claim in claims if claim.verdict != "not applicable"]
    others = [claim for claim in claims if claim.verdict == "not applicable"]
    folded = None
    if others:
        text = f"{len(others)} claims that are not about this run"
        if len(others) == 1:
            text = "One claim that is not about this run"
        folded = element("details", element("summary", text), _table(others, seeds))
    return element(
        "div", _table(about, seeds) if about else None, folded, class_="boxed"
    )


def _table(claims: Sequence[Claim], seeds: int) -> Element:
    heads = ("Verdict", "Claim", "Seen, in its band")
    return element(
        "table",
        element(
            "thead", element("tr", *(element("th", h, scope="col") for h in heads))
        ),
        element("tbody", *(_row(claim, seeds) for claim in claims)),
        class_="claims",
    )


def _row(claim: Claim, seeds: int) -> Element:
    seen = claim.estimate
    needs = f" Needs {claim.needs}." if claim.needs else ""
    say = functools.partial(number, digits=_digits(claim))
    level = "" if seen.level == 1 else f", {100 * seen.level:g} %"
    open_because = why_open(claim, seeds)
    numbers = element(
        "div",
        element("b", say(seen.value)),
        " ",
        element("span", f"[{say(seen.low)}, {say(seen.high)}]", class_="ends"),
        element("br"),
        element("span", f"band {say(claim.low)} … {say(claim.high)}"),
        class_="numbers",
    )
    return element(
        "tr",
        element(
            "td",
            _mark(claim.verdict),
            f" {claim.verdict}",
            class_="verdict",
            title=MEANINGS[claim.verdict],
        ),
        element(
            "td",
            element("p", claim.statement),
            element(
                "p", f"{seen.method}{level} · {claim.source}.{needs}", class_="source"
            ),
            element("p", open_because, class_="open") if open_because else None,
        ),
        element("td", element("div", interval(claim), numbers, class_="seen")),
    )


def _mark(verdict: str) -> Element:
    sign = MARKS[verdict]
    kind = verdict.replace(" ", "-")
    return element("span", sign, class_=f"mark {kind}", aria_hidden="true")


def _digits(claim: Claim) -> int:
    """As many as tell the ends of interval and band apart, from four to nine."""
    ends = (claim.estimate.low, claim.estimate.high, claim.low, claim.high)
    apart = lambda digits: len({number(end, digits) for end in ends})
    return next(digits for digits in range(4, 10) if apart(digits) == apart(9))


def interval(claim: Claim) -> Element:
    """The interval as a line with ends, the estimate as a dot, the band behind them."""
    seen = claim.estimate
    place = _scale([claim.low, claim.high, seen.low, seen.high, seen.value])
    band = place(claim.low), place(claim.high)
    low, high = place(seen.low), place(seen.high)
    is_line = seen.low == seen.low and seen.high == seen.high
    dot = place(seen.value) if math.isfinite(seen.value) else None
    middle = _HEIGHT / 2
    say = functools.partial(number, digits=_digits(claim))
    text = (
        f"{claim.verdict}: {say(seen.value)}, interval {say(seen.low)} to "
        f"{say(seen.high)}, band {say(claim.low)} to {say(claim.high)}"
    )
    parts = [
        _line(0.0, middle, _WIDTH, middle, "axis"),
        element(
            "rect",
            x=f"{band[0]:.1f}",
            y="4",
            width=f"{max(band[1] - band[0], 2):.1f}",
            height=f"{_HEIGHT - 8:g}",
            class_="band",
        ),
    ]
    for edge, value in zip(band, (claim.low, claim.high), strict=True):
        if math.isfinite(value):
            parts.append(_line(edge, 4.0, edge, _HEIGHT - 4, "edge"))
    if is_line:
        parts.append(_line(low, middle, high, middle, "interval"))
        for end, value, way in ((low, seen.low, 1), (high, seen.high, -1)):
            if math.isfinite(value):
                parts.append(_line(end, middle - 5, end, middle + 5, "interval"))
            else:  # an arrow, on and on
                for up in (-5, 5):
                    tip = end + 7 * way
                    parts.append(_line(end, middle, tip, middle + up, "interval"))
    if dot is not None:
        parts.append(
            element("circle", cx=f"{dot:.1f}", cy=f"{middle:g}", r="4.5", class_="dot")
        )
    return element(
        "svg",
        element("title", text),
        *parts,
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        class_=f"interval {claim.verdict.replace(' ', '-')}",
        role="img",
        aria_label=text,
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Element:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return element("line", class_=kind, **{k: f"{v:.1f}" for k, v in ends.items()})


def _scale(values: Sequence[float]) -> Callable[[float], float]:
    """Where a number lies in the picture; what is infinite at its edge."""
    finite = [v for v in values if math.isfinite(v)] or [0.0]
    first, last = min(finite), max(finite)
    span = last - first or abs(first) or 1.0
    first, last = first - 0.08 * span, last + 0.08 * span

    def place(value: float) -> float:
        if math.isfinite(value):
            share = (value - first) / (last - first)
            return _PAD + share * (_WIDTH - 2 * _PAD)
        return _WIDTH - 2 if value > 0 else 2.0

    return place
