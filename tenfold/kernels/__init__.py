"""Kernels as small values that can be added, multiplied and raised to a power, with parameters that a learner may fit.

from tenfold.kernels import RBF, WhiteKernel
kernel = 2.0 * RBF(length_scale=1.5) + WhiteKernel(0.1)
"""

from __future__ import annotations

from tenfold.core.lazy import lazy_names

PUBLIC = {
    "CompoundKernel": "combined",
    "ConstantKernel": "constant",
    "DotProduct": "products",
    "Exponentiation": "combined",
    "ExpSineSquared": "stationary",
    "FunctionKernel": "function",
    "Hyperparameter": "kernel",
    "Kernel": "kernel",
    "Laplacian": "stationary",
    "Matern": "stationary",
    "PairwiseKernel": "named",
    "Polynomial": "products",
    "Product": "combined",
    "RBF": "stationary",
    "RationalQuadratic": "stationary",
    "Sum": "combined",
    "WhiteKernel": "constant",
    "mercer_check": "mercer",
    "pairwise_kernels": "named",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, PUBLIC)
