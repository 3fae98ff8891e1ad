"""First-layer filters: smooth patterns, some of a single colour.

A convolutional network with 32 filters of 7 × 7 learns the shape of coloured dead
leaves: discs, squares or triangles, whose angle and hue carry no information.  A
least-squares fit classifies every filter.  It is a *Gabor* function (grey stripes under
a Gaussian), a *colour* (one colour against another) or *neither*, as all filters are at
initialisation.  A filter of an opposite pair is close to another filter's negative.

Control: networks on the same images with permuted pixels, one permutation for all
images.  There, neighbouring pixels carry no information.

The published shares are of large networks on photographs, classified by eye.  The
figure quotes them; they are not bands.  The preset `fashion` uses Fashion-MNIST, grey
photographs from a package of Debian; they have no colours.  The preset `paper` uses
CIFAR-10 and needs its files.

Reference: Olah et al. (2020), An overview of early vision in InceptionV1, Distill,
doi:10.23915/distill.00024.002; Shang et al. (2016), arXiv:1603.05201, for pairs.
"""

import dataclasses

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import difference_of, largest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.vision.images import CLASSES, SHAPE, Source, images
from simbias.experiment_presets import presets
from simbias.experiments._times import step_times
from simbias.experiments.layers._filters import gallery
from simbias.figures import Curves, Drawing, Panels
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import ClassAccuracy, FilterFits, FirstFilters, NegativePairs
from simbias.measures.filters.filter_kinds import KINDS, FilterKinds
from simbias.networks import convolutional
from simbias.validation.values import positive_integer

OLAH = "Olah et al. (2020), Distill 24.002, that there are such"
SHANG = "Shang et al. (2016), arXiv:1603.05201, that there are such"
OURS = "ours"
# By how much a share that stands still may change.
STILL = (-0.05, 0.05)
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 0.1
# What the figure and the claims read.
AXES = ("permuted",)


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

    Filters and their shifts start at `scale` times the default initialisation.

    Args:
        key: random key.
        permuted: whether pixels are permuted, in one way for all images and channels.
        n: samples to train on.
        n_test: samples of the test set.
        m: number of filters.
        p: neurons of the ReLU layer.
        scale: initialisation scale of the filters and their shifts.
        source: name of the dataset.
        data_dir: folder that holds the files of the images; nothing is downloaded.
        verify: whether image files are checked against their published digests.
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
        k=CLASSES[source],
        channels=(m,),
        p=p,
        size=7,
        stride=2,
    )
    first = lambda arrays: tuple(scale * v for v in arrays)
    return data, dataclasses.replace(
        network, kernels=first(network.kernels), shifts=first(network.shifts)
    )


_RATE = 0.001


experiment = presets(
    Experiment(
        name="first_filters",
        make=make,
        cell={"permuted": (False, True)},
        seeds=8,
        flow=Descent(rate=_RATE, optimiser="adam", batch=64, weight_decay=1e-3),
        loss=cross_entropy,
        times=step_times(_RATE, 2000, 200),
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
        "times": step_times(_RATE, 100, 50),
    },
    paper={
        "cell": {"n": 50_000, "n_test": 10_000, "p": 256, "source": "cifar10"},
        "times": step_times(_RATE, 100_000, 10_000),
    },
    fashion={"cell": {"source": "fashion"}},
    fashion_paper={"cell": {"source": "fashion"}},
)


figure = Panels(
    Drawing(lambda axes, part: gallery(axes, part.isel(seed=0))),
    Curves(
        lambda part: 100 * part["kinds"].sel(kind=list(KINDS[:2])),
        colour="kind",
        mark="o",
        ylabel="share of the filters, %",
    ),
    Curves(
        "pairs",
        colour="pairing",
        mark="o",
        first_colour=2,
        ylabel="−cos of a filter and its partner",
    ),
    columns="permuted",
    xlabel="time, updates × rate",
    names={
        "kind": {"gabor": "Gabor"},
        "permuted": {False: "images", True: "pixels permuted"},
        "pairing": {"opposite": "the most opposite", "signs": "… with signs tossed"},
    },
    size=(4.4, 2.8),
    legend=5,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Gabor and colour shares rise from 0 and then stay; opposites exist.

    With permuted pixels no share rises.
    """
    own, control = (at(ds, "permuted", value) for value in (False, True))
    start, end = _ends(own["kinds"])
    control_start, control_end = _ends(control["kinds"])
    first, last = _ends(own["pairs"])
    was, chance = (first.sel(pairing=k) for k in ("opposite", "signs"))
    opposite, random, signs = (
        last.sel(pairing=k) for k in ("opposite", "random", "signs")
    )
    none, told = (0, 0.02), "share Gabor or colour"
    text = "−cos of opposite filters at the end"
    begin, permuted = f"control, the start: {told}, largest", "pixels permuted"
    begin_too = f"control, the start, {permuted}: {told}, largest"
    finish = f"control, {permuted}: {told} at the end, largest"
    tossed = "control: the last at the start"
    late = own["kinds"].isel(time=round(0.7 * (own.sizes["time"] - 1)), drop=True)
    rises, apart, still = [], [], []
    for kind in KINDS[:2]:
        seen, before, other = (v.sel(kind=kind) for v in (end, start, control_end))
        rise, more = f"share {kind}, end − start", f"share {kind} at the end, images − "
        change = f"share {kind}: change since 0.7 of training"
        can_be = kind != "colour" or ds.sizes["channel"] > 1, "images in colour"
        rise = difference_of(rise, seen, before, (0, 1), OLAH)
        more = difference_of(more + permuted, seen, other, (0, 1), OURS)
        change = difference_of(change, seen, late.sel(kind=kind), STILL, OURS)
        rises.append(rise.given(*can_be))
        apart.append(more.given(*can_be))
        still.append(change.given(*can_be))
    return [
        largest_of(begin, _told(start), none, OURS),
        *rises,
        difference_of(f"{text} − of random pairs", opposite, random, (0, 2), SHANG),
        difference_of(f"{text} − at the start", opposite, was, (0, 2), SHANG),
        difference_of(f"{text} − with signs tossed", opposite, signs, (0, 2), OURS),
        difference_of(tossed, was, chance, (-0.01, 0.01), "0; band ours"),
        largest_of(begin_too, _told(control_start), none, OURS),
        largest_of(finish, _told(control_end), none, OURS),
        *apart,
        *still,
    ]


def _ends(values: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Values at the first and at the last time."""
    return values.isel(time=0, drop=True), values.isel(time=-1, drop=True)


def _told(kinds: xr.DataArray) -> xr.DataArray:
    """Share of the filters that are Gabor or colour."""
    return 1 - kinds.sel(kind="neither")
