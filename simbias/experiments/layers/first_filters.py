"""What the first convolution looks for: smooth patterns, some of them of one colour.

A convolutional network with 32 filters of 7 × 7 learns the shape of coloured dead
leaves: discs, squares or triangles, whose angle and hue say nothing.  Every filter is
told by a least-squares fit: a *Gabor* function, grey stripes under a Gaussian; a
*colour*, where one colour is set against another; or *neither*, as all are at the
start.  Opposite pairs are filters each of which is close to another's negative.

Networks on the same images with their pixels in another order, one for all images, are
the control: what is next to each other says nothing there.

Shares that were published are those of large networks on photographs, told by eye;
they are printed beside and are no bands.  The preset `paper` is CIFAR-10 and needs its
files.

Reference: Olah et al. (2020), An overview of early vision in InceptionV1, Distill,
doi:10.23915/distill.00024.002; Shang et al. (2016), arXiv:1603.05201, for pairs.
"""

import dataclasses

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.checks.values import positive_integer
from simbias.claims import difference_of, largest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.vision.images import SHAPE, Source, images
from simbias.experiments.layers._filters import FirstFilters, gallery
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import cross_entropy
from simbias.measures.filters.filter_fits import FilterFits
from simbias.measures.filters.filter_kinds import KINDS, FilterKinds
from simbias.measures.filters.negative_pairs import NegativePairs
from simbias.measures.risk.class_accuracy import ClassAccuracy
from simbias.networks.convolution.convolutional import convolutional
from simbias.presets import presets

OLAH = "Olah et al. (2020), Distill 24.002, that there are such"
SHANG = "Shang et al. (2016), arXiv:1603.05201, that there are such"
OURS = "ours"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 0.1
# What the figure and the claims read.
AXES = ("permuted",)
# Per cent of the first layer of InceptionV1, by eye, Olah et al.
PUBLISHED = {"Gabor": 44, "colour": 42, "other": 14}
_CLASSES = {"dead_leaves": 3}


def make(
    key: PRNGKeyArray,
    *,
    permuted: bool = False,
    n: int = 20_000,
    n_test: int = 2000,
    m: int = 32,
    p: int = 32,
    scale: Real = 0.25,
    source: Source = "dead_leaves",
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, AbstractNetwork]:
    """Images by class, and a network with m filters of 7 × 7 pixels at stride 2.

    The filters and their shifts start at `scale` times the default of the others.

    Args:
        key: random key.
        permuted: pixels in a random order, one for all images and channels.
        n: samples to train on.
        n_test: samples of the test set.
        m: filters.
        p: features: neurons of the ReLU layer.
        scale: of the filters and their shifts at the start.
        source: which data set.
        data_dir: folder that holds the files of the images; nothing is downloaded.
        verify: whether files of images are checked against their published digests.
    """
    positive_integer("m", m)
    key_data, key_network = jax.random.split(key)
    data = images(
        key_data,
        n=n,
        n_test=n_test,
        source=source,
        permuted=permuted,
        data_dir=data_dir,
        verify=verify,
    )
    network = convolutional(
        key_network,
        image=SHAPE[source],
        k=_CLASSES.get(source, 10),
        channels=(m,),
        p=p,
        size=7,
        stride=2,
    )
    first = lambda arrays: tuple(scale * v for v in arrays)
    return data, dataclasses.replace(
        network, kernels=first(network.kernels), shifts=first(network.shifts)
    )


_RATE, _STEPS = 0.001, 2000


