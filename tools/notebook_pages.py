"""Notebooks as pages: their texts, code, and what they showed when they were run.

`tools/website.py` writes them; nothing here is kept in the repository.
"""

import base64
import hashlib
import io
import json
import pathlib
import re
from typing import Any

from matplotlib import mathtext, rc_context

# Lines of an output that are shown.
_MOST_LINES = 40
_FORMULA = re.compile(r"(?<!\\)\$([^$`]+)\$")
# Of the size at which mathtext sets a formula.
_POINTS = 12.0


def notebook_page(path: pathlib.Path, pages: pathlib.Path, file: str) -> str:
    """The text of a page; its pictures and formulas become files beside it.

    Args:
        path: of the notebook.
        pages: folder of the pages of the site; this one will be in `notebooks/`.
        file: where the notebook itself is, seen from the page.
    """
    cells = json.loads(path.read_text())["cells"]
    parts = [_cell(cell, pages, f"{path.stem}_{i}") for i, cell in enumerate(cells)]
    title, _, rest = "\n\n".join(parts).partition("\n")
    said = f"*A notebook, as it was run: [{path.name}]({file}).*"
    return f"{title}\n\n{said}\n{rest}\n"


def _cell(cell: dict[str, Any], pages: pathlib.Path, name: str) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return _FORMULA.sub(lambda found: formula(found[1], pages), source)
    shown = [f"```python\n{source}\n```", *_texts(cell["outputs"])]
    for i, output in enumerate(cell["outputs"]):
        if image := output.get("data", {}).get("image/png"):
            file = f"{name}_{i}.png"
            (pages / "notebooks" / file).write_bytes(base64.b64decode("".join(image)))
            shown.append(f"![What the cell draws]({file})")
    return "\n\n".join(shown)


def _texts(outputs: list[dict[str, Any]]) -> list[str]:
    """What a cell printed, and its value unless it drew something, as one block."""
    has_image = any("image/png" in one.get("data", {}) for one in outputs)
    texts = [
        one.get("text", [] if has_image else one.get("data", {}).get("text/plain", []))
        for one in outputs
        if one.get("name") != "stderr"
    ]
    text = "".join("".join(one).rstrip("\n") + "\n" for one in texts if one)
    lines = text.rstrip().split("\n")
    more = ["…"] if len(lines) > _MOST_LINES else []
    block = ["```text", *lines[:_MOST_LINES], *more, "```"]
    return ["\n".join(block)] if text.strip() else []


def formula(text: str, pages: pathlib.Path) -> str:
    """A formula of TeX as an image that lies on the line, as matplotlib sets it."""
    image = io.BytesIO()
    tex = " ".join(text.split())
    # Depth is in pixels at the resolution that is given.
    with rc_context({"savefig.facecolor": "none", "svg.hashsalt": "simbias"}):
        depth = mathtext.math_to_image(f"${tex}$", image, dpi=72, format="svg")
    height = re.search(rb'height="([\d.]+)pt"', image.getvalue())
    assert height is not None
    name = f"{hashlib.sha256(tex.encode()).hexdigest()[:12]}.svg"
    folder = pages / "assets" / "formulas"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(image.getvalue())
    size = f"height:{float(height[1]) / _POINTS:.2f}em"
    place = f"vertical-align:{-depth / _POINTS:.2f}em"
    alt = tex.replace('"', "&quot;").replace("\\", "")
    return (
        f'<img class="formula-image" src="../assets/formulas/{name}" alt="{alt}" '
        f'style="{size};{place}">'
    )
