"""Rules that end a member early, one per file."""
