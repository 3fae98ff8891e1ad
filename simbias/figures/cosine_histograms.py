"""How the neurons' directions concentrate as the sample grows."""

from collections.abc import Sequence

import xarray as xr
from matplotlib.axes import Axes

from simbias.figures.style import COLOURS


def cosine_histograms(axes: Sequence[Axes], share: xr.DataArray) -> None:
    """One panel per n: share of neurons by their cosine with a direction.

    Args:
        axes: one per value of n.
        share: over (n, seed, cosine), averaged over the seeds that finished.
    """
    centres = share["cosine"].values
    width = float(centres[1] - centres[0])
    for panel, n in zip(axes, share["n"].values, strict=True):
        mean = share.sel(n=n).mean("seed")
        panel.bar(centres, mean.values, width=width, color=COLOURS[0])
        panel.set_title(f"n = {n:g}")
        panel.set_xlim(-1.05, 1.05)
        panel.set_xticks([-1, 0, 1])
        panel.set_xlabel("cos(wⱼ, OLS)")
    axes[0].set_ylabel("share of neurons")
