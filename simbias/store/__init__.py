"""A run on disk: a zarr group that is readable at every moment."""
