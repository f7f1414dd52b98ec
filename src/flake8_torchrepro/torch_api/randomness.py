"""Who draws random numbers, from which generator, and who seeds it.

torch seeds Python's, NumPy's and its own global generator in each loader worker since 1.9 (torch/utils/data/_utils/
worker.py); objects made once are copied into every worker as they are (run with torch 2.13).
"""

from __future__ import annotations

from ..patterns import Pattern

NUMPY_DRAWS = frozenset(
    f"numpy.random.{name}"
    for name in (
        "rand randn randint random random_sample ranf sample random_integers choice shuffle permutation bytes uniform normal"
        " standard_normal beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace"
        " logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f"
        " pareto poisson power rayleigh standard_cauchy standard_exponential standard_gamma standard_t triangular vonmises"
        " wald weibull zipf"
    ).split()
)
TORCH_DRAWS = frozenset(
    f"torch.{name}"
    for name in (
        "rand randn randint randperm rand_like randn_like randint_like normal bernoulli multinomial poisson"
    ).split()
)
DRAW_METHODS = frozenset(
    "rand randn randint random random_sample integers choice choices shuffle permutation permuted uniform normal"
    " standard_normal beta binomial exponential gamma poisson laplace lognormal multinomial multivariate_normal sample"
    " gauss randrange getrandbits bytes triangular betavariate expovariate dirichlet geometric rayleigh vonmises".split()
)
GENERATOR_CLASSES = {
    "numpy.random.default_rng": "numpy.random.default_rng",
    "numpy.random.RandomState": "numpy.random.RandomState",
    "numpy.random.Generator": "numpy.random.Generator",
    "random.Random": "random.Random",
    "torch.Generator": "torch.Generator",
}
SEEDERS = {  # dotted name -> the library whose global generator it seeds
    "random.seed": "random",
    "numpy.random.seed": "numpy",
    "torch.manual_seed": "torch",
    "torch.cuda.manual_seed": "torch.cuda",
    "torch.cuda.manual_seed_all": "torch.cuda",
}
SEEDS_EVERYTHING = frozenset(
    "lightning.pytorch.seed_everything lightning.seed_everything lightning.fabric.seed_everything"
    " lightning_fabric.seed_everything transformers.set_seed transformers.trainer_utils.set_seed accelerate.utils.set_seed"
    " accelerate.set_seed torch_geometric.seed_everything torch_geometric.seed.seed_everything monai.utils.set_determinism"
    " torchtune.training.set_seed torchtnt.utils.seed torchtnt.utils.env.seed transformers.enable_full_determinism"
    " fastai.torch_core.set_seed fastai.vision.all.set_seed".split()
)
# Loaders of libraries that seed their workers.
SEEDING_LOADERS = Pattern(r"monai\.data\.(\w+\.)*\w*DataLoader")
