"""Tables of README and docs are written from experiments and stored results."""

import re

import pytest
from tree import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.slow
def test_every_page_is_current(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from pages import pages  # pyright: ignore

    found = pages()
    assert len(found) > 5
    for path, text in found.items():
        assert path.read_text() == text, f"{path}: run `python tools/pages.py`"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_link_of_a_page_leads_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    for link in links:
        file, _, anchor = link.partition("#")
        if file.startswith("http"):
            continue
        there = page if not file else page.parent / file
        assert there.exists(), link
        if anchor and there.suffix == ".md":
            titles = re.findall(r"^#+ (.*)$", there.read_text(), re.MULTILINE)
            anchors = [
                re.sub(r"[^\w\- ]", "", t).lower().replace(" ", "-") for t in titles
            ]
            assert anchor in anchors, link


def test_every_figure_of_the_docs_is_on_a_page():
    shown = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text())
    }
    docs = ROOT / "docs"
    figures = [*docs.rglob("*.png"), *docs.rglob("*.gif")]
    assert {path.resolve() for path in figures} == {
        path for path in shown if path.is_relative_to(ROOT / "docs")
    }


def test_every_theme_has_its_pages():
    themes = {path.name for path in (ROOT / "simbias" / "experiments").glob("[a-z]*/")}
    pages = {path.parent.name for path in (ROOT / "docs").glob("*/*.md")}
    assert pages == themes
