"""Single trees: exact thresholds, stumps, ID3, C4.5.

To follow a fit: `decision.py` or `extra.py` (the learners), `roles.py` (classes or numbers), `tree.py` (the fit, pruning, predictions).
Beneath them: `exact.py` (a presorted table, from which native code grows). `stumps.py`, `id3.py` and `c45.py` stand alone.
"""
