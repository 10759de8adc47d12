"""Tenfold against its peers: time, quality and memory of both, measured in one run on one machine.

    python -m bench --help

Reading order: `plan` (what a workload and a result are), `race` (how contenders are run against each
other), `child` and `measure` (what happens inside a contender's process), `judge` (ratios and targets).
The workloads themselves are in `linear`, `unsupervised`, `generative`, `small`, `startup`, `streaming`.
"""
