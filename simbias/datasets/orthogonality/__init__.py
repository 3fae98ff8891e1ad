"""Inputs that are orthogonal to each other."""
