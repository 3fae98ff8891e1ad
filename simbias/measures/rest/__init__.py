"""How near a network is to rest, and what would take it away again."""
