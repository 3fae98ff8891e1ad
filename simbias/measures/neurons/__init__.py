"""What single neurons do: direction, size, balance."""
