"""What changes when a feature, or an input, is changed."""
