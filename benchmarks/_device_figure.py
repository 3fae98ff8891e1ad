"""What benchmarks/accelerator.py found, in two panels."""

from typing import Any

from matplotlib.figure import Figure

from simbias.figures.style import COLOURS, blank, style

_SHOWN = ("simbias_plain", "jax_vmap", "diffrax_vmap")


def drawn(document: dict[str, Any]) -> Figure:
    """Time per member and step against lanes, and what others take beside simbias."""
    rows = [row for row in document["rows"] if "contenders" in row]
    with style():
        whole = blank(12.0, 4.6)
        left, right = whole.subplots(1, 2)
        for i, dtype in enumerate(("float32", "float64")):
            some = [r for r in rows if r["part"] == "scaling" and r["dtype"] == dtype]
            if some:
                lanes = [row["n_m_d_members"][-1] for row in some]
                times = [_microseconds(row) for row in some]
                left.loglog(lanes, times, "o-", color=COLOURS[i], label=dtype)
        left.set(xlabel="lanes", ylabel="microseconds per member and step")
        if left.lines:
            left.legend()
        cases = [row for row in rows if row["part"] == "throughput"]
        for i, who in enumerate(_SHOWN):
            ratios = [
                (k, row["contenders"][who]["ratio_to_simbias"])
                for k, row in enumerate(cases)
                if who in row["contenders"]
            ]
            if ratios:
                right.semilogy(*zip(*ratios, strict=True), "o", label=who, c=COLOURS[i])
        right.axhline(1.0, color="0.6", linewidth=0.8)
        names = [row["case"] for row in cases]
        right.set_xticks(range(len(cases)), names, rotation=90, fontsize=6)
        right.set(ylabel="time, that of simbias = 1")
        if cases:
            right.legend()
        whole.suptitle(document["device"])
    return whole


def _microseconds(row: dict[str, Any]) -> float:
    return row["contenders"]["simbias"]["microseconds_per_member_step"]
