"""Thousands of members at once: grid, plan, lane, engine, table."""
