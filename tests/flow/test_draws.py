"""What a loader's workers draw: the marks of small programs say which draws of theirs repeat (``# drawn``)."""

from __future__ import annotations

import pytest
from snippets import marks, table, view_of

HEAD = "import random\nimport numpy as np\nfrom torch.utils.data import DataLoader, Dataset\n"

DATASETS = {
    "item": """
class Scans(Dataset):
    def __getitem__(self, index):
        return np.random.rand() + index  # drawn


DataLoader(Scans(), num_workers=2)
""",
    "spellings": """
import numpy
from numpy import random as npr
from numpy.random import choice


class Scans(Dataset):
    def __getitem__(self, index):
        a = numpy.random.randint(3)  # drawn
        b = npr.normal(size=3)  # drawn
        c = choice([1, 2])  # drawn
        np.random.shuffle(a)  # drawn
        return a, b, c


DataLoader(dataset=Scans(), num_workers=2)
""",
    "what torch seeds": """
class Scans(Dataset):
    def __getitem__(self, index):
        return random.random() + torch.rand(1) + torch.randint(3, (1,))


DataLoader(Scans(), num_workers=2)
""",
    "the constructor draws in the main process": """
class Scans(Dataset):
    def __init__(self):
        self.order = np.random.permutation(9)

    def __getitem__(self, index):
        return self.order[index]

    def __len__(self):
        return np.random.randint(9)


DataLoader(Scans(), num_workers=2)
""",
    "another dataset": """
class Scans(Dataset):
    def __getitem__(self, index):
        return np.random.rand()


class Plain(Dataset):
    def __getitem__(self, index):
        return index


DataLoader(Plain(), num_workers=2)
""",
    "helpers": """
def jitter(x):
    return x + np.random.rand()  # drawn


class Scans(Dataset):
    def __getitem__(self, index):
        return self._load(index)

    def _load(self, index):
        return jitter(index) * np.random.rand()  # drawn

    def preview(self):
        return np.random.rand()


DataLoader(Scans(), num_workers=2)
""",
    "iterable": """
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        while True:
            yield np.random.rand()  # drawn


DataLoader(Stream(), num_workers=2)
""",
    "batches of items": """
class Scans(Dataset):
    def __getitems__(self, indices):
        return [np.random.rand() for _ in indices]  # drawn


DataLoader(Scans(), num_workers=2)
""",
    "base class": """
class Base(Dataset):
    def __getitem__(self, index):
        return self.load(index)

    def load(self, index):
        return index


class Scans(Base):
    def load(self, index):
        return np.random.rand()  # drawn


DataLoader(Scans(), num_workers=2)
""",
    "inherited": """
class Base(Dataset):
    def __getitem__(self, index):
        return np.random.rand()  # drawn


class Scans(Base):
    pass


DataLoader(Scans(), num_workers=2)
""",
    "wrappers": """
from torch.utils.data import ConcatDataset, Subset, random_split


class A(Dataset):
    def __getitem__(self, index):
        return np.random.rand()  # drawn


class B(Dataset):
    def __getitem__(self, index):
        return np.random.rand()  # drawn


class C(Dataset):
    def __getitem__(self, index):
        return np.random.rand()  # drawn


DataLoader(ConcatDataset([A(), Subset(B(), [1])]), num_workers=2)
train, valid = random_split(C(), [1, 2])
DataLoader(train, num_workers=2)
""",
    "own wrapper": """
class Inner(Dataset):
    def __getitem__(self, index):
        return np.random.rand()  # drawn


class Cached(Dataset):
    def __init__(self, inner):
        self.inner = inner

    def __getitem__(self, index):
        return self.inner[index]


DataLoader(Cached(Inner()), num_workers=2)
""",
    "a switch that is off": """
class Scans(Dataset):
    def __init__(self, augment=False):
        self.augment = augment

    def __getitem__(self, index):
        if self.augment:
            return np.random.rand()
        return index


DataLoader(Scans(), num_workers=2)
""",
    "a switch that is on": """
class Scans(Dataset):
    def __init__(self, augment=False):
        self.augment = augment

    def __getitem__(self, index):
        if self.augment:
            return np.random.rand()  # drawn
        return index


DataLoader(Scans(augment=True), num_workers=2)
""",
    "a switch that one of two loaders has": """
class Scans(Dataset):
    def __init__(self, mode):
        self.mode = mode

    def __getitem__(self, index):
        if self.mode == "train":
            return np.random.rand()  # drawn
        elif self.mode == "sample":
            return np.random.rand()
        return index


DataLoader(Scans("train"), num_workers=2)
DataLoader(Scans("valid"), num_workers=2)
""",
    "through a function": """
class Scans(Dataset):
    def __getitem__(self, index):
        return np.random.rand()  # drawn


def loader(dataset, workers):
    return DataLoader(dataset, num_workers=workers)


loader(Scans(), 4)
""",
    "a factory of datasets": """
class Scans(Dataset):
    def __getitem__(self, index):
        return np.random.rand()  # drawn


def build(name):
    if name == "scans":
        return Scans()
    raise ValueError


DataLoader(build("scans"), num_workers=2)
""",
    "kept on self": """
class Scans(Dataset):
    def __getitem__(self, index):
        return np.random.rand()  # drawn


class Data:
    def __init__(self):
        self.train = Scans()

    def loader(self):
        return DataLoader(self.train, num_workers=2)
""",
    "an unknown dataset": """
from lab import Scans

DataLoader(Scans(), num_workers=2)
""",
    "lambda": """
class Scans(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)


DataLoader(Scans(lambda x: x + np.random.rand()), num_workers=2)  # drawn
""",
}

