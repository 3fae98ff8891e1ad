"""Tables of README and docs are written from experiments and stored results."""

import pathlib

ROOT = pathlib.Path(__file__).parent.parent


def test_every_page_is_current(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from pages import pages  # pyright: ignore

    found = pages()
    assert len(found) > 5
    for path, text in found.items():
        assert path.read_text() == text, f"{path}: run `python tools/pages.py`"
