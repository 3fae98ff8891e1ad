"""Matrices that are products of layers."""
