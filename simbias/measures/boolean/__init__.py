"""Functions of strings of bits: gradients, parities, random functions that fit."""
