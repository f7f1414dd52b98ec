"""What PyTorch's classes are: modules, recurrent layers, wrappers that share the module they wrap, loaders."""

from __future__ import annotations

from ..patterns import Pattern

RECURRENT = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
# Positional parameters of RNNBase's subclasses (torch 2.13: input_size, hidden_size, num_layers, bias, batch_first,
# dropout, ...; RNN has nonlinearity after num_layers).
RECURRENT_PARAMETERS = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
RNN_PARAMETERS = ("input_size", "hidden_size", "num_layers", "nonlinearity", "bias", "batch_first", "dropout")

# The result is the module that is handed in first: its mode is one and the same.
SAME_MODULE = frozenset(
    {
        "torch.nn.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        "torch.compile",
        "torch.jit.optimize_for_inference",
        "torch.nn.utils.weight_norm",
        "torch.nn.utils.spectral_norm",
        "torch.nn.utils.parametrizations.weight_norm",
        "torch.nn.utils.parametrizations.spectral_norm",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "apex.parallel.DistributedDataParallel",
        "apex.parallel.convert_syncbn_model",
    }
)
# Methods of a module that return it.
RETURN_SELF = frozenset(
    "to cuda cpu half float double bfloat16 xpu ipu type requires_grad_ apply share_memory to_empty".split()
)
# Methods that wrap modules and hand back the same ones (accelerate, Lightning Fabric).
PREPARE = frozenset("prepare prepare_model setup setup_module unwrap_model".split())

# Attributes of a module of unknown class that are modules when they are called: so named, or with something before it.
SUBMODULES = frozenset(
    "encoder decoder backbone feature features classifier head module model net network generator discriminator extractor"
    " embedder transformer mapping synthesis lm rnn cnn gnn mlp resnet vgg bert unet vae netG netD netF conv fc embedding"
    " embed proj projector predictor policy actor critic teacher student vit clip".split()
)
NOT_BEFORE_SUBMODULES = frozenset(
    "get set init make build load create save is has num count update add reset register freeze export align scale"
    " rescale normalize clip sync copy swap prune log plot show print visualize".split()
)


def names_submodule(attribute: str) -> bool:
    """Whether an attribute is called like a part of a module (``fc2``, ``text_encoder``, ``netG``), not like a method."""
    first, _, rest = attribute.partition("_")
    last = attribute.rpartition("_")[2]
    stem = last.rstrip("0123456789")
    if rest and first in NOT_BEFORE_SUBMODULES:
        return False
    return (
        last in SUBMODULES
        or stem in ("conv", "fc")
        or (stem == "layer" and stem != last)
        or attribute in ("G", "D", "E", "F")
        or (rest != "" and first in ("model", "net", "encoder", "decoder"))
        or (attribute.startswith("net") and attribute[3:4].isupper())
    )


# Methods of a module that are a forward pass under another name.
FORWARD_METHODS = frozenset({"forward", "forward_features", "forward_head", "__call__"})

# Losses and layers that hold no parameters: a forward of theirs alone builds no graph.
WITHOUT_PARAMETERS = Pattern(
    r"torch\.nn\.(\w*Loss|\w*Pool\d?d?|ReLU\d?|LeakyReLU|GELU|SiLU|Sigmoid|Tanh|Softmax\w*|LogSoftmax|Dropout\w*|Flatten"
    r"|Unflatten|Identity|Upsample\w*|\w*Pad\dd|PixelShuffle|Softplus|ELU|CosineSimilarity|PairwiseDistance|Fold|Unfold)"
    r"|torchvision\.transforms\..*|torchmetrics\..*"
)

# Where libraries keep classes that are modules.
MODULE_HOMES = ("torch_geometric.nn.", "timm.", "torchvision.models.", "fairseq.models.", "mmengine.model.")


def is_module_class(name: str) -> bool:
    """Whether a library's class (or what makes one) is a module, by its dotted name."""
    home, _, last = name.rpartition(".")
    return (
        home == "torch.nn"
        or name == "torch.jit.ScriptModule"
        or last == "LightningModule"
        or name.startswith(MODULE_HOMES)
        or (name.startswith("transformers.") and (last.endswith("Model") or "For" in last[:-1]))
        or (name.startswith("mmcv.") and last == "BaseModule")
    )


DATA_LOADER = "torch.utils.data.DataLoader"
# Wrappers around one dataset (or several): what they hand out is what the inner ones draw.
DATASET_WRAPPERS = frozenset(
    "torch.utils.data.Subset torch.utils.data.ConcatDataset torch.utils.data.ChainDataset torch.utils.data.StackDataset"
    " torch.utils.data.random_split torchvision.transforms.Compose torchvision.transforms.v2.Compose"
    " torchvision.transforms.Lambda torchvision.transforms.RandomApply torchvision.transforms.RandomChoice"
    " torchvision.transforms.RandomOrder torch.nn.Sequential".split()
)
DATA_LOADER_PARAMETERS = (
    "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last timeout worker_init_fn"
).split()
