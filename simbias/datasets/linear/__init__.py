"""Linear targets."""
