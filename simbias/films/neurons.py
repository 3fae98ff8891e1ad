"""Neurons that turn and grow, with the directions theory knows."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.projections.polar import PolarAxes

from simbias.core import Dataset
from simbias.ensemble.leaves import named_leaves
from simbias.figures.laws import LAW
from simbias.figures.style import COLOURS
from simbias.films.inputs import varying
from simbias.films.panel import Panel, Show, legend_under
from simbias.films.training import Training
from simbias.introspection.hidden_layer import hidden_layer
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.extremal_vectors import extremal_vectors

# More neurons than these are shown by some of them.
_MOST = 1000
_TICKS = (-1, -0.5, 0, 0.5, 1)
_POSITIVE, _NEGATIVE = COLOURS[0], COLOURS[1]
_KINDS = {1: ("-", _POSITIVE), -1: ("-", _NEGATIVE), 0: (":", LAW)}
_SAID = {
    1: "extremal: max of G",
    -1: "extremal: min of G",
    0: "extremal: saddle",
}


def neurons(training: Training) -> Panel:
    """Every neuron (wⱼ, bⱼ) by its direction, and the extremal vectors.

    In the plane: direction as angle and log ‖w‖ as radius.  Of more inputs: the cosines
    with two directions, and log ‖w‖ as size; the directions are the first two
    `features` of the law, made orthogonal, or the first one and that of the largest
    part of the neurons at the end beside it.

    Raises:
        ValueError: for networks of more hidden layers than one.
    """
    arrays = {k: np.asarray(v) for k, v in named_leaves(training.networks).items()}
    w, b, a = hidden_layer(arrays).neurons(arrays)
    v = w if b is None else np.concatenate([w, b[..., None]], axis=-1)
    some = np.unique(np.linspace(0, v.shape[1] - 1, min(v.shape[1], _MOST)).astype(int))
    v, sign = v[:, some], np.sign(a[:, some].sum(axis=-1))
    length, unit = _lengths(v)
    extremes = _extremes(training, has_bias=b is not None)
    title = f"{v.shape[1]} neurons"
    if len(some) < w.shape[1]:
        title = f"{len(some)} of {w.shape[1]} neurons"
    if v.shape[-1] == 2:
        return _on_circle(unit, length, sign, extremes, _names(training, b), title)
    return _on_disc(unit, length, sign, extremes, training.data, b is not None, title)


def _lengths(
    v: Float[np.ndarray, "t m e"],
) -> tuple[Float[np.ndarray, "t m"], Float[np.ndarray, "t m e"]]:
    """log₁₀ ‖v‖ and v/‖v‖, which may be of any size; −∞ and 0 for v = 0."""
    size = np.abs(v).max(axis=-1, keepdims=True)
    scaled = v / np.where(size > 0, size, 1)
    norm = np.linalg.norm(scaled, axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        length = np.log10(size[..., 0]) + np.log10(norm[..., 0])
    return length, scaled / np.where(norm > 0, norm, 1)


def _extremes(training: Training, *, has_bias: bool) -> dict[int, np.ndarray]:
    """Extremal vectors by kind, where there are some: for ReLU and one output."""
    data, network = training.data, training.networks
    slope = getattr(network, "negative_slope", None)
    is_relu = slope == 0 or getattr(network, "activation", None) is jax.nn.relu
    if not is_relu or data.y.shape[1] != 1:
        return {}
    with exact_numerics():
        if has_bias:
            ones = jnp.ones_like(data.x[:, :1])
            data = dataclasses.replace(data, x=jnp.concatenate([data.x, ones], axis=1))
        found = extremal_vectors(data)
    return {
        k: found.direction[found.kind == k] for k in _KINDS if (found.kind == k).any()
    }


def _names(training: Training, b: np.ndarray | None) -> tuple[str, str]:
    """What the two weights of a neuron act on."""
    columns = varying(training.data)
    if b is not None:
        return "weight", "bias"
    if len(columns) == 2:
        return "w₁", "w₂"
    names = ["bias", "bias"]
    for column in columns:
        names[column] = "weight"
    return names[0], names[1]


def _on_circle(unit, length, sign, extremes, names, title) -> Panel:
    angle = np.arctan2(unit[..., 1], unit[..., 0])
    finite = length[np.isfinite(length)]
    low, high = np.floor(finite.min()), max(np.ceil(finite.max()), 0.0)
    radius = np.maximum(length, low)

    def draw(axes: PolarAxes) -> Show:
        axes.set_ylim(low, high)
        axes.set_rorigin(low - 0.35 * (high - low))
        step = max(1, int(np.ceil((high - low) / 3)))
        ticks = np.arange(high, low, -step)[::-1]
        axes.set_yticks(ticks, [f"$10^{{{int(k)}}}$" for k in ticks], fontsize=7)
        axes.set_rlabel_position(22)
        turns = np.pi * np.array([0, 0.5, 1, 1.5])
        axes.set_xticks(turns, [names[0], names[1], f"−{names[0]}", f"−{names[1]}"])
        axes.set_title(f"{title}: direction, and ‖w‖ as radius")
        for kind, directions in extremes.items():
            line, colour = _KINDS[kind]
            for x, y in directions:
                turn = np.arctan2(y, x)
                axes.plot(
                    [turn, turn], [low, high], line, color=colour, lw=2, alpha=0.5
                )
        dots = [
            axes.plot([], [], "o", ms=4.5, alpha=0.7, mew=0, color=colour, zorder=3)[0]
            for colour in (_POSITIVE, _NEGATIVE)
        ]
        _legend(axes, extremes)

        def show(record: int) -> None:
            for mark, dot in zip((1, -1), dots, strict=True):
                of = sign[record] == mark
                dot.set_data(angle[record, of], radius[record, of])

        return show

    return Panel({"angle": unit, "length": radius}, draw, "polar")


def _on_disc(unit, length, sign, extremes, data, has_bias, title) -> Panel:
    frame, names = _frame(unit, length, data, has_bias)
    places = unit @ frame
    finite = length[np.isfinite(length)]
    low, high = finite.min(), max(finite.max(), finite.min() + 1)
    size = 4 + 60 * ((np.maximum(length, low) - low) / (high - low)) ** 2

    def draw(axes: Axes) -> Show:
        turn = np.linspace(0, 2 * np.pi, 200)
        axes.plot(np.cos(turn), np.sin(turn), color="#BBBBBB", lw=1)
        axes.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), aspect="equal")
        axes.set(xlabel=names[0], ylabel=names[1])
        axes.set(xticks=_TICKS, yticks=_TICKS)
        axes.set_title(f"{title}: cosines, and log ‖w‖ as size")
        for kind, directions in extremes.items():
            at = directions @ frame
            options = {"color": _KINDS[kind][1], "mfc": "none", "ms": 11, "mew": 1.5}
            axes.plot(*at.T, "D", **options)
        dots = [
            axes.scatter([], [], alpha=0.7, lw=0, color=colour, zorder=3)
            for colour in (_POSITIVE, _NEGATIVE)
        ]
        _legend(axes, extremes, "D")

        def show(record: int) -> None:
            for mark, dot in zip((1, -1), dots, strict=True):
                of = sign[record] == mark
                dot.set_offsets(places[record, of])
                dot.set_sizes(size[record, of])

        return show

    return Panel({"place": places, "size": size}, draw)


def _frame(
    unit: Float[np.ndarray, "t m e"],
    length: Float[np.ndarray, "t m"],
    data: Dataset,
    has_bias: bool,
) -> tuple[Float[np.ndarray, "e 2"], tuple[str, str]]:
    """Two orthonormal directions, and what they are."""
    features = np.asarray(data.features)
    if has_bias:
        features = np.pad(features, ((0, 0), (0, 1)))
    first, second = ("cosine with the first feature", "cosine with the second feature")
    if len(features) > 1 and np.linalg.matrix_rank(features[:2]) == 2:
        frame, triangle = np.linalg.qr(features[:2].T)
        return frame * np.sign(np.diag(triangle)), (first, f"{second}, beside it")
    last = unit[-1] * 10 ** (length[-1] - length[-1].max())[:, None]
    if len(features) == 1 and features.any():
        u = features[0] / np.linalg.norm(features[0])
        rest = np.linalg.svd(last - np.outer(last @ u, u), full_matrices=False)[2][0]
        rest = rest - u * (u @ rest)
        rest = rest / np.linalg.norm(rest)
        return np.stack([u, rest], axis=1), (
            first,
            "cosine with the main direction beside it",
        )
    frame = np.linalg.svd(last, full_matrices=False)[2][:2].T
    return frame, (
        "cosine with the main direction at the end",
        "cosine with the second direction",
    )


def _legend(axes: Axes, extremes: dict[int, np.ndarray], mark: str = "") -> None:
    both = ((_POSITIVE, "a > 0"), (_NEGATIVE, "a < 0"))
    marks = [
        Line2D([], [], marker="o", ls="", color=colour, label=text)
        for colour, text in both
    ]
    for kind in extremes:
        line, colour = _KINDS[kind]
        look: dict[str, Any] = {"ls": line, "lw": 2, "alpha": 0.5}
        if mark:
            look = {"ls": "", "marker": mark, "mfc": "none", "mew": 1.5}
        marks.append(Line2D([], [], color=colour, label=_SAID[kind], **look))
    legend_under(axes, marks, columns=len(marks))
