"""What switches autograd, what needs it, and what leaves it alone.

Checked by running torch 2.13 (grad mode spellings, APIs that guard themselves) or read in its source.
"""

from __future__ import annotations

import re

from ..patterns import Pattern

GUARDS = frozenset({"torch.no_grad", "torch.inference_mode"})
SWITCHES = GUARDS | {"torch.enable_grad", "torch.set_grad_enabled"}

DIFFERENTIATES = frozenset(
    {
        "torch.autograd.grad",
        "torch.autograd.backward",
        "torch.autograd.gradcheck",
        "torch.autograd.functional.jacobian",
        "torch.autograd.functional.hessian",
        "torch.autograd.functional.vjp",
        "torch.autograd.functional.jvp",
        "torch.autograd.functional.vhp",
        "torch.autograd.functional.hvp",
    }
)
DIFFERENTIATES_FUNCTION = Pattern(r"torch\.(func|autograd\.functional)\.|functorch\.")
# Words in the name of something unresolved that say it takes gradients of what it is handed.
SOUNDS_DIFFERENTIATING = Pattern(
    r"backward|attack|advers|perturb|hessian|jacobian|saliency|attribut|adapt|fgsm|pgd|gradcam|cam_extractor"
    r"|(?<!no_)(?<!zero_)(?<!set_)(?<!clip_)(?<!requires_)(?<!with_)(?<!enable_)(?<!disable_)grad(?!e|io|uat|_norm|_clip)",
    re.IGNORECASE,
)
ATTRIBUTION_LIBRARIES = frozenset(
    {"captum", "torchcam", "pytorch_grad_cam", "grad_cam", "gradcam", "torchattacks", "foolbox"}
)

# Methods whose result has left the graph: numbers, NumPy arrays, integers, detached tensors.
LEAVES_GRAPH = frozenset(
    "item detach detach_ tolist numpy argmax argmin argsort size dim numel nelement eq ne lt gt le ge equal long int"
    " byte bool short count_nonzero nonzero shape type_as_int data_ptr get_device is_contiguous unique".split()
)
PLAIN_ATTRIBUTES = frozenset("data shape dtype device training ndim grad is_cuda requires_grad".split())
LEAVES_GRAPH_CALLS = frozenset(
    {
        "builtins.int",
        "builtins.float",
        "builtins.len",
        "builtins.bool",
        "builtins.str",
        "builtins.range",
        "builtins.print",
        "builtins.isinstance",
        "builtins.repr",
        "builtins.type",
        "torch.argmax",
        "torch.argmin",
        "torch.argsort",
        "torch.eq",
        "torch.equal",
        "torch.isnan",
        "torch.isfinite",
        "torch.allclose",
        "torch.manual_seed",
    }
)

# Context managers and decorators that are known not to touch the grad mode: by module, or by their last name.
CALM_ROOTS = frozenset(
    "torch torchvision torchaudio contextlib threading multiprocessing concurrent tempfile warnings unittest pytest mock"
    " open builtins functools click typer hydra typing typing_extensions abc dataclasses logging tqdm rich time os io"
    " pathlib zipfile tarfile gzip bz2 h5py PIL matplotlib plt pickle json wandb mlflow tensorboard numba np numpy jaxtyping"
    " beartype overrides pandas lmdb sqlite3 socket subprocess asyncio signal shutil atexit enum collections itertools"
    " absl fire flask fastapi starlette gradio streamlit omegaconf ray nvtx cProfile line_profiler tenacity celery".split()
)
CALM_NAMES = frozenset(
    (
        "autocast amp open tqdm trange lock pool nullcontext closing no_sync join catch_warnings raises stopwatch timeit"
        " track span elapsed cd chdir tempdir writer wraps lru_cache property setter getter deleter staticmethod"
        " classmethod abstractmethod overload override dataclass fixture parametrize mark command option argument group"
        " route get post put delete websocket on_event main task script ignore export unused custom_fwd custom_bwd retry"
        " replace_return_docstrings rank_zero_only master_only singleton total_ordering contextmanager"
        " asynccontextmanager njit jit typechecked jaxtyped device stream summon_full_params autograd_profiler emit_nvtx"
        " device_placement app cli validator model_validator field_validator slow is_flaky given settings patch object"
    ).split()
)
CALM_NAME_FORMS = Pattern(
    r"progress\w*|timer?|profile\w*|record\w*|suppress\w*|redirect_\w+|registe?r\w*|register_\w+|cache\w*|skip\w*"
    r"|memoize\w*|deprecated\w*|add_\w*docstr\w*|add_(start|end)_docstrings\w*|ddp_\w*|sync_\w*|require_\w*"
    r"|with[A-Z]\w*|only[A-Z]\w*"
)


def is_calm(name: str) -> bool:
    """Whether something of that name is known not to touch the grad mode."""
    return name in CALM_NAMES or CALM_NAME_FORMS.fullmatch(name) is not None


# Methods of library models that switch gradients off themselves (transformers, diffusers, sentence-transformers).
GUARDED_METHODS = frozenset(
    "generate encode predict pipeline sample chat transcribe translate predict_proba fit_predict inference infer".split()
)

# Base classes whose framework calls their methods and sets grad and training mode around them.
FRAMEWORK_BASES = Pattern(
    r"(^|\.)(LightningModule|LightningDataModule|Trainer|Seq2SeqTrainer|TrainerCallback|Callback|Brain|Learner|Algorithm"
    r"|Pipeline|BaseModule|EvalHook|Runner|Hook|BaseRunner|DiffusionPipeline|GradientTransformation|Engine|Executor)$"
)
