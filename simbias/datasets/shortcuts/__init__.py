"""Several features, of which the simplest is enough."""
