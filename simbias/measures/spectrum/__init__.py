"""Which frequencies a network is made of, along a line."""
