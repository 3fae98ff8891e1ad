"""The filters of a first convolution as an image."""

import jax.numpy as jnp
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from simbias.figures import COLOURS
from simbias.measures.filters.filter_kinds import KINDS, kinds

_COLUMNS = 11


def gallery(axes: Axes, member: xr.Dataset) -> None:
    """Filters of one network, best fits first, with frames by kind.

    Each is divided by its largest weight.  One channel is grey; three are red, green
    and blue.
    """
    filters = member["filters"].transpose("filter", "row", "column", "channel").values
    fits = member["fits"].transpose("filter", "fit").values
    order = np.argsort(-np.maximum(fits[:, 0], fits[:, 2]))
    is_of = np.asarray(kinds(jnp.asarray(fits[order])))
    size = filters.shape[1]
    for place, image in enumerate(filters[order]):
        top = np.max(np.abs(image))
        shown = 0.5 + image / (2 * top if top > 0 else 1)
        shown = np.repeat(shown, 3, axis=2)[:, :, :3] if image.shape[2] == 1 else shown
        y, x = (size + 2.0) * np.array(divmod(place, _COLUMNS))
        axes.imshow(shown, extent=(x, x + size, y + size, y), interpolation="nearest")
        kind = int(np.argmax(is_of[:, place]))
        if KINDS[kind] != "neither":
            frame = Rectangle((x - 0.5, y - 0.5), size + 1, size + 1)
            frame.set(fill=False, edgecolor=COLOURS[kind], linewidth=2.5)
            axes.add_patch(frame)
    rows = -(-len(filters) // _COLUMNS)
    axes.set_xlim(-1, _COLUMNS * (size + 2))
    axes.set_ylim(rows * (size + 2), -1)
    axes.set_aspect("equal")
    axes.axis("off")
