"""What the layers of a network are, beside what they were and what others' are."""
