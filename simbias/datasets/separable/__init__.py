"""Two classes that a network can separate."""
