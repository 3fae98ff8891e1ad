"""The kernel of the parameter gradients: what a small step would change."""
