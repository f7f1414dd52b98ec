"""PyTorch's global settings: the cuDNN flags and what asks for determinism.

The flags that exist, and that others are accepted in silence, were seen with torch 2.13.
"""

from __future__ import annotations

CUDNN = "torch.backends.cudnn"
CUDNN_FLAGS = frozenset(
    {"enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32", "fp32_precision", "depthwise_kernel"}
)
CUDNN_SWITCHES = frozenset({"enabled", "benchmark", "deterministic", "allow_tf32"})  # plain booleans
# Other names that the module object really has: submodules, helpers, private state.
CUDNN_OTHER_NAMES = frozenset(
    "conv rnn flags set_flags is_available is_acceptable version CUDNN_TENSOR_DTYPES m torch os sys warnings".split()
)
CUBLAS_WORKSPACE = "env:CUBLAS_WORKSPACE_CONFIG"

DETERMINISM_CALLS = frozenset({"torch.use_deterministic_algorithms", "torch.set_deterministic"})
DETERMINISM_DEBUG = "torch.set_deterministic_debug_mode"
# Library calls that switch determinism on: the keyword that must be true, or None where the call alone does.
DETERMINISM_HELPERS: dict[str, str | None] = {
    "transformers.enable_full_determinism": None,
    "transformers.trainer_utils.enable_full_determinism": None,
    "monai.utils.set_determinism": None,
    "monai.utils.misc.set_determinism": None,
    "transformers.set_seed": "deterministic",
    "transformers.trainer_utils.set_seed": "deterministic",
    "transformers.TrainingArguments": "full_determinism",
    "lightning.pytorch.Trainer": "deterministic",
    "lightning.Trainer": "deterministic",
    "lightning.Fabric": "deterministic",
}
# Functions of torch that people assign to instead of calling.
FUNCTIONS_ASSIGNED = frozenset(
    "torch.manual_seed torch.use_deterministic_algorithms torch.set_grad_enabled torch.no_grad torch.seed"
    " torch.cuda.manual_seed torch.cuda.manual_seed_all torch.set_num_threads torch.set_default_dtype"
    " torch.set_deterministic_debug_mode torch.set_float32_matmul_precision torch.set_default_device"
    " torch.set_default_tensor_type torch.use_deterministic torch.set_printoptions torch.set_num_interop_threads".split()
)
