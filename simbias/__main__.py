"""`python -m simbias` is the command `simbias`."""

import sys

if __name__ == "__main__":
    # As the command has it: the working directory may be a stranger's.
    if not sys.flags.safe_path:
        del sys.path[0]
    from simbias.cli import main

    main()
