"""Networks of images."""
