"""Choosing a model for a table: read, code, race, choose, and an honest estimate of the whole procedure.

    prepared     the transformers before a learner      model        coder and pipeline as one learner
    candidates   the learners and settings of a race    race         all of them on all folds and pairs
    choice       leader, "as good", nested estimate     run          select(): all of it, and its result

What a table is, and what its columns are, is read in `table/`.
The folder is not called `select`, so that `tenfold.select` is the function whatever was imported before.
"""

# Learners that saved runs are made of: found by name when a file is loaded, but not offered.
INSIDE = {
    "TableModel": "model",
    "FrequencyGuess": "guess",
    "MeanGuess": "guess",
}
