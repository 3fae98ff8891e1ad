"""Claims in sentences: what a verdict means, what was found, why a claim is open."""

import math
from collections.abc import Mapping, Sequence

from simbias.analysis.seeds_to_decide import seeds_to_decide
from simbias.core import VERDICTS, Claim

# Verdict -> what it means.
MEANINGS: Mapping[str, str] = dict(
    zip(
        VERDICTS,
        (
            "the interval lies inside the band",
            "the interval lies outside the band",
            "the interval overlaps an edge of the band, so the run does not decide",
            "the run lacks something that the claim is about",
        ),
        strict=True,
    )
)


def found(claims: Sequence[Claim], seeds: int) -> str:
    """What a run found, in up to three sentences; "" without claims.

    Args:
        claims: about the run.
        seeds: of the run, per cell of the grid.
    """
    if not claims:
        return ""
    of = {v: [claim for claim in claims if claim.verdict == v] for v in VERDICTS}
    supported, contradicted, inconclusive, others = of.values()
    total = len(claims) - len(others)
    if not total:
        return f"No claim applies to this run: it lacks {others[0].needs}."
    shown = contradicted or supported or inconclusive
    verdict, first = shown[0].verdict, _in_short(shown[0])
    if total == 1:
        said = [f"The only claim is {verdict}: {first}."]
    else:
        verb = "is" if len(supported) == 1 else "are"
        counted = f"{len(supported)} of {total} claims {verb}"
        counted = f"All {total} claims are" if len(supported) == total else counted
        before = "For example" if shown is supported else verdict.capitalize()
        said = [f"{counted} supported.", f"{before}: {first}."]
    return " ".join([*said, _to_decide(inconclusive, seeds)]).strip()


def _in_short(claim: Claim) -> str:
    seen = number(claim.estimate.value)
    return f"{claim.statement}: {seen}, expected {band(claim)}"


def _to_decide(claims: Sequence[Claim], seeds: int) -> str:
    """How many seeds decide those claims that more of them decide."""
    needed = [n for claim in claims if (n := seeds_to_decide(claim, seeds))]
    if not needed:
        return ""
    which = f"{len(needed)} of the {len(claims)} that are inconclusive"
    if len(needed) == len(claims):
        which = f"the {len(claims)} that are inconclusive"
    which = "the one that is inconclusive" if len(claims) == 1 else which
    return f"About {max(needed):,} seeds instead of {seeds} would decide {which}."


def why_open(claim: Claim, seeds: int) -> str:
    """Why a claim is inconclusive, and how many seeds would decide it; "" for others.

    Args:
        claim: of a run.
        seeds: of the run, per cell of the grid.
    """
    seen = claim.estimate
    if claim.verdict != "inconclusive":
        return ""
    if math.isnan(seen.value):
        return f"Open: there is no value ({seen.method})."
    if math.isinf(seen.low) and math.isinf(seen.high):
        return f"Open: there is no interval ({seen.method})."
    is_below, is_above = seen.low < claim.low, seen.high > claim.high
    ends = "beyond both ends of" if is_below and is_above else "above"
    reach = f"Open: the interval reaches {ends if is_above else 'below'} the band."
    if seen.level == 1:
        return f"{reach} It is a bound, which more seeds do not narrow."
    enough = seeds_to_decide(claim, seeds)
    if enough is None:
        return f"{reach} The estimate is too near its edge for more seeds to decide."
    is_in = claim.low <= seen.value <= claim.high
    return (
        f"{reach} About {enough:,} seeds instead of {seeds} would make it "
        f"{'supported' if is_in else 'contradicted'}, if estimate and spread stay."
    )


def number(value: float, digits: int = 4) -> str:
    """So many digits, and ∞ for what has no bound."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}g}".replace("-", "−") if value == value else "no value"


def band(claim: Claim) -> str:
    """Where the estimate is expected, in words."""
    low, high = number(claim.low), number(claim.high)
    if claim.low == claim.high:
        return f"exactly {low}"
    if math.isinf(claim.low):
        return f"at most {high}"
    return f"at least {low}" if math.isinf(claim.high) else f"{low} … {high}"
