"""The map of n/d and λ, with seeds and sizes added where it is not decided.

Every cell is a run of its own in the folder, which grows: what is there is not computed
again, and a round that was stopped goes on where it was.

    python benchmarks/phase_diagram.py [--out DIR] [--rounds 3] [--most 64]
        [--figure FILE.png] [--json FILE|-] [--smallest]
"""

import argparse
import itertools
import pathlib
import tempfile

import numpy as np
import xarray as xr
from _results import machine, written

import simbias
from simbias.experiments import phase_diagram as paper
from simbias.experiments.interpolation._map import (
    VERDICTS,
    counts,
    refined,
    shares,
    verdict,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="where the cells are kept")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=64, help="seeds of a cell")
    parser.add_argument("--figure")
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    preset = "smoke" if options.smallest else "quick"
    folder = pathlib.Path(options.out or tempfile.mkdtemp())
    begun = paper.experiment(preset)
    sizes, scales = (np.ravel(begun.cell[k]).tolist() for k in paper.AXES)
    if options.smallest:  # every cell compiles its program in every round
        sizes, scales, options.rounds = sizes[:1], scales[:1], 1
    wanted = {at: int(begun.seeds or 1) for at in itertools.product(sizes, scales)}
    rounds = []
    for _ in range(options.rounds):
        parts = [computed(folder, preset, *at, count) for at, count in wanted.items()]
        ds = together(parts)
        found = shares(ds)
        kinds = [VERDICTS[verdict(found[at])] for at in wanted]
        seen = {k: kinds.count(k) for k in VERDICTS.values()}
        members = int(ds["status"].notnull().sum())
        rounds.append({**seen, "cells": len(wanted), "members": members})
        print(rounds[-1], flush=True)
        if (after := refined(ds, options.most)) == wanted:
            break
        wanted = after
    rows = [
        {"n": n, "scale": scale, "seeds": counts(ds)[n, scale][-1]}
        | {"low": found[n, scale].low, "high": found[n, scale].high}
        | {"verdict": VERDICTS[verdict(found[n, scale])]}
        for n, scale in sorted(found)
    ]
    if options.figure:
        paper.figure(ds).savefig(options.figure, dpi=120)
    written(options.json, {**machine(), "rounds": rounds, "rows": rows})


def computed(
    folder: pathlib.Path, preset: str, n: int, scale: float, seeds: int
) -> xr.Dataset:
    """One cell, with at least so many seeds: all that it has had in any round."""
    place = folder / f"n{n}_scale{scale:g}.zarr"
    if place.exists():
        seeds = max(seeds, simbias.open_result(str(place)).sizes["seed"])
    experiment = paper.experiment(preset, n=n, scale=scale, seeds=seeds)
    return simbias.simulate(experiment, store=place).expand_dims(["n", "scale"])


def together(parts: list[xr.Dataset]) -> xr.Dataset:
    """One result of all cells; of seeds that a cell has not there is no status."""
    names = ["train_risk", "status", "end_time"]
    fixed = ["sigma", "d", "m"]
    kept = [
        p[names].reset_coords(drop=True).assign_coords(p[fixed].coords) for p in parts
    ]
    out = xr.combine_by_coords(kept, join="outer", combine_attrs="override")
    assert isinstance(out, xr.Dataset)
    return out


if __name__ == "__main__":
    main()
