"""Labelled results to matplotlib; nothing is computed here."""
