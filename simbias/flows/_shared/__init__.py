"""What several flows do alike: status, attempts, steps."""
