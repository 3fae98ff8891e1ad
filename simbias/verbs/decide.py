"""Seeds are added to a run until every claim about it is decided."""

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool

from simbias.analysis.looks import look
from simbias.analysis.seeds_to_decide import seeds_to_decide
from simbias.core import Claim, Experiment, Status
from simbias.errors import BadInput
from simbias.results import attributes, to_xarray
from simbias.store.address import place_at
from simbias.store.layout import open_store
from simbias.store.place import Address
from simbias.store.work import prepare, read_so_far, work
from simbias.verbs.simulate import planned

# Estimators that spend their error over the looks need so many at the first.
FIRST_SEEDS = 20
_LEVEL = 0.95
# With the last of them a cell has 40,960 seeds.
_MOST_ROUNDS = 12


@dataclasses.dataclass(frozen=True)
class Decided:
    """A claim when it was last looked at.

    `seeds` is how many it was judged with, `needed` about how many would decide it if
    it is open (`seeds_to_decide`).
    """

    claim: Claim
    seeds: int
    needed: int | None = None


def decide(
    experiment: Experiment,
    claims: Callable[[xr.Dataset], list[Claim]],
    place: Address,
    *,
    budget: float = math.inf,
    recipe: dict[str, Any] | None = None,
    progress: bool = False,
) -> tuple[xr.Dataset, list[Decided]]:
    """Run an experiment with more and more seeds until its claims are decided.

    The first look is with 20 seeds, or those of the experiment if they are more; each
    further one with twice as many in the cells on which open claims rest, and in no
    others.  Intervals are those of `simbias.analysis.looks.look`: all looks together
    are wrong with the probability at which one would be.  A claim that is decided is
    not judged again.  A run that is stopped goes on with the same call.

    Args:
        experiment: what to run.
        claims: of a result.
        place: folder or URL of the store.
        budget: seconds after which no further round is begun; one is begun only if the
            rest should suffice for it at the pace of the last.
        recipe: what the command line keeps of the run.
        progress: draw a progress bar.

    Returns:
        The result, in which cells without open claims have fewer seeds (the others are
        RUNNING), and the claims.

    Raises:
        ValueError: for an experiment without seeds, or a budget that is none.
    """
    if experiment.seeds is None:
        raise BadInput(f"{experiment.name} has no replicates: seeds decide nothing.")
    if not budget > 0:
        raise BadInput(f"`budget` must be positive, got {budget}. Example: '20m'.")
    first = max(FIRST_SEEDS, experiment.seeds)
    stored = _stored_seeds(place)
    decided: list[Decided] = []
    part, cells = xr.Dataset(), None
    begun, before = time.monotonic(), 0
    for k in range(1, _MOST_ROUNDS + 1):
        seeds = first * 2 ** (k - 1)
        larger = dataclasses.replace(experiment, seeds=max(seeds, stored))
        plan = planned(larger)
        described = attributes(plan, recipe)
        store = prepare(place, plan, described)
        of_seed = np.arange(plan.size) % plan.seeds
        is_open = np.ones(len(plan.grid.cells), bool) if cells is None else cells
        wanted = np.repeat(is_open, plan.seeds) & (of_seed < seeds)
        began = time.monotonic()
        missing = wanted & (store.statuses() == Status.RUNNING)
        if k > 1:
            # Of a run that is continued nothing may have been computed yet.
            pace = (began - begun) / before if before else 0.0
            if began - begun + pace * missing.sum() > budget:
                break
        if missing.any():
            work(plan, store, wanted=wanted, progress=progress)
        before += int(missing.sum())
        ds = to_xarray(read_so_far(store), described)
        part = ds.isel(seed=slice(0, seeds))
        decided = _judged(claims, part, k, seeds, decided)
        if not any(map(is_undecided, decided)):
            break
        cells = _cells(claims, part, k, decided).reshape(-1)
    return part, decided


def is_undecided(one: Decided) -> bool:
    """True where more seeds may decide."""
    seen = one.claim.estimate
    is_open = one.claim.verdict == "inconclusive"
    return is_open and seen.level < 1 and math.isfinite(seen.value)


def _judged(
    claims: Callable[[xr.Dataset], list[Claim]],
    ds: xr.Dataset,
    k: int,
    seeds: int,
    before: list[Decided],
) -> list[Decided]:
    """The open claims anew, those that are decided as they were."""
    with look(k):
        seen = [_whole(claim) for claim in claims(ds)]
    new = [Decided(claim, seeds, seeds_to_decide(claim, seeds)) for claim in seen]
    if [d.claim.statement for d in before] != [c.statement for c in seen]:
        return new  # the first look, or claims that depend on what was seen
    kept = zip(before, new, strict=True)
    return [new if is_undecided(old) else old for old, new in kept]


def _whole(claim: Claim) -> Claim:
    """The claim with the confidence of all looks together."""
    seen = claim.estimate
    if seen.level in (_LEVEL, 1.0):
        return claim
    method = f"{seen.method}; {1 - seen.level:.2g} of the error spent at this look"
    seen = dataclasses.replace(seen, level=_LEVEL, method=method)
    return dataclasses.replace(claim, estimate=seen)


def _cells(
    claims: Callable[[xr.Dataset], list[Claim]],
    ds: xr.Dataset,
    k: int,
    decided: list[Decided],
) -> Bool[np.ndarray, "..."]:
    """True for the cells on which an open claim rests, over the axes of the grid.

    A claim rests on a value of an axis if it changes when members there are missing.
    """
    axes = [str(dim) for dim in ds["status"].dims if dim != "seed"]
    rests = [{axis: np.ones(ds.sizes[axis], bool) for axis in axes} for _ in decided]
    told = [_told(one.claim) for one in decided]
    for axis in axes:
        if ds.sizes[axis] == 1:
            continue
        for i, value in enumerate(ds[axis].values):
            try:
                with look(k):
                    seen = claims(_without(ds, axis, value))
                now = [_told(_whole(claim)) for claim in seen]
            except Exception:  # of any kind: what is missing was needed
                continue
            if len(now) == len(told):
                for of_claim, a, b in zip(rests, told, now, strict=True):
                    of_claim[axis][i] = a != b
    found = np.zeros([ds.sizes[axis] for axis in axes], bool)
    for one, of_claim in zip(decided, rests, strict=True):
        if is_undecided(one):
            mine = np.ones((), bool)
            for axis in axes:
                mine = np.logical_and.outer(mine, of_claim[axis])
            found |= mine if mine.any() else True
    return found


def _told(claim: Claim) -> tuple[str, str]:
    return claim.statement, repr(claim.estimate)


def _without(ds: xr.Dataset, axis: str, value: Any) -> xr.Dataset:
    """The result as if members at one value of an axis had not begun."""
    is_other = ds[axis] != value
    masked = {
        name: array.where(is_other)
        for name, array in ds.data_vars.items()
        if axis in array.dims and np.issubdtype(array.dtype, np.floating)
    }
    masked["status"] = ds["status"].where(is_other, int(Status.RUNNING))
    return ds.assign(masked)


def _stored_seeds(place: Address) -> int:
    """Seeds of the run that is there; 0 if there is none."""
    found = place_at(place)
    if not found.exists():
        return 0
    return int(open_store(found).attributes["configuration"]["seeds"])
