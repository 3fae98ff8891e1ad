"""Layer similarity: lower layers settle first, and two seeds share neurons.

SVCCA and linear CKA compare a layer's activations at several epochs with those at the
end of training.  The lower a layer, the sooner it is similar to its final state.  Two
networks that learn the same classes from different initialisations, on different
batches, have neurons in common: a matching of their neurons finds them.  With a network
that learned another task, odd or even, there are fewer.

By default the images are 8 × 8 digits.  The preset `fashion` uses 1000 photographs of
Fashion-MNIST, from a package of Debian.

CKA is that of Kornblith, Norouzi, Lee & Hinton (2019), arXiv:1905.00414.

Reference: Raghu, Gilmer, Yosinski & Sohl-Dickstein (2017), arXiv:1706.05806; Li et al.
(2016), arXiv:1511.07543.
"""

import itertools

import jax
import jax.numpy as jnp
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import difference_of, smallest_of
from simbias.core import Claim, Dataset, Experiment
from simbias.datasets.vision.images import Source, images
from simbias.experiment_presets import presets
from simbias.experiments.layers._digits import BATCH, CLASSES, RATE, N, input_size
from simbias.experiments.layers._remembering import EPOCHS, remembering
from simbias.experiments.layers._side_by_side import (
    SideBySide,
    descent_of_each,
    shared_cross_entropy,
    side_by_side,
    with_targets,
)
from simbias.figures import Curves, Panels, evenly
from simbias.measures import AccuracyOfEach, EpochSimilarity, MatchedCorrelation
from simbias.networks import mlp
from simbias.validation.values import positive_integer

SVCCA = "Raghu et al. (2017), arXiv:1706.05806"
CKA = f"{SVCCA}, of CKA as well: ours"
MATCHED = "Li et al. (2016), arXiv:1511.07543; the other task is ours"
LEAST_TIME = 20.0
HIDDEN = 3
OTHERS = ("same task", "another task")
AXES = ()


def make(
    key: PRNGKeyArray,
    *,
    n: int = N,
    n_test: int = 597,
    m: int = 128,
    source: Source = "digits",
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, SideBySide]:
    """Images, and three networks: two learn the classes, one learns odd or even.

    The first of them stores its past.
    """
    positive_integer("m", m)
    keys = jax.random.split(key, 4)
    data = images(
        keys[0], n=n, n_test=n_test, source=source, data_dir=data_dir, verify=verify
    )
    assert data.test is not None
    odd = lambda y: jax.nn.one_hot(jnp.argmax(y, 1) % 2, CLASSES, dtype=y.dtype)
    same, other = (data.y, data.test.y), (odd(data.y), odd(data.test.y))
    data = with_targets(data, same, other)
    widths = (input_size(source), *[m] * HIDDEN, CLASSES)
    first, second, third = (mlp(k, widths) for k in keys[1:])
    return data, side_by_side(remembering(first, n), second, third)


def _times(steps: int, last: int) -> tuple[float, ...]:
    """Time 0, and the time after `last` epochs of `steps` steps."""
    return (0.0, RATE * steps * last)


experiment = presets(
    Experiment(
        name="layer_similarity",
        make=make,
        cell={"m": 128},
        seeds=20,
        flow=descent_of_each(3, RATE, BATCH),
        loss=shared_cross_entropy,
        times=_times(N // BATCH, 100),
        measures={
            "accuracy": AccuracyOfEach(CLASSES),
            "matched_correlation": MatchedCorrelation(OTHERS, HIDDEN),
        },
        final={"similarity": EpochSimilarity(EPOCHS, HIDDEN)},
        dtype="float32",
    ),
    smoke={"cell": {"n": 200, "m": 32}, "seeds": 2, "times": _times(4, 100)},
    paper={
        "cell": {"m": 256, "n": 60_000, "n_test": 10_000, "source": "mnist"},
        "flow": descent_of_each(3, RATE, 128),
        "times": _times(469, 100),
    },
    fashion={"cell": {"source": "fashion"}, "seeds": 10},
    fashion_paper={"cell": {"source": "fashion"}},
)


def ends(part: xr.Dataset) -> xr.DataArray:
    """Correlation of matched neurons, at the end and at initialisation."""
    names = ["at the end", "at the start"]
    return part["matched_correlation"].isel(time=[-1, 0]).assign_coords(time=names)


figure = Panels(
    *(
        Curves(
            lambda part, index=index: part["similarity"].sel(index=index),
            colour="layer",
            mark="o",
            x=evenly("epoch"),
            xlabel="epoch",
            title=f"{index} with the same layer at the end",
        )
        for index in ("SVCCA", "CKA")
    ),
    Curves(
        ends,
        colour="other",
        line="time",
        mark="o",
        first_colour=HIDDEN,
        x=evenly("layer"),
        xlabel="hidden layer",
        title="correlation of matched neurons",
    ),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Lower layers are closer to their final state, and seeds share neurons."""
    train = ds["accuracy"].isel(time=-1).sel(sample="train")
    out = [smallest_of("training accuracy, smallest", train, (0.99, 1.0), "ours")]
    # Between the start and the last of the epochs.
    way = ds["similarity"].isel(epoch=slice(1, -1)).mean("epoch", skipna=False)
    layers = range(1, HIDDEN + 1)
    for index, source in (("SVCCA", SVCCA), ("CKA", CKA)):
        for lower, upper in itertools.pairwise(layers):
            text = f"{index} with the end, epochs 1 to 40: "
            text += f"layer {lower} − layer {upper}"
            one, other = (way.sel(index=index, layer=k) for k in (lower, upper))
            out.append(difference_of(text, one, other, (0, 1), source))
    for layer in layers:
        shared = ds["matched_correlation"].sel(layer=layer)
        for time, text, band, source in (
            (-1, "matched correlation, same task − another task", (0, 1), MATCHED),
            (0, "control: the same at the start", (-0.02, 0.02), "ours"),
        ):
            same, other = (shared.isel(time=time).sel(other=k) for k in OTHERS)
            text = f"{text}, layer {layer}"
            out.append(difference_of(text, same, other, band, source))
    return out
