"""Kernels in files: which there may be, and how one is made from its parameters."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from tenfold import kernels
from tenfold.kernels.kernel import Kernel
from tenfold.saved.archive import require

DEEPEST_KERNEL = 4  # sums and products inside one another: files are nested 16 deep at most
# Kernels that a file may name: all but those that hold a function.
KERNELS = frozenset({
    "CompoundKernel", "ConstantKernel", "DotProduct", "Exponentiation", "ExpSineSquared", "Laplacian", "Matern", "PairwiseKernel",
    "Polynomial", "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel",
})  # fmt: skip


def made_kernel(name: str, params: dict[str, Any]) -> Kernel:
    """A kernel that a file names."""
    require(name in KERNELS, f"holds a kernel {name[:40]!r}, which there is not")
    cls = getattr(kernels, name)
    require(set(params) == {one.name for one in fields(cls)}, f"holds a kernel {name} with parameters that it does not have")
    made: Kernel = cls(**params)
    wrong = made.objection()
    require(wrong is None, f"holds a kernel {name} in which {wrong}")
    return made
