"""Functions of bits, and sets made by the same cut again and again."""
