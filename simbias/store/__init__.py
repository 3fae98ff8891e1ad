"""A stored run: a zarr group that is readable at every moment."""
