"""What is computed from stored results: thresholds, intervals, bands."""
