"""A member of a run in moving pictures."""
