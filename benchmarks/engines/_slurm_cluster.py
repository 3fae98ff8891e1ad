"""Slurm with two nodes on this machine, from Debian's packages, as root."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator

from _trials import descendants, is_running, kill, parent, until

PACKAGES = ("slurm-wlm", "munge")
_PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")
_PORT = 26817
# A job that starts in the second in which it was queued again is refused by its node.
_PAUSE_SECONDS = 10.0


def lacking() -> str | None:
    """Why there can be no Slurm here, None if there is one; installs it if it can."""
    if os.name != "posix" or os.geteuid():
        return "daemons of Slurm are started as root"
    if all(map(shutil.which, _PROGRAMS)):
        return None
    if shutil.which("apt-get") is None:
        return "Slurm is not installed, and there is no apt-get"
    silent = {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", *PACKAGES]):
        command = ["apt-get", "-qq", *words]
        done = subprocess.run(
            command, env={**os.environ, **silent}, capture_output=True, check=False
        )
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            return f"`{' '.join(command)}` failed: {last}"
    return None


class Cluster:
    """Two nodes of two cores; daemons that can be killed and started again."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.configuration = folder / "slurm.conf"
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        self.daemons: dict[str, subprocess.Popen] = {}
        self._waits_since: dict[str, float] = {}

    def start(self) -> None:
        (self.folder / "state").mkdir(parents=True)
        self.configuration.write_text(_configuration(self.folder))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        at = self.folder / "munge"
        munged = ["munged", "--foreground", "--force", f"--key-file={key}"]
        munged += [f"--{k}={at}.{k}" for k in ("socket", "pid-file", "seed-file")]
        self._daemon("munged", munged + [f"--log-file={at}.log"])
        until(pathlib.Path(f"{at}.socket").exists, 20, "munged")
        self._daemon("slurmctld", ["slurmctld", "-D"])
        for node in ("node1", "node2"):
            self.start_node(node)
        until(lambda: self.run("sinfo", "-h", "-o%T") == "idle", 60, "idle nodes")

    def start_node(self, node: str) -> None:
        self._daemon(node, ["slurmd", "-D", "-N", node])

    def run(self, *command: str) -> str:
        """What a command of Slurm prints."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr.strip()}")
        return done.stdout.strip()

    def queue(self) -> dict[str, str]:
        """State of every job that is waiting or at work."""
        lines = self.run("squeue", "-h", "-r", "-o%i %T").splitlines()
        return dict(line.split() for line in lines)

    def ended(self, seconds: float) -> None:
        """Wait until no job is left; those that were queued again need not wait.

        Slurm lets them wait for two minutes, in which nothing happens.
        """
        until(self._is_empty, seconds, "no job is left")

    def hurry(self) -> None:
        """Jobs that were queued again ten seconds ago start when there is room."""
        for line in self.run("squeue", "-h", "-r", "-o%i %r").splitlines():
            job, reason = line.split(maxsplit=1)
            if reason != "BeginTime":
                self._waits_since.pop(job, None)
            elif (
                time.monotonic() - self._waits_since.setdefault(job, time.monotonic())
                > _PAUSE_SECONDS
            ):
                self.run("scontrol", "update", f"jobid={job}", "starttime=now")

    def _is_empty(self) -> bool:
        self.hurry()
        return not self.queue()

    def kill_node(self, node: str, *, with_jobs: bool) -> list[int]:
        """`kill -9` of a node's daemon, and of all that runs on it."""
        killed = [self.daemons[node].pid]
        if with_jobs:
            steps = [p for p in _processes() if _environment(p, node)]
            # Slurm's own process of a step, which would tell of its end.
            above = {parent(p) for p in steps} - {1, os.getpid()}
            steps += [p for p in above if _is_step(p)]
            killed += [one for step in steps for one in descendants(step)]
        # All at once, so that none can tell that another one has gone.
        kill(killed, signal.SIGSTOP)
        kill(killed)
        self.daemons[node].wait()
        return killed

    @contextlib.contextmanager
    def emptied(self, _: object) -> Iterator[None]:
        """A trial, of which no job is left afterwards."""
        try:
            yield
        finally:
            self.run("scancel", "--user=root")
            self.ended(120)

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):
            self.run("scancel", "--user=root")
            time.sleep(2)
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
            daemon.kill()
        at_work = [p for p in _processes() if is_running(p) and self._is_mine(p)]
        kill(at_work)

    def _is_mine(self, process: int) -> bool:
        return f"SLURM_CONF={self.configuration}" in _variables(process)

    def _daemon(self, name: str, command: list[str]) -> None:
        log = (self.folder / f"{name}.log").open("ab")
        self.daemons[name] = subprocess.Popen(
            command, env=self.environment, stdout=log, stderr=log, stdin=-3
        )


@contextlib.contextmanager
def cluster(folder: pathlib.Path) -> Iterator[Cluster]:
    """A cluster while it lasts."""
    found = Cluster(folder)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def nodes_of(processes: list[int]) -> dict[int, str]:
    """On which node a process of a job is."""
    found = {}
    for process in processes:
        for variable in _variables(process):
            if variable.startswith("SLURMD_NODENAME="):
                found[process] = variable.partition("=")[2]
    return found


def _processes() -> list[int]:
    return [int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")]


def _is_step(process: int) -> bool:
    command = pathlib.Path(f"/proc/{process}/cmdline")
    return command.exists() and b"slurmstepd" in command.read_bytes()


def _environment(process: int, node: str) -> bool:
    return f"SLURMD_NODENAME={node}" in _variables(process)


def _variables(process: int) -> list[str]:
    try:
        raw = pathlib.Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return []
    return raw.decode(errors="replace").split("\0")


def _configuration(folder: pathlib.Path) -> str:
    """Two nodes at the loopback address; `urgent` preempts the other partitions."""
    host = socket.gethostname()
    nodes = "\n".join(
        f"NodeName=node{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={_PORT + i} "
        "CPUs=2 RealMemory=4000"
        for i in (1, 2)
    )
    return f"""\
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={_PORT}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
StateSaveLocation={folder}/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SchedulerParameters=bf_interval=5,sched_interval=5
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=30
SlurmdTimeout=10
ReturnToService=2
{nodes}
PartitionName=short Nodes=node[1-2] Default=YES PriorityTier=1 GraceTime=60
PartitionName=abrupt Nodes=node[1-2] PriorityTier=1 GraceTime=0
PartitionName=urgent Nodes=node[1-2] PriorityTier=10 PreemptMode=OFF
"""
