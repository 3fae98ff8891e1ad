"""How much a station does before it looks up: attempts of a round, members at once."""

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
