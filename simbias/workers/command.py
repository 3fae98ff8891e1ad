"""What a worker is: a Python module that is run as a program."""

import dataclasses
import sys


@dataclasses.dataclass(frozen=True)
class Command:
    """`python -m` with these words, on any machine that has simbias.

    The program must take `--attached`: it leaves, with its work saved, when standard
    input ends.
    """

    words: tuple[str, ...]
    """The module and its arguments."""
    given: bytes = b""
    """What comes first on its standard input."""


def program(*words: str) -> list[str]:
    """`python -m` with these words, which imports nothing from the working directory.

    That folder may be a stranger's: a `tqdm.py` in it would be executed.
    """
    return [sys.executable, "-P", "-m", *words]
