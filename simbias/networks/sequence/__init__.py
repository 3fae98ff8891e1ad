"""Networks of one string of −1 and +1, read token by token."""
