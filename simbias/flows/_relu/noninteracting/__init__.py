"""Neurons that do not interact yet: each by itself, under constant residuals."""
