"""The map of interpolation in n/d and λ: cells, verdicts, and undecided cells."""

import itertools

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from simbias.core import Estimate
from simbias.experiments.interpolation._rest import either_way, known_limits
from simbias.figures import law_vertical
from simbias.theory.two_group import two_group_threshold

AXES = ("n", "scale")
VERDICTS = {-1: "does not", 0: "undecided", 1: "interpolates"}
_COLOURS = ("#D55E00", "#DDDDDD", "#0072B2")


def counts(ds: xr.Dataset) -> dict[tuple[int, float], tuple[int, int, int]]:
    """Networks that interpolate, that do not, and all, by (n, λ)."""
    seen = known_limits(ds)["interpolates"]
    each = ((seen == 1), (seen == 0), ds["status"].notnull())
    won, lost, seeds = (v.sum("seed").transpose(*AXES).values for v in each)
    cells = itertools.product(ds["n"].values.tolist(), ds["scale"].values.tolist())
    rows = np.stack([won, lost, seeds], axis=-1).reshape(-1, 3).tolist()
    return {cell: tuple(row) for cell, row in zip(cells, rows, strict=True) if row[2]}


def shares(ds: xr.Dataset) -> dict[tuple[int, float], Estimate]:
    """Share that interpolates, by (n, λ); unknown networks count as both."""
    return {cell: either_way(*row) for cell, row in counts(ds).items()}


def verdict(seen: Estimate) -> int:
    """1 if all of the interval is above ½, −1 if all of it is below, else 0."""
    return int(seen.low > 0.5) - int(seen.high < 0.5)


def refined(ds: xr.Dataset, most: int) -> dict[tuple[int, float], int]:
    """Number of seeds that decides more, by (n, λ); decided cells keep theirs.

    An undecided cell gets twice as many seeds, up to `most`.  The exception is a cell
    in which most limits are unknown: it needs time, not seeds.  Between two
    neighbouring sizes with different verdicts there is a new one, half way in ln n,
    with the seeds of the first.
    """
    found, wanted = shares(ds), dict[tuple[int, float], int]()
    for cell, (won, lost, seeds) in counts(ds).items():
        is_open = 2 * (won + lost) >= seeds and not verdict(found[cell])
        wanted[cell] = max(seeds, min(2 * seeds, most)) if is_open else seeds
    for scale in sorted({scale for _, scale in found}):
        sizes = [n for n, here in found if here == scale]
        for n, after in itertools.pairwise(sizes):
            between = round((n * after) ** 0.5)
            pair = {verdict(found[n, scale]), verdict(found[after, scale])}
            if pair == {1, -1} and n < between < after:
                wanted[between, scale] = wanted[n, scale]
    return wanted


def draw_map(axes: Axes, ds: xr.Dataset) -> None:
    """A colour and a share for every cell that was run, and the sizes from theory."""
    found, d = counts(ds), int(ds["d"])
    scales = sorted({scale for _, scale in found})
    for i, scale in enumerate(scales):
        here = {n: row for (n, s), row in found.items() if s == scale}
        kinds = [verdict(either_way(*row)) for row in here.values()]
        axes.pcolormesh(
            np.exp(_edges(np.log([n / d for n in here]))),
            [i - 0.5, i + 0.5],
            [kinds],
            cmap=ListedColormap(_COLOURS),
            vmin=-1,
            vmax=1,
            edgecolor="white",
        )
        for kind, (n, row) in zip(kinds, here.items(), strict=True):
            axes.text(
                n / d,
                i,
                _label(*row),
                fontsize=7,
                color="white" if kind else "black",
                ha="center",
                va="center",
            )
    for colour, text in zip(_COLOURS, VERDICTS.values(), strict=True):
        axes.plot([], [], "s", color=colour, label=text)
    _theory(axes, d, int(ds["m"]))
    axes.set_xscale("log")
    every = sorted({n / d for n, _ in found})
    axes.set_xticks(every, [f"{v:g}" for v in every])
    axes.minorticks_off()
    axes.set_yticks(range(len(scales)), [f"{v:g}" for v in scales])
    axes.grid(visible=False)


def _theory(axes: Axes, d: int, m: int) -> None:
    """Sizes from theory that lie on the map."""
    low, high = axes.get_xlim()
    sizes = {
        "two regressions interpolate half": (two_group_threshold(d), "-"),
        "n = d³": (d**3, "--"),
        "n = m": (m, ":"),
    }
    for label, (n, line) in sizes.items():
        if low < n / d < high:
            law_vertical(axes, n / d, label, ls=line)


def _label(won: int, lost: int, seeds: int) -> str:
    """The share of a cell; a range if some networks are unknown, "?" if all are."""
    low, high = won / seeds, 1 - lost / seeds
    share = f"{low:.2f}" if low == high else f"{low:.2f}…{high:.2f}"
    return f"{share if won + lost else '?'}\nof {seeds}"


def _edges(middles: np.ndarray) -> np.ndarray:
    """Edges half way between sizes, and as far beyond the ends."""
    if len(middles) == 1:
        return middles + np.array([-0.5, 0.5])
    between = (middles[1:] + middles[:-1]) / 2
    first, last = 2 * middles[0] - between[0], 2 * middles[-1] - between[-1]
    return np.array([first, *between, last])
