"""What more seeds decide of the claims that a check left open, as a table.

    simbias check NAME --decide --budget 5m --json FILE
    python tools/decided.py FILE

keeps the check of every experiment in FILE under benchmarks/results/decided.
"""

import json
import pathlib
import sys
from typing import Any

from claims_shown import command_of, page_of

from simbias.preset_names import run_name

DECIDED = pathlib.Path(__file__).parent.parent / "benchmarks" / "results" / "decided"
_OPEN = "inconclusive"


def decided(checked: dict[str, dict[str, Any]]) -> str:
    """A line for every experiment that was decided, and one for all of them.

    Args:
        checked: the stored check of every experiment and variant, at its own seeds.
    """
    lines = [
        "| experiment | claims | inconclusive before | with more seeds | seeds at most "
        "| an open claim needs about |",
        "|---|---|---|---|---|---|",
    ]
    whole = [0, 0, 0]
    for path in sorted(DECIDED.glob("*.json")):
        claims = json.loads(path.read_text())["claims"]
        before = [c["verdict"] for c in checked[path.stem]["claims"]].count(_OPEN)
        still = [c for c in claims if c["verdict"] == _OPEN]
        seeds = max(c["seeds"] for c in claims if c["seeds"] is not None)
        needs = [c["seeds_needed"] for c in still if c["seeds_needed"] is not None]
        about = f"{min(needs):,} to {max(needs):,} seeds" if needs else ""
        name = f"[{command_of(path.stem).removeprefix('simbias run ')}]"
        counts = len(claims), before, len(still)
        whole = [a + b for a, b in zip(whole, counts, strict=True)]
        row = " | ".join(map(str, counts))
        lines.append(f"| {name}({page_of(path.stem)}) | {row} | {seeds} | {about} |")
    lines.append(f"| **all of these** | {' | '.join(map(str, whole))} | | |")
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    DECIDED.mkdir(exist_ok=True)
    for file in sys.argv[1:]:
        for one in json.loads(pathlib.Path(file).read_text()):
            name = run_name(one["experiment"], one["preset"])
            text = json.dumps(one, indent=1, ensure_ascii=False, allow_nan=False)
            (DECIDED / f"{name}.json").write_text(f"{text}\n")


if __name__ == "__main__":
    main()
