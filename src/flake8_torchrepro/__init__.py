"""Find and repair the mistakes that make PyTorch results irreproducible or inference wasteful."""

__version__ = "0.1.0"
