"""What is seen of a test sample through its first principal components."""
