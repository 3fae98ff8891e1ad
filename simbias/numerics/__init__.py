"""What is not about networks: tiling, precision, compiled programs, conditionals."""
