"""What PyTorch does, as tables."""
