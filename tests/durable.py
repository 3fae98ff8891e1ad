"""Runs that are stopped in every way, for the tests of durability.

As a program: `python durable.py STORE WAY`, in processes of its own, forked after the
imports so that one more costs little.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import traceback

from small import small

from simbias.ensemble import engine, pace
from simbias.ensemble.plan import make_plan
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes
from simbias.store import checkpoint, work
from simbias.store.blocks import Blocks
from simbias.store.layout import Store
from simbias.store.lease import Leases

# One shape, which compiles fast; each member takes a good many rounds.
LONG = small(cell={"n": 6, "scale": (0.1, 0.5)}, seeds=18, times=(0.0, 10.0, 2000.0))


def run(path, experiment=LONG, **options):
    """What `simulate` does with a store, saving after every round."""
    run_at(pathlib.Path(path), experiment, **options)


def run_at(address, experiment, **options):
    """The same in any place."""
    with exact_numerics():
        plan = make_plan(experiment)
    store = work.prepare(address, plan, attributes(plan))
    while work.complete(store) is None:
        work.work(plan, store, **{"checkpoint_seconds": 0.0, **options})


def program(store, *way):
    """This file as a program, with the same cache of compiled programs."""
    here = pathlib.Path(__file__)
    subprocess.run(
        [sys.executable, str(here), str(store), *way],
        check=True,
        timeout=300,
        env={
            **os.environ,
            "PYTHONPATH": str(here.parent.parent),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        },
    )


def forked(act):
    """Process id of a copy of this process that does something and leaves."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            act()
            code = 0
        except SystemExit as leaving:
            code = leaving.code
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def exit_code(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at_random(path, kills):
    """SIGKILL at random moments of the work, then to the end."""
    moments = random.Random(0)
    for _ in range(kills):
        reader, writer = os.pipe()

        def act(writer=writer):
            receive = Blocks.receive

            def noted(self, event):
                os.write(writer, b"x")
                receive(self, event)

            Blocks.receive = noted
            run(path)

        pid = forked(act)
        os.close(writer)
        os.read(reader, 1)  # at work, or done
        os.close(reader)
        time.sleep(moments.uniform(0, 0.15))
        os.kill(pid, signal.SIGKILL)
        exit_code(pid)
    assert exit_code(forked(lambda: run(path))) == 0


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def killed_between(path):
    """SIGKILL between any two steps of what has to be kept, then to the end."""

    def after(owner, name, count):
        """Die when `owner.name` is called for the count-th time, before it acts."""
        original = getattr(owner, name)
        calls = []

        def counted(*arguments, **options):
            calls.append(1)
            if len(calls) == count:
                die()
            return original(*arguments, **options)

        setattr(owner, name, counted)

    points = [
        (work, "create_store", 1),
        (os, "link", 1),
        (checkpoint.os, "replace", 3),
        (checkpoint, "sync", 1),
        (Store, "commit", 1),
        *[(sys.modules["simbias.store.layout"], "sync", k) for k in (4, 10, 16)],
        (pathlib.Path, "unlink", 9),
        (Leases, "release", 1),
        (work, "finish", 1),
    ]
    for point in points:

        def act(point=point):
            after(*point)
            run(path)

        assert exit_code(forked(act)) == -signal.SIGKILL, point
    assert exit_code(forked(lambda: run(path))) == 0


def logged(path, who):
    """A run that writes down which members this process computes."""
    harvest = engine.harvest

    def noted(member, *rest):
        with pathlib.Path(f"{path}.{who}").open("a") as file:
            file.write(f"{member}\n")
        return harvest(member, *rest)

    engine.harvest = noted
    run(path)


def together(path):
    """Two at once; one of them begins late and has a clock that is years behind."""

    def late():
        time.time = lambda: 1e6
        logged(path, "late")

    pids = [forked(lambda: logged(path, "first")), forked(late)]
    assert [exit_code(pid) for pid in pids] == [0, 0]


def asleep(path):
    """One falls asleep at work, another takes over, and the first one wakes up."""
    Leases.__init__.__kwdefaults__.update(beat_seconds=0.05, stale_seconds=0.5)
    reader, writer = os.pipe()

    def sleepy():
        receive = Blocks.receive

        def noted(self, event):
            receive(self, event)
            os.write(writer, b"x")

        Blocks.receive = noted
        logged(path, "first")

    first = forked(sleepy)
    os.read(reader, 1)
    os.kill(first, signal.SIGSTOP)
    assert list((pathlib.Path(path) / "work" / "leases").iterdir())
    assert exit_code(forked(lambda: logged(path, "late"))) == 0
    os.kill(first, signal.SIGCONT)
    assert exit_code(first) == 0


def main():
    path, way, *rest = sys.argv[1:]
    pace._ROUND_SECONDS = 0.01
    ways = {"between": killed_between, "together": together, "asleep": asleep}
    if way == "random":
        killed_at_random(path, int(rest[0]))
    else:
        ways[way](path)


if __name__ == "__main__":
    main()
