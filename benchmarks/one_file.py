#!/usr/bin/env python3
"""What it costs to lint one file of a large project: the rest of the project is read to know who calls what.

A project of so many files is made up in a temporary folder, in which one file has loaders, modes and forward passes whose
callers and datasets are elsewhere. That file is linted where it stands, and alone in a folder of its own.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINTED = """\
import torch
from torch.utils.data import DataLoader

from lab.part0.module0 import Data0, Net0


def evaluate(model, loader):
    with torch.no_grad():
        return [model(x).argmax() for x in loader]


def main():
    model = Net0()
    model.eval()
    loader = DataLoader(Data0(), num_workers=4)
    print(evaluate(model, loader))
    for x in loader:
        print(model(x).item())


if __name__ == "__main__":
    main()
"""

OTHER = """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset

from lab.part{before}.module{earlier} import Net{earlier}, train{earlier}
from scripts.evaluate import evaluate


class Data{number}(Dataset):
    def __init__(self, size=10):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return torch.full((3,), np.random.rand())


class Net{number}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.1))

    def forward(self, x):
        return self.body(x)


def train{number}(loader, model=None):
    model = model or Net{earlier}()
    for x in loader:
        model.train()
        model(x).sum().backward()
        model.eval()
        evaluate(model, loader)
    return train{earlier}(loader, model)
"""
IN_A_FOLDER = 100


def make_project(root: Path, files: int) -> Path:
    """A project of so many files, the linted one included, which is given back."""
    (root / ".git").mkdir(parents=True)
    for number in range(files - 1):
        folder = root / "lab" / f"part{number // IN_A_FOLDER}"
        folder.mkdir(parents=True, exist_ok=True)
        earlier = max(number - 1, 0)
        text = OTHER.format(number=number, earlier=earlier, before=earlier // IN_A_FOLDER)
        (folder / f"module{number}.py").write_text(text)
    linted = root / "scripts" / "evaluate.py"
    linted.parent.mkdir()
    linted.write_text(LINTED)
    return linted


def seconds(file: Path) -> float:
    """How long flake8 takes for the file, by the clock."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "--select", "TRP", str(file)], stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - started


def main() -> None:
    """Print both times, and how much the project adds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=3000, help="files in the project (default: 3000)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, of which the median counts (default: 5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        inside = make_project(Path(folder, "large"), options.files)
        alone = make_project(Path(folder, "alone"), 1)
        pairs = [(seconds(inside), seconds(alone)) for _ in range(options.runs)]
    within, without = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(
        f"one file of {options.files}: {within:.2f} s; the same file alone: {without:.2f} s; more: {within - without:.2f} s"
    )


if __name__ == "__main__":
    main()
