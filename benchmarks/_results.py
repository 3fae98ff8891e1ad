"""What a benchmark found, and on what machine: how it is written down."""

import json
import os
import pathlib
from typing import Any

from _machine import processor

from simbias.ensemble.configuration import provenance


def machine() -> dict[str, Any]:
    """Processor, cores, versions, device."""
    return {"processor": processor(), "cores": os.cpu_count(), **provenance()}


def load() -> list[float]:
    """How many processes ran here, on average of 1, 5 and 15 minutes."""
    return [round(v, 2) for v in os.getloadavg()]


def written(where: str, document: Any, *, a_row_a_line: bool = False) -> None:
    """Write a document into a file, or to standard output for "-"."""
    indent = None if a_row_a_line else 1
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    if a_row_a_line:
        text = text.replace("}, {", "},\n {")
    if where == "-":
        print(text)
    else:
        pathlib.Path(where).write_text(text + "\n", encoding="utf-8")
