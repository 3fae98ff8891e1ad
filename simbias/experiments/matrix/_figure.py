"""The whole design in one figure: verdicts, and what each bias depends on."""

import itertools

import xarray as xr
from matplotlib.figure import Figure

from simbias.analysis.variance_shares import HIGHER, SEED
from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._settings import ACTIVATIONS, EVERY, STARTS, parsed
from simbias.figures.share_bars import share_bars
from simbias.figures.style import blank, style
from simbias.figures.verdict_map import verdict_map

_PAIRS, _OTHERS = "two factors together", (HIGHER, SEED)


def full_figure(table: xr.Dataset, shares: xr.Dataset) -> Figure:
    """A map of verdicts beside a stacked bar of shares for each bias.

    Args:
        table: result of `effect_matrix`, over all biases, settings and optimisers.
        shares: result of `dependence`.
    """
    groups: list[tuple[str, str]] = [*itertools.product(STARTS, ACTIVATIONS)]
    order = sorted(EVERY, key=lambda one: groups.index(_group(one)))
    verdicts = table["verdict"].sel(setting=order)
    sizes = verdicts.sizes["setting"] // len(groups) * verdicts.sizes["flow.optimiser"]
    verdicts = verdicts.stack(cell=("setting", "flow.optimiser"))
    sources = [str(k) for k in shares["source"].values]
    alone = [k for k in sources if " × " not in k and k not in _OTHERS]
    segments = {k: [k] for k in alone}
    segments[_PAIRS] = [k for k in sources if " × " in k]
    segments |= {k: [k] for k in _OTHERS}
    with style():
        whole = blank(13.3, 6.6)
        left, right = whole.subplots(1, 2, width_ratios=(3, 2))
        marks = verdict_map(
            left,
            verdicts,
            [f"{start}\n{activation}" for start, activation in groups],
            [i * sizes for i in range(len(groups))],
        )
        left.set_yticks(range(len(ROWS)), [one.title for one in ROWS.values()])
        left.set_title("verdict in each cell")
        share_bars(right, shares, segments, greys=(_PAIRS, *_OTHERS))
        right.set_yticks([])
        right.set_title("what the bias depends on")
        # A legend below each panel: the same colours mean something else beside.
        left.legend(
            handles=marks,
            loc="upper center",
            bbox_to_anchor=(0.4, -0.13),
            ncols=3,
        )
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    return whole


def _group(setting: str) -> tuple[str, str]:
    level = parsed(setting)
    return level.start, level.activation
