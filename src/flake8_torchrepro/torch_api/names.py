"""Where PyTorch's public names live: one spelling for each, and what a star import brings."""

from __future__ import annotations

import functools

_PREFIXES = {  # the long way to a name, and its public home
    "torch.autograd.grad_mode.": "torch.",
    "torch.nn.modules.": "torch.nn.",
    "torch.nn.parallel.data_parallel.": "torch.nn.",
    "torch.nn.parallel.distributed.": "torch.nn.parallel.",
    "torch.utils.data.dataloader.": "torch.utils.data.",
    "torch.utils.data.dataset.": "torch.utils.data.",
    "torch.utils.data.sampler.": "torch.utils.data.",
    "torch.utils.data.distributed.": "torch.utils.data.",
    "torch.utils.data._utils.worker.": "torch.utils.data.",
    "numpy.random.mtrand.": "numpy.random.",
    "numpy.random._generator.": "numpy.random.",
    "pytorch_lightning.": "lightning.pytorch.",
    "lightning.pytorch.utilities.seed.": "lightning.pytorch.",
    "monai.data.dataloader.": "monai.data.",
}
_WHOLE = {
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.enable_grad": "torch.enable_grad",
    "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.random.manual_seed": "torch.manual_seed",
    "torch.random.seed": "torch.seed",
    "torch.random.initial_seed": "torch.initial_seed",
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.random.get_rng_state": "torch.get_rng_state",
}

_MODULE_KINDS = ("activation", "batchnorm", "container", "conv", "dropout", "linear", "loss", "module", "rnn", "sparse")


@functools.cache
def canonical(name: str) -> str:
    """The public spelling of a dotted name (``torch.nn.modules.rnn.LSTM`` -> ``torch.nn.LSTM``)."""
    for prefix, home in _PREFIXES.items():
        if name.startswith(prefix):
            rest = name[len(prefix) :]
            head, _, tail = rest.partition(".")
            name = home + (tail if prefix == "torch.nn.modules." and head in _MODULE_KINDS and tail else rest)
    return _WHOLE.get(name, name)


STAR_NAMES: dict[str, frozenset[str]] = {
    "torch": frozenset(
        "no_grad enable_grad inference_mode set_grad_enabled manual_seed seed initial_seed Generator Tensor tensor zeros"
        " ones rand randn randint randperm load save cat stack device cuda backends nn optim utils from_numpy argmax max"
        " use_deterministic_algorithms compile float32 sigmoid softmax autograd".split()
    ),
    "torch.nn": frozenset(
        "Module Sequential ModuleList ModuleDict Linear Conv1d Conv2d Conv3d LSTM GRU RNN Dropout Dropout2d BatchNorm1d"
        " BatchNorm2d BatchNorm3d LayerNorm Embedding ReLU CrossEntropyLoss MSELoss DataParallel Parameter functional"
        " Transformer MultiheadAttention Softmax Sigmoid Tanh MaxPool2d".split()
    ),
    "torch.nn.functional": frozenset(
        "relu softmax log_softmax dropout cross_entropy mse_loss nll_loss sigmoid".split()
    ),
    "torch.utils.data": frozenset(
        "DataLoader Dataset IterableDataset TensorDataset Subset ConcatDataset random_split Sampler RandomSampler"
        " get_worker_info".split()
    ),
    "torch.optim": frozenset("Adam AdamW SGD RMSprop".split()),
    "torch.autograd": frozenset("Variable grad backward".split()),
    "numpy": frozenset("array zeros ones random arange asarray".split()),
    "numpy.random": frozenset(
        "seed rand randn randint choice shuffle permutation normal uniform default_rng RandomState".split()
    ),
    "random": frozenset("seed random randint choice shuffle sample uniform Random".split()),
}


def star_home(name: str, imported: list[str]) -> str | None:
    """The module, of those imported with ``*``, that surely brings a name; None where none is known to."""
    for module in reversed(imported):
        if name in STAR_NAMES.get(module, ()):
            return module
    return None
