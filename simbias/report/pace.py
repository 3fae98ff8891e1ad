"""How fast a run goes, as one sees who looks at what is stored."""

import collections
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from simbias.core import Status
from simbias.ensemble.durations import about, often

# The rate is that of the last minutes.
_SECONDS = 600.0
# A process that did not say anything for so long is not at work.
_SILENT = 45.0


class Pace:
    """Remembers how many members were done when, and who was heard of when."""

    def __init__(self) -> None:
        self._seen: collections.deque[tuple[float, int]] = collections.deque()
        self._counts: dict[object, tuple[object, float]] = {}
        self._began: float | None = None

    def of(self, ds: xr.Dataset, beats: Sequence[dict], now: float) -> dict[str, Any]:
        """Members done and failed, and a sentence with rate, time left, processes.

        Args:
            ds: the result so far.
            beats: the last heartbeats of all processes of the run.
            now: on a clock in seconds.
        """
        status = ds["status"].values
        done = int(np.sum(status != Status.RUNNING))
        failed = int(np.isin(status, [s for s in Status if s.is_failure]).sum())
        if not self._seen or self._seen[-1][1] != done:
            self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _SECONDS:
            self._seen.popleft()
        said = f"{done:,} of {status.size:,} networks are done"
        said += f", {failed:,} of them failed" if failed else ""
        rate = self._rate(now)
        if rate and done < status.size:
            said += f"; {often(rate)}, {about((status.size - done) / rate)} left"
        at_work = self._at_work(beats, now)
        if at_work is not None and done < status.size:
            said += f"; {at_work} process{'' if at_work == 1 else 'es'} at work"
            said += _compiling(beats) if at_work else ""
        counts = {"members": int(status.size), "done": done, "failed": failed}
        return {**counts, "said": f"{said}."}

    def _at_work(self, beats: Sequence[dict], now: float) -> int | None:
        """Processes whose count was seen to change lately; None if it is too early."""
        self._began = now if self._began is None else self._began
        for beat in beats:
            who, count = (beat.get("machine"), beat.get("process")), beat.get("count")
            if who not in self._counts:
                self._counts[who] = (count, -np.inf)
            elif self._counts[who][0] != count:
                self._counts[who] = (count, now)
        alive = sum(now - seen < _SILENT for _, seen in self._counts.values())
        return None if not alive and now - self._began < _SILENT else alive

    def _rate(self, now: float) -> float:
        """Members per second; 0 if it is not known."""
        first, last = self._seen[0], self._seen[-1]
        seconds = now - first[0]
        return (last[1] - first[1]) / seconds if seconds > 0 else 0.0


def _compiling(beats: Sequence[dict]) -> str:
    """Which of its programs a process said that it compiles."""
    known = [(beat.get("compiling"), beat.get("shapes")) for beat in beats]
    numbers = [pair for pair in known if all(type(one) is int for one in pair)]
    begun, shapes = max(numbers, default=(0, 0))
    return f", compiling {begun} of {shapes}" if begun else ""
