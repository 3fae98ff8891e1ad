"""Several networks in one member: scores of each and of pairs, paths between two."""
