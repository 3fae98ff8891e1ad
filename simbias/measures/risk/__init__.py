"""How well the network fits, and whom it resembles."""
