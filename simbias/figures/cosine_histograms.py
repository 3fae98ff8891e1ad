"""How the neurons' directions concentrate as the sample grows."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.figures.style import COLOURS

_DASHES = ("-", "--", ":", "-.")


def cosine_histograms(axes: Sequence[Axes], *shares: xr.DataArray) -> None:
    """One panel per n: share of neurons by their cosine with a direction.

    Args:
        axes: one per value of n.
        shares: of a curve each, over (n, seed, cosine), averaged over the seeds that
            finished; bars of one, outlines in the colours of the curves of several.
    """
    centres = shares[0]["cosine"].values
    width = float(centres[1] - centres[0])
    edges = np.append(centres, centres[-1] + width) - width / 2
    for panel, n in zip(axes, shares[0]["n"].values, strict=True):
        for i, share in enumerate(shares):
            mean, colour = share.sel(n=n).mean("seed").values, COLOURS[i % len(COLOURS)]
            if len(shares) == 1:
                panel.bar(centres, mean, width=width, color=colour)
            else:
                dash = _DASHES[i % len(_DASHES)]
                panel.stairs(mean, edges, color=colour, linestyle=dash, linewidth=1.3)
        panel.set_title(f"n = {n:g}")
        panel.set_axisbelow(True)
        panel.set_xlim(-1.05, 1.05)
        panel.set_xticks([-1, 0, 1])
        panel.set_xlabel("cosine with least squares")
    axes[0].set_ylabel("share of neurons")
