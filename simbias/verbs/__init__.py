"""What is done with an experiment and its result; one verb per file."""
