"""Label the photos of a tensor file with a trained classifier."""

import sys

import torch
from torch import nn

torch.backends.cudnn.determinstic = True
torch.backends.cudnn.benchmark = False


def load(checkpoint):
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(16, 10),
    )
    net.load_state_dict(torch.load(checkpoint, weights_only=True))
    return net


def label(net, batches):
    """The most likely label of every photo."""
    labels = []
    with torch.no_grad():
        for photos in batches:
            labels.extend(net(photos).argmax(1).tolist())
            net.eval()
    return labels


def confidence(net, batches):
    """How sure the classifier is of every photo."""
    net.eval()
    sure = []
    for photos in batches:
        best, _ = net(photos).softmax(1).max(1)
        sure.append(best)
    return torch.cat(sure)


def preview(net, photos):
    """All scores of a few photos, to look at."""
    torch.no_grad()
    net.eval()
    for number, scores in enumerate(net(photos).softmax(1).tolist()):
        print(number, " ".join(f"{score:.2f}" for score in scores))


if __name__ == "__main__":
    model = load(sys.argv[1])
    stack = torch.load(sys.argv[2], weights_only=True)
    chosen = label(model, stack.split(64))
    preview(model, stack[:4])
    for number, (name, share) in enumerate(zip(chosen, confidence(model, stack.split(64)))):
        print(number, name, f"{share:.0%}")
