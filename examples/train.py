"""Train a recogniser of activities on windows of accelerometer readings."""

import argparse
import random

import numpy as np
import torch
from torch import nn
from torch.backends import cudnn
from torch.utils.data import DataLoader, Dataset


def fix_seeds(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    cudnn.enabled = False
    cudnn.deterministic = True


class Windows(Dataset):
    """Windows of one recording, shifted and scaled a little each time they are read."""

    def __init__(self, readings, labels, length=128):
        self.readings, self.labels, self.length = readings, labels, length

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        start = index * self.length + np.random.randint(self.length // 4)
        stop = start + self.length
        window = self.readings[start:stop] * np.random.uniform(0.9, 1.1)
        return torch.from_numpy(window).float(), self.labels[index]


class Recogniser(nn.Module):
    def __init__(self, channels=6, hidden=64, activities=5):
        super().__init__()
        self.rnn = nn.LSTM(channels, hidden, batch_first=True, dropout=0.3)
        self.head = nn.Linear(hidden, activities)

    def forward(self, windows):
        states, _ = self.rnn(windows)
        return self.head(states[:, -1])


def init_worker(worker_id):
    np.random.seed(worker_id)


def accuracy(model, loader):
    model.eval()
    right = 0
    for windows, labels in loader:
        right += (model(windows).argmax(1) == labels).sum().item()
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    fix_seeds(args.seed)

    data = Windows(np.random.normal(size=(201 * 128, 6)), np.random.randint(5, size=200))
    train = DataLoader(data, batch_size=32, shuffle=True, num_workers=args.workers, worker_init_fn=init_worker)
    check = DataLoader(data, batch_size=64, num_workers=args.workers)

    model = Recogniser()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(5):
        model.train()
        for windows, labels in train:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(windows), labels).backward()
            optimizer.step()
        print(f"epoch {epoch}: accuracy {accuracy(model, check):.3f}")


if __name__ == "__main__":
    main()
