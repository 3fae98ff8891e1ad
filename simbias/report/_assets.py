"""Style sheet, script and plotting library of a page."""

import base64
import functools
import hashlib
import importlib.resources

from simbias.report._packed_numbers import compressed

# In this order: one script, in a scope of its own.
_SCRIPTS = (
    *(
        "numbers",
        "theme",
        "controls",
        "look",
        "drawing",
        "curves",
        "over_time",
        "against",
    ),
    *("explore", "clusters", "film", "arrays", "member", "difference", "live", "main"),
)


@functools.cache
def style_sheet() -> str:
    """All of it."""
    return _text("page.css")


@functools.cache
def script() -> str:
    """All of it; nothing of it is visible outside."""
    parts = "\n".join(_text(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@functools.cache
def library() -> tuple[str, str]:
    """plotly.js, compressed in base 64, and the source that a policy allows it by."""
    from plotly.offline import get_plotlyjs

    text = get_plotlyjs()
    return compressed(text.encode()), source(text)


def policy(*, is_live: bool) -> str:
    """What a page may do: run these two scripts, show what is in it, and nothing else.

    One that is live may ask the server that it is from.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {source(script())} {library()[1]}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "media-src data:",
            f"connect-src {chr(39)}self{chr(39)}" if is_live else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def source(text: str) -> str:
    """How a policy names a script: by its checksum."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _text(name: str) -> str:
    folder = importlib.resources.files("simbias.report") / "page"
    return (folder / name).read_text(encoding="utf-8")
