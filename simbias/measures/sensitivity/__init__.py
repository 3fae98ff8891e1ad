"""How often the class of a string changes when one of its bits does."""
