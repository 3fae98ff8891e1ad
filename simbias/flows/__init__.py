"""How weights move, one flow per file."""
