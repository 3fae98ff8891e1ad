"""Where a two-layer ReLU network goes, and what its neurons do there."""
