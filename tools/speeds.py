"""Time of a step of each contender of benchmarks/throughput.py, as a table."""

import json
import pathlib
from typing import Any

_FILE = pathlib.Path(__file__).parent.parent / "benchmarks/results/throughput.json"
_TITLES = {
    "jax_vmap": "JAX, vmap",
    "jax_map": "JAX, lax.map",
    "numpy": "NumPy",
    "torch_script": "PyTorch script",
    "torch_bmm": "PyTorch ensemble",
    "diffrax_vmap": "diffrax, vmap",
    "diffrax_map": "diffrax, lax.map",
}


def speeds(method: str) -> str:
    """A line for every case of a method: ours in µs, the others in units of it.

    In brackets the share of the machine's products of matrices that each makes use of,
    in percent.
    """
    cases: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in json.loads(_FILE.read_text())["rows"]:
        if row.get("method") == method:
            sizes = ", ".join(f"{size:,}" for size in row["n_m_d_members"])
            case = cases.setdefault((sizes, row["dtype"]), {})
            case[row["contender"]] = row
    others = [name for name in _TITLES if name in next(iter(cases.values()))]
    titles = " | ".join(_TITLES[name] for name in others)
    lines = [
        f"| n, m, d, members | dtype | simbias, µs | {titles} |",
        "|---" * (3 + len(others)) + "|",
    ]
    before = None
    for (sizes, dtype), rows in cases.items():
        ours = rows["simbias"]
        share = lambda row: f"({100 * row['share_of_peak']:.2g} %)"
        cells = [f"{_rounded(ours['microseconds_per_member_step'])} {share(ours)}"]
        for name in others:
            ratio = _rounded(rows[name]["ratio_to_simbias"], 2)
            cells.append(f"×{ratio} {share(rows[name])}")
        first = sizes if sizes != before else ""
        lines.append(f"| {first} | {dtype} | {' | '.join(cells)} |")
        before = sizes
    return "".join(f"{line}\n" for line in lines)


def _rounded(value: float, digits: int = 3) -> str:
    return f"{float(f'{value:.{digits}g}'):,g}"