TRANSFORMS = {
    "function": """
def noise(x):
    return x + np.random.rand()  # drawn


class Scans(Dataset):
    def __init__(self, transform=None):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index) if self.transform else index


DataLoader(Scans(transform=noise), num_workers=2)
""",
    "no transform": """
def noise(x):
    return x + np.random.rand()


class Scans(Dataset):
    def __init__(self, transform=None):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index) if self.transform else index


DataLoader(Scans(), num_workers=2)
""",
    "object": """
class Noise:
    def __call__(self, x):
        return x + np.random.rand()  # drawn


class Scans(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)


DataLoader(Scans(Noise()), num_workers=2)
""",
    "compose": """
from torchvision import transforms


class Noise:
    def __call__(self, x):
        return x + np.random.rand()  # drawn


def shift(x):
    return x + np.random.rand()  # drawn


class Scans(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)


DataLoader(Scans(transforms.Compose([Noise(), transforms.Lambda(shift)])), num_workers=2)
""",
    "dataset of torchvision": """
from torchvision import datasets


def noise(x):
    return x + np.random.rand()  # drawn


DataLoader(datasets.MNIST(".", transform=noise), num_workers=2)
""",
    "list": """
def noise(x):
    return x + np.random.rand()  # drawn


class Scans(Dataset):
    def __init__(self, steps):
        self.steps = steps

    def __getitem__(self, index):
        for step in self.steps:
            index = step(index)
        return index


DataLoader(Scans([noise]), num_workers=2)
""",
    "partial": """
from functools import partial


def noise(x, scale):
    return x + np.random.rand() * scale  # drawn


class Scans(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)


DataLoader(Scans(partial(noise, scale=2)), num_workers=2)
""",
    "collate function": """
class Plain(Dataset):
    def __getitem__(self, index):
        return index


def mixup(batch):
    return np.random.beta(1, 1)  # drawn


DataLoader(Plain(), num_workers=2, collate_fn=mixup)
""",
    "sampler": """
class Plain(Dataset):
    def __getitem__(self, index):
        return index


class Order:
    def __iter__(self):
        return iter(np.random.permutation(9))


DataLoader(Plain(), num_workers=2, sampler=Order())
""",
}

GENERATORS = {
    "made in the constructor": """
class Scans(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rng.integers(9)  # drawn


DataLoader(Scans(), num_workers=2)
""",
    "older kinds": """
class Scans(Dataset):
    def __init__(self):
        self.a = np.random.RandomState(0)
        self.b = random.Random(0)

    def __getitem__(self, index):
        x = self.a.rand()  # drawn
        return x + self.b.random()  # drawn


DataLoader(Scans(), num_workers=2)
""",
    "handed in": """
class Scans(Dataset):
    def __init__(self, rng):
        self.rng = rng

    def __getitem__(self, index):
        return self.rng.normal()  # drawn


DataLoader(Scans(np.random.default_rng(0)), num_workers=2)
""",
    "a name of the module": """
rng = np.random.default_rng(0)


class Scans(Dataset):
    def __getitem__(self, index):
        return rng.normal()  # drawn


DataLoader(Scans(), num_workers=2)
""",
    "made for each item": """
class Scans(Dataset):
    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        return rng.normal()


DataLoader(Scans(), num_workers=2)
""",
    "made in the worker": """
class Scans(Dataset):
    def __init__(self):
        self.rng = None

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.default_rng()
        return self.rng.normal()


DataLoader(Scans(), num_workers=2)
""",
    "of a transform": """
class Noise:
    def __init__(self, rng):
        self.rng = rng

    def __call__(self, x):
        return x + self.rng.normal()  # drawn


class Scans(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)


DataLoader(Scans(Noise(np.random.default_rng(1))), num_workers=2)
""",
    "methods that do not draw": """
class Scans(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rng.bit_generator.state, self.rng.spawn(2)


DataLoader(Scans(), num_workers=2)
""",
}

