"""Bits about the class, and who else has them."""
