"""Parts of the flow from a vanishing start."""
