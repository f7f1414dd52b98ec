"""What control flow does: a small abstract interpreter."""
