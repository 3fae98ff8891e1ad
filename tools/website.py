"""Build the documentation as a site, strictly: a link that leads nowhere is an error.

    uv run --group docs python tools/website.py            # build/site/html/index.html
    uv run --group docs python tools/website.py --serve    # on localhost

Pages are those of docs/, README.md, CONTRIBUTING.md and CHANGELOG.md, the notebooks,
and a reference from docstrings.  They are copied to build/site; links to other files
of the repository lead to copies.  The site asks for nothing outside of itself.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import yaml
from matplotlib import get_data_path
from notebook_pages import notebook_page
from reference import reference

ROOT = pathlib.Path(__file__).parent.parent
STAGE = ROOT / "build" / "site"
SITE = STAGE / "html"
# Pages outside of docs/, and those that have another name in the site.
PAGES = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r'(\]\(|(?:href|src)=")([^)\s"#]*)(#[^)\s"]*)?(?=[)"])')
# It has every sign of the formulas, which many systems lack.
FONT = "/fonts/ttf/DejaVuSerif.ttf"
_TO_ANY = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^)\s:#]+)\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LIST = re.compile(r"(?m)^((?![*\-|#> ]|\d+\. ).+)\n(?=(?:[*-]|\d+\.) )")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true")
    serve = parser.parse_args().serve
    stage()
    command = [sys.executable, "-m", "zensical"]
    command += ["serve"] if serve else ["build", "--strict", "--clean"]
    command += ["-f", "mkdocs.yml"]
    known = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}  # of docstrings.py
    done = subprocess.run(command, cwd=STAGE, env=known, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    if faults := faults_of(SITE):
        sys.exit("\n".join(["What the pages ask for and is not there:", *faults]))
    print(f"{len([*SITE.rglob('*.html')])} pages: {SITE / 'index.html'}")


def stage() -> None:
    """Everything that the site is built from, in build/site."""
    shutil.rmtree(STAGE, ignore_errors=True)
    pages = STAGE / "docs"
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("*.md"))
    for path in [*sorted((ROOT / "docs").rglob("*.md")), *map(ROOT.joinpath, PAGES)]:
        if path.exists():
            target = pages / staged(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(moved(path.read_text(), path))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        file = f"../{_copied(path).as_posix()}"
        (pages / staged(path)).parent.mkdir(exist_ok=True)
        (pages / staged(path)).write_text(notebook_page(path, pages, file))
    (pages / "assets" / "fonts").mkdir()
    shutil.copy(get_data_path() + FONT, pages / "assets" / "fonts")
    (pages / "reference").mkdir()
    for name, text in reference().items():
        (pages / "reference" / f"{name}.md").write_text(text)
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    settings["nav"] = expanded(settings["nav"], pages)
    settings |= {"docs_dir": "docs", "site_dir": "html"}
    text = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False)
    (STAGE / "mkdocs.yml").write_text(text)


def staged(path: pathlib.Path) -> pathlib.PurePath:
    """Where a file of the repository lies among the pages of the site."""
    place = path.resolve().relative_to(ROOT)
    if str(place) in PAGES:
        return pathlib.PurePath(PAGES[str(place)])
    if place.suffix == ".ipynb":
        return place.with_suffix(".md")
    if not place.is_relative_to("docs"):
        return pathlib.PurePath("files") / place
    place = place.relative_to("docs")
    return place.with_name("index.md") if place.name == "README.md" else place


def moved(text: str, path: pathlib.Path) -> str:
    """A page as the site has it: links from where it is now, lists after a line."""
    shown = lambda found: f"{found[1]} (`{found[2]}`)"
    is_folder = lambda found: (path.parent / found[2]).is_dir()
    plain = lambda found: shown(found) if is_folder(found) else found[0]
    parts = _FENCE.split(_TO_ANY.sub(plain, text))
    parts[::2] = [
        _LIST.sub(r"\1\n\n", _LINK.sub(lambda found: _relinked(found, path), part))
        for part in parts[::2]
    ]
    return "".join(parts)


def _relinked(found: re.Match[str], path: pathlib.Path) -> str:
    before, link, anchor = found[1], found[2], found[3] or ""
    if not link or ":" in link:
        return found[0]
    there = (path.parent / link).resolve()
    if not there.is_file():  # what the strict build finds
        return found[0]
    target = staged(there)
    if target.parts[0] == "files":
        target = _copied(there)
    up = [".."] * len(staged(path).parent.parts)
    link = "/".join([*up, *target.parts])
    if not before.startswith("]"):  # HTML is left as it is
        link = re.sub(r"\.md$", ".html", link)
    return f"{before}{link}{anchor}"


def _copied(path: pathlib.Path) -> pathlib.PurePath:
    """Where a copy of a file lies that is no page."""
    target = pathlib.PurePath("files") / path.relative_to(ROOT)
    (STAGE / "docs" / target).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, STAGE / "docs" / target)
    return target


def expanded(nav: list[Any], pages: pathlib.Path) -> list[Any]:
    """The list of pages with globs replaced by those that no other line names."""
    named = {line for line in lines(nav) if not re.search(r"[*?]", line)}

    def fill(entries: list[Any]) -> list[Any]:
        out = []
        for entry in entries:
            if isinstance(entry, dict):
                ((title, inner),) = entry.items()
                inner = fill(inner) if isinstance(inner, list) else inner
                out += [{title: inner}] if inner else []
            elif entry.endswith("/"):
                out += [_folder(f) for f in sorted(pages.glob(entry)) if _is_theme(f)]
            elif "*" in entry:
                found = sorted(
                    p.relative_to(pages).as_posix() for p in pages.glob(entry)
                )
                left = [page for page in found if page not in named]
                named.update(left)
                out += left
            elif (pages / _indexed(entry)).exists():
                out.append(_indexed(entry))
        return out

    named |= {_indexed(line) for line in named}
    return fill(nav)


def lines(nav: list[Any]) -> list[str]:
    """Every page, or glob, of a list of pages."""
    out = []
    for entry in nav:
        inner = next(iter(entry.values())) if isinstance(entry, dict) else entry
        out += lines(inner) if isinstance(inner, list) else [inner]
    return out


def _indexed(page: str) -> str:
    return re.sub(r"README\.md$", "index.md", page)


def _is_theme(folder: pathlib.Path) -> bool:
    return (folder / "index.md").exists() and folder.name != "reference"


def _folder(folder: pathlib.Path) -> dict[str, list[str]]:
    """A theme: its own page, which gives the title, and those of its experiments."""
    first = folder / "index.md"
    title = first.read_text().partition("\n")[0].removeprefix("# ")
    others = sorted(path.name for path in folder.glob("*.md") if path != first)
    return {title: [f"{folder.name}/{name}" for name in [first.name, *others]]}


class _Asked(HTMLParser):
    """What a page asks for when it is shown, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("img", "script", "iframe", "source"):
            self.loaded += [given["src"]] if given.get("src") else []
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given.get("href", ""))
        elif tag == "a" and given.get("href"):
            self.linked.append(given["href"])


def faults_of(site: pathlib.Path) -> list[str]:
    """What is loaded from elsewhere, and links and pictures that lead nowhere."""
    out = []
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":
            continue
        asked = _Asked()
        asked.feed(page.read_text())
        name = page.relative_to(site)
        out += [f"{name}: loads {url}" for url in asked.loaded if _is_elsewhere(url)]
        for url in [*asked.loaded, *asked.linked]:
            file = url.partition("#")[0].partition("?")[0]
            if file and not _is_elsewhere(url) and not (page.parent / file).exists():
                out.append(f"{name}: {file}")
    return out


def _is_elsewhere(url: str) -> bool:
    return ":" in url or url.startswith("//")


if __name__ == "__main__":
    main()
