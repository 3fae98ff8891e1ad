"""How many seeds a claim that is inconclusive would need."""

import math

from simbias.core import Claim

# A claim that needs so many times the seeds is not decided by more of them.
_MOST_TIMES = 1000


def seeds_to_decide(claim: Claim, seeds: int) -> int | None:
    """About how many seeds decide a claim, if its estimate and the spread stay.

    Each side of an interval shrinks like 1/√seeds.  An estimate inside the band needs
    an interval inside it, one outside an interval that ends before it.

    Args:
        claim: of a run.
        seeds: of the run, per cell of the grid.

    Returns:
        Two digits, rounded up; None if seeds do not decide: the interval is a bound, or
        has no end, or the estimate is at an edge of the band.
    """
    seen = claim.estimate
    if claim.verdict != "inconclusive" or seen.level == 1:
        return None
    below, above = seen.value - seen.low, seen.high - seen.value
    # Length of a side, and the room that it has.
    if seen.value < claim.low:
        sides = [(above, claim.low - seen.value)]
    elif seen.value > claim.high:
        sides = [(below, seen.value - claim.high)]
    else:
        sides = [(below, seen.value - claim.low), (above, claim.high - seen.value)]
    times = [1.0]
    for length, room in sides:
        if not length <= room:
            times.append((length / room) ** 2 if room > 0 else math.inf)
    needed = seeds * max(times)
    if not needed <= seeds * _MOST_TIMES:
        return None
    unit = 10 ** max(math.floor(math.log10(needed)) - 1, 0)
    return math.ceil(needed / unit) * unit
