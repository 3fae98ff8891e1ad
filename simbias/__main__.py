"""`python -m simbias` is the command `simbias`."""

from simbias.cli import main

if __name__ == "__main__":
    main()