def _times(rate: float, steps: int, records: int) -> tuple[float, ...]:
    return tuple(rate * (steps * i // records) for i in range(records + 1))


experiment = presets(
    Experiment(
        name="first_filters",
        make=make,
        cell={"permuted": (False, True)},
        seeds=8,
        flow=Descent(rate=_RATE, optimiser="adam", batch=64, weight_decay=1e-3),
        loss=cross_entropy,
        times=_times(_RATE, _STEPS, 10),
        measures={"kinds": FilterKinds(), "pairs": NegativePairs()},
        final={
            "accuracy": ClassAccuracy(),
            "fits": FilterFits(),
            "filters": FirstFilters(),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {"permuted": False, "n": 500, "n_test": 200, "m": 8, "p": 8},
        "seeds": 2,
        "times": _times(_RATE, 100, 2),
    },
    paper={
        "cell": {"n": 50_000, "n_test": 10_000, "p": 256, "source": "cifar10"},
        "times": _times(_RATE, 100_000, 10),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Filters of one network; shares of the kinds; opposite pairs."""
    ds = with_axes(ds, AXES)
    with style():
        whole = blank(11.0, 6.0)
        parts = whole.subfigures(2, 1, height_ratios=(1, 1.7))
        above, below = parts  # pyright: ignore
        panels = above.subplots(1, ds.sizes["permuted"], squeeze=False)[0]
        for axes, permuted in zip(panels, ds["permuted"].values, strict=True):
            gallery(axes, ds.sel(permuted=permuted).isel(seed=0))
            axes.set_title(_name(bool(permuted)))
        left, right = below.subplots(1, 2)
        _by_kind(left, ds)
        _by_pairing(right, ds.sel(permuted=bool(ds["permuted"][0])))
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Shares rise from nothing, opposites are there; not where pixels are permuted."""
    ds = with_axes(ds, AXES)
    out = []
    if False in ds["permuted"].values:
        out += _of_images(ds.sel(permuted=False))
    if True in ds["permuted"].values:
        out += _of_control(ds.sel(permuted=True))
    if ds.sizes["permuted"] == 2:
        end = ds["kinds"].isel(time=-1)
        for kind in KINDS[:2]:
            own, other = (
                end.sel(kind=kind, permuted=p, drop=True) for p in (False, True)
            )
            text = f"share {kind} at the end, images − pixels permuted"
            out.append(difference_of(text, own, other, (0.0, 1.0), OURS))
    return out


def _of_images(cell: xr.Dataset) -> list[Claim]:
    kinds, pairs = cell["kinds"], cell["pairs"]
    start, end = kinds.isel(time=0, drop=True), kinds.isel(time=-1, drop=True)
    out = [_at_the_start(start, "")]
    for kind in KINDS[:2]:
        text = f"share {kind}, end − start"
        out.append(
            difference_of(text, end.sel(kind=kind), start.sel(kind=kind), (0, 1), OLAH)
        )
    first, last = (pairs.isel(time=i, drop=True) for i in (0, -1))
    opposite, random, signs = (
        last.sel(pairing=k, drop=True) for k in ("opposite", "random", "signs")
    )
    was = first.sel(pairing="opposite", drop=True)
    chance = first.sel(pairing="signs", drop=True)
    text = "−cos of opposite filters at the end"
    return [
        *out,
        difference_of(f"{text} − of random pairs", opposite, random, (0, 2), SHANG),
        difference_of(f"{text} − at the start", opposite, was, (0, 2), SHANG),
        difference_of(f"{text} − with signs tossed", opposite, signs, (0, 2), OURS),
        difference_of(
            "control: the last at the start", was, chance, (-0.01, 0.01), "0; band ours"
        ),
    ]


def _of_control(cell: xr.Dataset) -> list[Claim]:
    kinds = cell["kinds"]
    told = 1 - kinds.isel(time=-1, drop=True).sel(kind="neither")
    text = "control, pixels permuted: share Gabor or colour at the end, largest"
    return [
        _at_the_start(kinds.isel(time=0, drop=True), ", pixels permuted"),
        largest_of(text, told, (0.0, 0.02), OURS),
    ]


def _at_the_start(start: xr.DataArray, where: str) -> Claim:
    told = 1 - start.sel(kind="neither")
    text = f"control, the start{where}: share Gabor or colour, largest"
    return largest_of(text, told, (0.0, 0.02), OURS)


def _name(permuted: bool) -> str:
    return "control: pixels permuted" if permuted else "images"


def _by_kind(axes: Axes, ds: xr.Dataset) -> None:
    for permuted in ds["permuted"].values:
        for i, kind in enumerate(KINDS[:2]):
            values = 100 * ds["kinds"].sel(permuted=permuted, kind=kind)
            label = f"{kind}, permuted" if permuted else kind
            options = {"colour": COLOURS[i], "label": label, "ms": 3}
            line = "o:" if permuted else "o-"
            band(axes, ds["time"], values.transpose("time", "seed"), line, **options)
    text = ", ".join(f"{v} {k}" for k, v in PUBLISHED.items())
    axes.set_title(f"filters of a kind, %\n(InceptionV1, by eye: {text})")
    axes.set_xlabel("time, updates × rate")
    axes.legend(loc="upper left")


def _by_pairing(axes: Axes, cell: xr.Dataset) -> None:
    labels = {
        "opposite": "the most opposite",
        "signs": "… with signs tossed",
        "random": "random",
    }
    for i, (pairing, label) in enumerate(labels.items()):
        values = cell["pairs"].sel(pairing=pairing).transpose("time", "seed")
        band(axes, cell["time"], values, "o-", colour=COLOURS[i + 2], label=label, ms=3)
    axes.set_title("−cos of a filter and its partner, mean over filters")
    axes.set_xlabel("time, updates × rate")
    axes.legend(loc="upper left")
