import dataclasses

import numpy as np
import pytest

from simbias.analysis.seeds_to_decide import seeds_to_decide
from simbias.core import VERDICTS, Claim, Estimate
from simbias.report.claims_in_words import MEANINGS, found, why_open


def claim_of(seen, band, level=0.95):
    estimate = Estimate(*map(float, seen), "a test", level)
    return Claim("a share", estimate, *map(float, band), "us")


SUPPORTED, CONTRADICTED = claim_of((1, 0, 2), (-1, 3)), claim_of((9, 8, 10), (-1, 3))
OPEN = claim_of((1, -1, 3), (0, np.inf))


def shrunk(claim, seeds, enough):
    seen, share = claim.estimate, (seeds / enough) ** 0.5
    low, high = (seen.value + share * (e - seen.value) for e in (seen.low, seen.high))
    return dataclasses.replace(
        claim, estimate=dataclasses.replace(seen, low=low, high=high)
    )


@pytest.mark.parametrize(
    ("seen", "band"),
    [
        ((1, -1, 3), (0, np.inf)),
        ((1, -1, 3), (0.5, 1.2)),
        ((5, 1.5, 9), (0, 3)),
        ((-2, -5, 1.5), (0, 3)),
    ],
)
def test_as_many_seeds_as_are_named_decide_and_half_as_many_do_not(seen, band):
    claim = claim_of(seen, band)
    enough = seeds_to_decide(claim, 20)
    assert enough > 20
    decided = shrunk(claim, 20, enough).verdict
    is_in = band[0] <= seen[0] <= band[1]
    assert decided == ("supported" if is_in else "contradicted")
    assert shrunk(claim, 20, enough / 2).verdict == "inconclusive"
    said = why_open(claim, 20)
    assert f"About {enough:,} seeds instead of 20" in said
    assert decided in said


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (claim_of((0, -1, 1), (0, 3)), "too near its edge"),
        (claim_of((1, -1, 3), (0, 2), level=1.0), "more seeds do not narrow"),
        (claim_of((1, -np.inf, np.inf), (0, 2)), "no interval (a test)"),
        (claim_of((np.nan, -np.inf, np.inf), (0, 2)), "no value (a test)"),
    ],
)
def test_where_seeds_do_not_decide_the_reason_is_said(claim, said):
    assert claim.verdict == "inconclusive"
    assert seeds_to_decide(claim, 20) is None
    assert said in why_open(claim, 20)


def test_only_open_claims_are_said_to_be_open():
    assert why_open(SUPPORTED, 20) == why_open(CONTRADICTED, 20) == ""


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ([], ""),
        ([SUPPORTED], "The only claim is supported: a share: 1, expected −1 … 3."),
        (
            [SUPPORTED, SUPPORTED],
            "All 2 claims are supported. For example: a share: 1, expected −1 … 3.",
        ),
        (
            [SUPPORTED, CONTRADICTED],
            "1 of 2 claims is supported. Contradicted: a share: 9, expected −1 … 3.",
        ),
        (
            [OPEN, SUPPORTED],
            "1 of 2 claims is supported. For example: a share: 1, expected −1 … 3. "
            "About 80 seeds instead of 20 would decide the one that is inconclusive.",
        ),
        (
            [SUPPORTED.given(False, "two n")],
            "No claim applies to this run: it lacks two n.",
        ),
    ],
)
def test_a_page_opens_with_what_was_found(claims, text):
    assert found(claims, 20) == text


def test_every_verdict_has_a_meaning():
    assert [*MEANINGS] == [*VERDICTS]
