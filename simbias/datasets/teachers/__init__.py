"""Targets that a known function gives."""
