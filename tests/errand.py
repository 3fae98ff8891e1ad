"""What a pool places in its tests: a program that does next to nothing.

    python -m errand FOLDER CODE --attached

With a code of -1 it waits until it is asked to leave.
"""

import os
import pathlib
import sys
import uuid

from simbias.workers._child_process import LEFT, given_to_this


def main():
    folder, code, attached = sys.argv[1:]
    assert attached == "--attached"
    note = pathlib.Path(folder) / uuid.uuid4().hex
    note.with_suffix(".given").write_bytes(given_to_this())
    if int(code) < 0:
        while os.read(0, 1024):
            pass
        note.with_suffix(".left").touch()
        sys.exit(LEFT)
    sys.exit(int(code))


if __name__ == "__main__":
    main()
