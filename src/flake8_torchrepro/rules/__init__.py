"""The rules, one file each; `flake8_torchrepro.rule` finds them."""
