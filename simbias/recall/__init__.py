"""Members of a result, taken up again: drawn, gone on with, looked at."""
