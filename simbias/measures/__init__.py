"""Numbers computed from the weights at one time, one per file."""
