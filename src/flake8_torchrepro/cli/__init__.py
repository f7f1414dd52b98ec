"""The command torchrepro-fix."""