ALL = {
    f"{group} {name}": text
    for group, snippets in (("datasets", DATASETS), ("transforms", TRANSFORMS), ("generators", GENERATORS))
    for name, text in snippets.items()
}


@pytest.mark.parametrize("text", table(ALL, {}))
def test_what_workers_draw(text: str) -> None:
    view = view_of(HEAD + text)
    drawn = {draw.call.span.line for loader in view.loaders.all() for draw in view.loaders.drawing(loader).kept()}
    assert list(view.loaders.all())
    assert drawn == {line for line, words in marks(view) if words == "drawn"}


def test_draws_are_told_in_the_order_of_their_places() -> None:
    classes = "".join(
        f"class D{n}(Dataset):\n    def __getitem__(self, index):\n        return np.random.rand()\n" for n in range(9)
    )
    chosen = "".join(f"if kind == {n}:\n    data = D{n}()\n" for n in range(9))
    view = view_of(f"{HEAD}{classes}{chosen}loader = DataLoader(data, num_workers=2)\n")
    [loader] = view.loaders.all()
    lines = [draw.call.span.line for draw in view.loaders.drawing(loader).kept()]
    assert len(lines) == 9
    assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("body", "reseeds"),
    [
        ("np.random.seed(index)", True),
        ("info = torch.utils.data.get_worker_info()", True),
        ("self.seed(index)", True),
        ("random.seed(index)", False),
        ("pass", False),
    ],
)
def test_a_dataset_that_seeds_itself(body: str, reseeds: bool) -> None:
    view = view_of(f"""{HEAD}
class Scans(Dataset):
    def seed(self, index):
        np.random.seed(index)

    def __getitem__(self, index):
        {body}
        return np.random.rand()

loader = DataLoader(Scans(), num_workers=2)
""")
    [loader] = view.loaders.all()
    assert view.loaders.drawing(loader).reseeds is reseeds


# -- the loaders themselves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "workers"),
    [
        ("", 0),
        ("num_workers=4", 4),
        ("num_workers=0", 0),
        ("num_workers=WORKERS", 3),
        ("num_workers=unknown()", 0),
        ("num_workers=4 if FLAG else 0", 4),
        ("num_workers=option", 5),
        ("**OPTIONS", 2),
        ("8, True, None, None, 6", 6),
        ("num_workers=os.cpu_count()", 0),
    ],
)
def test_workers(given: str, workers: int) -> None:
    view = view_of(f"""{HEAD}
import os
from lab import FLAG, unknown
WORKERS = 3
OPTIONS = dict(num_workers=2, shuffle=True)

def loader(option=5):
    return DataLoader([1], {given})
""")
    [loader] = view.loaders.all()
    assert view.loaders.workers(loader) == workers


@pytest.mark.parametrize(
    ("given", "none"),
    [
        ("", True),
        ("worker_init_fn=None", True),
        ("worker_init_fn=seed", False),
        ("worker_init_fn=unknown", False),
        ("**options", False),
        ("worker_init_fn=seed if options else None", False),
    ],
)
def test_whether_a_worker_function_is_given(given: str, none: bool) -> None:
    view = view_of(f"""{HEAD}
from lab import unknown

def seed(worker_id):
    np.random.seed(worker_id)

def loader(options):
    return DataLoader([1], num_workers=2, {given})
""")
    [loader] = view.loaders.all()
    assert view.loaders.has_no_worker_function(loader) is none


@pytest.mark.parametrize(
    ("name", "given"), [("plain", "seed"), ("partial", "partial(seed, 3)"), ("local", "chosen"), ("lambda", "other")]
)
def test_which_worker_function(name: str, given: str) -> None:
    view = view_of(f"""{HEAD}
from functools import partial

def seed(worker_id, n=0):
    np.random.seed(worker_id)

other = lambda worker_id: np.random.seed(worker_id)
chosen = seed
loader = DataLoader([1], num_workers=2, worker_init_fn={given})
""")
    [facts] = view.loaders.worker_functions()
    assert facts.name == ("<lambda>" if name == "lambda" else "seed")


def test_a_subclass_is_a_loader() -> None:
    view = view_of(f"{HEAD}\nclass Fast(DataLoader):\n    pass\n\nFast([1], num_workers=2)\n")
    [loader] = view.loaders.all()
    assert loader.is_subclass
    assert view.loaders.workers(loader) == 2


def test_a_subclass_that_seeds_its_workers_is_not_asked() -> None:
    text = (
        "class Fast(DataLoader):\n    def __init__(self, data):\n        super().__init__(data, worker_init_fn=print)\n"
    )
    assert list(view_of(f"{HEAD}\n{text}\nFast([1])\n").loaders.all()) == []
