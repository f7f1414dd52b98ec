"""Which one place is to blame for a forward pass that several could be blamed for."""

from __future__ import annotations

import pytest
from snippets import complaints, table

SHARED = """
def run_epoch(model, loader):
    total = 0.0
    for x in loader:
        total += model(x).item()  # fine
    return total


def main(model, loader):
    model.train()
    run_epoch(model, loader)  # fine
    model.eval()
    run_epoch(model, loader)  # fault
    with torch.no_grad():
        run_epoch(model, loader)  # fine
"""

BLAME = {
    "a helper that training and validation share": SHARED,
    "the call where the mode stops to be unknown": """
def helper(model, x):
    return model(x).item()  # fine


def middle(model, x):
    return helper(model, x)  # fine


def top(model, x):
    model.eval()
    return middle(model, x)  # fault


def above(model, x):
    return top(model, x)  # fine
""",
    "the forward where every caller agrees": """
def _helper(model, x):
    return model(x).item()  # fault


def a(model, x):
    model.eval()
    return _helper(model, x)  # fine


def b(model, x):
    model.eval()
    return _helper(model, x)  # fine
""",
    "a helper that trains when it is told to": """
def run_epoch(model, loader, optimizer=None):
    for x in loader:
        loss = model(x)  # fine
        if optimizer is not None:
            loss.backward()
            optimizer.step()


def main(model, loader, optimizer):
    model.eval()
    run_epoch(model, loader)  # fine
""",
    "a forward that is named so": """
def run(model, x):
    model.eval()
    model.forward(x).item()  # fault
    model.encoder(x).item()  # fault
    model.generate(x)
""",
    "the mode was set elsewhere and the result leaves": """
class Probe:
    def __init__(self, net):
        self.net = net.eval()

    def embed(self, x):
        return self.net(x)  # fine

    def label(self, x):
        return self.net(x).argmax().item()  # fault
""",
}


@pytest.mark.parametrize("text", table(BLAME, {}))
def test_one_place_is_to_blame(text: str) -> None:
    assert complaints(text) == []
