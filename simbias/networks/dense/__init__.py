"""Networks of fully connected layers."""
