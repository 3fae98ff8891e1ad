"""Closed forms and oracles: truth for the tests, lines for the figures."""
