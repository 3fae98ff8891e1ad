"""Samples of two inputs: extrema of the pull on small neurons."""
