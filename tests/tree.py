"""Where the repository is."""

import pathlib

ROOT = pathlib.Path(__file__).parent.parent
