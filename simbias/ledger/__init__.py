"""The papers behind the experiments: what of each statement has been seen, what not.

`papers/` has a file per paper: its statements with their numbers, and for each either
the claims that are about it or why there is none.  What was seen is never written
there; it comes from stored checks.
"""
