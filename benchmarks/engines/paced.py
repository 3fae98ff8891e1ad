"""Small networks of the exact flow that take their time, for trials of engines.

A process that loads this file sleeps after each member, so that a run lasts long enough
for something to happen to it, on a machine that others use as well.  What a member is
does not depend on it.  Told to sleep for what is no number, it fails at the first one.
"""

import os
import time

import simbias
from simbias.ensemble import engine
from simbias.ensemble.pace import Pace
from simbias.experiments import threshold
from simbias.losses import half_mse
from simbias.measures import TrainRisk

AXES = ()
_harvest = engine.harvest


def _slowly(*arguments):
    time.sleep(float(os.environ.get("SIMBIAS_PACE", "0")))
    return _harvest(*arguments)


class _OneByOne(Pace):
    """So that who is asked to leave does not sleep for several members first."""

    def after(self, seconds, ended, is_spent):
        Pace.after(self, seconds, ended, is_spent)
        self.members = 1


engine.harvest = _slowly
engine.Pace = _OneByOne


def experiment():
    return simbias.Experiment(
        name="paced",
        make=threshold.make,
        cell={"n": 8, "m": 8, "d": 2, "sigma": 0.3, "scale": 0.1, "n_test": 1},
        seeds=240,
        flow=simbias.ReluFlow(),
        loss=half_mse,
        times=(0.0, 1.0, 10.0),
        measures={"train_risk": TrainRisk()},
    )


def figure(ds):
    return threshold.figure(ds)


def claims(ds):
    del ds
    return []
