"""Sums that can be told from some of them."""
