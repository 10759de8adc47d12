"""Tenfold against its peers: time, quality and memory of both, measured in one run on one machine.

    python -m bench --help

Reading order: `plan` (what a workload and a result are), `race` (how contenders are run against each
other), `child` and `measure` (what happens inside a contender's process), `judge` (ratios and targets).
The workloads themselves are in `linear`, `unsupervised`, `generative`, `small`, `startup`, `streaming`.
"""

import sys
from pathlib import Path

# `python -m` looks in the current folder first, where the sources of Tenfold lie without their compiled
# kernels. Looking there last finds the installed package.
_CLONE = str(Path(__file__).resolve().parents[1])
if _CLONE in sys.path:
    sys.path.remove(_CLONE)
    sys.path.append(_CLONE)
