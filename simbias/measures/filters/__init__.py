"""What the filters of a first convolution look for."""
