"""How many directions a layer or its outputs take up, effectively."""
