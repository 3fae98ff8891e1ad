"""What is left of the progress bar where there is no terminal."""

import io
import sys
import threading

from tqdm import tqdm

from simbias.ensemble import bar
from simbias.ensemble.bar import Bar


def shown(monkeypatch, seconds_each):
    """What a run of 200 members writes that finishes one every so often."""
    clock, stream = [0.0], io.StringIO()
    monkeypatch.setattr(bar.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", stream)
    with Bar("run", 200, is_drawn=True) as drawn:
        for count in range(1, 201):
            clock[0] += seconds_each
            drawn.progress.compiling = set(range(count % 3))
            drawn.show(count)
            if count == 100:
                tqdm.write("said meanwhile", file=sys.stderr)
    return stream.getvalue()


def test_in_a_file_the_bar_is_a_line_now_and_then_and_the_last_one(monkeypatch):
    text = shown(monkeypatch, seconds_each=0.3)
    assert "\r" not in text
    first, *lines, last = text.splitlines()
    assert first.startswith("run:   0%")
    assert last.startswith("run: 100%")
    assert text.endswith("\n")
    assert "said meanwhile" in lines
    # A minute: at most one line for every ten seconds of it.
    assert 5 <= len(lines) - 1 <= 6


def test_in_a_file_a_short_run_is_two_lines(monkeypatch):
    assert len(shown(monkeypatch, seconds_each=0.01).splitlines()) == 3


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_that_does_not_know_its_size_has_a_bar(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(bar, "_columns", lambda: 0)
    with Bar("run", 2, is_drawn=True) as drawn:
        drawn.show(2)
    assert "run: 100%" in stream.getvalue()


def test_the_last_line_does_not_say_that_somebody_compiles(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Bar("run", 2, is_drawn=True) as drawn:
        drawn.progress.compiling = {threading.current_thread()}
        drawn.show(2)
    *_, before, last = stream.getvalue().replace("\n", "").split("\r")
    assert "compiling" in before
    assert "compiling" not in last
    assert "failed=0" in last
