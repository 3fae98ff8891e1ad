"""Parts of `Descent`."""
