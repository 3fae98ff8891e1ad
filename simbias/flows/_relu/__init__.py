"""Parts of the exact flow of ReLU networks."""
