"""Several networks in one member: accuracies of each, and paths between two."""
