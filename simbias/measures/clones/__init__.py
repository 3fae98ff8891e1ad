"""Networks in one member, trained on a sample and on its clones, on the real law."""
