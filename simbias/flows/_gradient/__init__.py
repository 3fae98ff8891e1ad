"""Parts of the gradient flow of smooth networks."""
