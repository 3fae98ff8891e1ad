"""How fast a run goes on, and durations in words."""

import dataclasses

import numpy as np

# A round lasts about this long: short enough for the progress bar and for Ctrl-C,
# long enough that the host costs little.
_ROUND_SECONDS = 0.5
_FIRST_ATTEMPTS = 16


@dataclasses.dataclass
class Pace:
    """Learns from each round how large the next one should be.

    `attempts` are those of each lane.  `members` is how many to take at once where
    lanes are computed in turn: as many as fill a round.  More would only wait there,
    and be missing where another station has nothing left.
    """

    attempts: int = _FIRST_ATTEMPTS
    members: int = 1
    _since: float = 0.0

    def after(self, seconds: float, ended: int, is_spent: bool) -> None:
        """Learn from a round.

        Args:
            seconds: how long it took.
            ended: members that finished in it.
            is_spent: whether others used up their attempts.  A round that ended because
                its members did says nothing of how long all of its attempts would have
                taken: more of them could keep the next member for hours.
        """
        factor = np.clip(_ROUND_SECONDS / max(seconds, 1e-6), 0.25, 4)
        factor = factor if is_spent else min(factor, 1)
        self.attempts = int(np.clip(self.attempts * factor, 1, 2**30))
        self._since += seconds
        if ended:
            fill = _ROUND_SECONDS * ended / max(self._since, 1e-6)
            self.members = int(np.clip(fill, 1, 4 * self.members))
            self._since = 0.0


def about(seconds: float) -> str:
    """A time in the unit of which it holds two at least: "about 5 minutes"."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {max(seconds, 1):.0f} seconds"


def often(rate: float, what: str = "") -> str:
    """A rate per second in the unit in which it is 1 at least: "12 members per hour".

    Args:
        rate: per second.
        what: of what, before "per".
    """
    said = f" {what}" if what else ""
    for seconds, unit in ((1, "second"), (60, "minute"), (3600, "hour")):
        if rate * seconds >= 1:
            return f"{rate * seconds:.3g}{said} per {unit}"
    return f"{rate * 86400:.2g}{said} per day"
