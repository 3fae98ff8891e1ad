"""Derivatives of trajectories of two-layer ReLU networks, through their events."""
