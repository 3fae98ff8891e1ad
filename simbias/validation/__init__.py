"""What is refused, and in which words, before anything is computed."""
