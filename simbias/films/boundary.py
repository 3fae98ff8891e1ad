"""Where a network of two inputs changes its mind."""

import jax
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.figures.style import COLOURS
from simbias.films.activation_boundaries import activation_boundaries
from simbias.films.events import CROSSING, LEAVING
from simbias.films.inputs import filled, rows, varying
from simbias.films.panel import Panel, Show, legend_under
from simbias.films.training import Training

_SIDE = 81
_MAP, _LEVELS = [COLOURS[1], "white", COLOURS[0]], 14
# What a ring around a sample says of a hidden unit there, its colour and diameter.
_RINGS = (
    ("crosses", COLOURS[4], 9),
    ("slides", COLOURS[6], 12),
    ("is released", COLOURS[3], 15),
)


def check_plane(data: Dataset) -> None:
    """Refuse a sample without a plane to draw, or of several outputs.

    Raises:
        ValueError: for other inputs than two and fewer `features`, or several outputs.
    """
    if data.y.shape[1] != 1:
        raise BadInput(
            f"`kind` boundary is for networks of one output, got {data.y.shape[1]}."
        )
    inputs = len(varying(data))
    is_spanned = np.linalg.matrix_rank(np.asarray(data.features)[:2]) == 2
    if inputs != 2 and not (inputs > 2 and is_spanned):
        raise BadInput(
            "`kind` boundary is for networks of two inputs, or samples of a law with "
            f"two `features`, got {inputs} inputs that vary. Others: neurons, function."
        )


def boundary(training: Training) -> Panel:
    """The sign of f over the plane, f = 0 as a line, and the sample by its labels.

    The plane is that of the two inputs; of more inputs, the one through 0 that the
    first two `features` of the law span, with the sample projected on it.  A colour is
    f over the largest |f| at that time, so that it is seen from the first step on.

    Of a network with the method `gated` and few units thin lines show where their
    pre-activations are 0, dotted for layers after the first.  Where the events of an
    exact flow are known, rings mark samples on which a unit crosses, slides or is
    released, and the line of a unit that slides is thick.

    Raises:
        ValueError: for other inputs, or several outputs.
    """
    data = training.data
    check_plane(data)
    y = rows(data)[1]
    places, names, at = _plane(data)
    low, high = places.min(axis=0), places.max(axis=0)
    room = 0.15 * (high - low).max()
    axis = [np.linspace(low[i] - room, high[i] + room, _SIDE) for i in range(2)]
    grid = np.stack(np.meshgrid(*axis), axis=-1).reshape(-1, 2)
    inputs = at(grid).astype(data.x.dtype)
    f = training.along(lambda net: jax.vmap(net)(inputs)[:, 0])
    size = np.abs(f).max(axis=1, keepdims=True)
    f = (f / np.where(size > 0, size, 1)).reshape(len(f), _SIDE, _SIDE)
    coarse = [axis[i][::2] for i in range(2)]
    on_coarse = at(np.stack(np.meshgrid(*coarse), axis=-1).reshape(-1, 2))
    kinks = activation_boundaries(training, on_coarse.astype(data.x.dtype))

    def draw(axes: Axes) -> Show:
        edges = (axis[0][0], axis[0][-1], axis[1][0], axis[1][-1])
        map_ = LinearSegmentedColormap.from_list("", _MAP, _LEVELS)
        picture = axes.imshow(
            f[0], origin="lower", extent=edges, cmap=map_, vmin=-1, vmax=1, alpha=0.55
        )
        dots = [
            axes.plot(*places[of].T, mark, color=colour, ms=5, mec="white", label=said)[
                0
            ]
            for of, mark, colour, said in (
                (y[:, 0] > 0, "o", COLOURS[0], "y > 0"),
                (y[:, 0] <= 0, "s", COLOURS[1], "y ≤ 0"),
            )
        ]
        lines = []
        events, rings = training.events, {}
        if events is not None:
            for label, colour, diameter in _RINGS:
                options = {"mfc": "none", "mec": colour, "ms": diameter, "mew": 1.8}
                (rings[label],) = axes.plot([], [], "o", label=label, **options)
            dots += rings.values()

        def show_kinks(record: int, sliding: set[tuple[int, int]]) -> None:
            for unit, z in kinks.items():
                height = z[record].reshape(len(coarse[1]), len(coarse[0]))
                if not height.min() < 0 < height.max():
                    continue
                width = 2.0 if unit in sliding else 0.6
                style = "solid" if unit[0] == 0 else "dotted"
                options = {"linewidths": width, "linestyles": style, "alpha": 0.8}
                lines.append(
                    axes.contour(*coarse, height, [0.0], colors="#555555", **options)
                )

        def show(record: int) -> None:
            picture.set_data(f[record])
            while lines:
                lines.pop().remove()
            sliding = set()
            if events is not None:
                sliding = events.sliding(training.times[record])
                there = {
                    "crosses": events.recent(training.times, record, CROSSING),
                    "slides": np.array(sorted({i for *_, i in sliding}), int),
                    "is released": events.recent(training.times, record, LEAVING),
                }
                for label, samples in there.items():
                    rings[label].set_data(*places[samples].T)
            show_kinks(record, {(layer, neuron) for layer, neuron, _ in sliding})
            if f[record].min() < 0 < f[record].max():
                options = {"levels": [0.0], "colors": "black", "linewidths": 1.5}
                lines.append(axes.contour(*axis, f[record], **options))

        axes.grid(visible=False)
        axes.set(xlabel=names[0], ylabel=names[1], title="black: where f = 0")
        legend_under(axes, dots, 2 if events is None else 5)
        return show

    return Panel({"f": f}, draw)


def _plane(data: Dataset):
    """Places of the sample in a plane, names of its axes, and its points as inputs."""
    columns, x = varying(data), rows(data)[0]
    if len(columns) == 2:
        names = [f"x{_subscript(c + 1)}" for c in columns.tolist()]
        return x[:, columns], names, lambda grid: filled(data, columns, grid)
    features = np.asarray(data.features)[:2]
    frame = np.linalg.qr(features.T)[0]
    frame = frame * np.sign((frame * features.T).sum(axis=0))
    names = ["along the first feature", "along the second feature"]
    return x @ frame, names, lambda grid: grid @ frame.T


def _subscript(number: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
