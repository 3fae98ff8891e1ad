"""Classes told apart by means, covariances and higher moments; clones and edits."""
