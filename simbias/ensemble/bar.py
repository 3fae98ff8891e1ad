"""The progress bar: members done and failed, compiling, stopping."""

import time

from tqdm.auto import tqdm

from simbias.ensemble.events import Event, Outcome, Progress

# The bar moves when something happens, and its clock at least this often.
_REDRAW_SECONDS = 10.0


class Bar:
    """A context; `progress` is what the stations write."""

    def __init__(self, title: str, total: int, *, is_drawn: bool):
        self.progress = Progress()
        self._failed = 0
        self._note, self._drawn = "", time.monotonic()
        self._bar = tqdm(total=total, unit="member", disable=not is_drawn, desc=title)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_) -> None:
        self._bar.close()

    def show(self, finished: int, event: Event | None = None) -> None:
        """Members finished so far, and what happened last."""
        if isinstance(event, Outcome):
            self._failed += event.status.is_failure
        note = f"failed={self._failed}"
        if self.progress.compiling:
            note += ", compiling"
        if self.progress.is_stopping:
            note += ", stopping after this round"
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(finished - self._bar.n)
        is_late = time.monotonic() - self._drawn > _REDRAW_SECONDS
        if note != self._note or is_late:
            self._bar.refresh()
            self._note, self._drawn = note, time.monotonic()
