"""Gradient boosting on histograms.

To follow a fit: `hist_boosting.py` or `gradient.py` (what the learner asks for, and when it stops), `boosting.py` (the fit from the rows to
the trees, and predictions), `rounds.py` (a round). Beneath them: `training.py` (the rows, here or on a cluster), `losses.py`, `nodes.py`
(trees as the kernels give them), `cluster_rounds.py` (the same rounds where the rows are elsewhere) and `exact_sums.py`.
"""
