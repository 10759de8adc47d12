"""Distributions as small values, and measures of information. Names are loaded when first used.

from tenfold.distributions import MultivariateGaussian, entropy
"""

from __future__ import annotations

from tenfold.core.lazy import lazy_names

PUBLIC = {
    "Bernoulli": "bernoulli",
    "Beta": "bernoulli",
    "Categorical": "categorical",
    "Dirichlet": "categorical",
    "MultivariateGaussian": "gaussian",
    "MultivariateT": "student",
    "NormalInverseWishart": "wishart",
    "conditional_entropy": "information",
    "entropy": "information",
    "estimate_entropy": "samples",
    "estimate_kl_divergence": "samples",
    "estimate_mutual_information": "samples",
    "joint_entropy": "information",
    "kl_divergence": "information",
    "mutual_information": "information",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, PUBLIC)
