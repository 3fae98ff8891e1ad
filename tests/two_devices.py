"""A child process that has two devices."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def printed_by(code: str) -> str:
    """What a program prints; it sees the tests and simbias, in 64 bits."""
    path = os.pathsep.join([str(HERE), str(HERE.parent)])
    flags = "--xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import jax; jax.config.update('jax_enable_x64', True)\n{code}",
        ],
        env={**os.environ, "PYTHONPATH": path, "XLA_FLAGS": flags},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
