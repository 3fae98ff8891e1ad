"""Networks and their initial laws: a pytree and the functions that draw it."""
