"""Choosing a model for a table: read, code, race, choose, and an honest estimate of the whole procedure.

    run          select() and its result                   job          its steps, one after the other
    settings     what can be asked for                     dataset      the table as a race takes it
    outcome      what a race comes to                      record       the same as plain values, told and kept
    board        the places of a race                      copied       what it is worth where new rows are copies
    result       the models, and how they were found       targets      several, one after another
    estimator    Select, the choice as a learner           coded        a table as numbers
    roles        columns for weights, groups and time

Each folder knows those above it, and `settings`; the steps know all of them:

    plan         what will be tried, on which folds
    choice       the best of what is said of held-out rows
    race         the fits
    honest       what to expect on new rows
    model        what is saved
    explain      why it says what it says
    monitor      a saved model on other rows

Words of these folders, and the field's:

    judge        the score to choose by                    guess        the baseline: class frequencies, or the mean
    setting      one choice of hyperparameters             family       a learner with all of its settings
    unit         the fits of one family on a training set  heat         a race on a sample, for who runs on all rows
    round        an outer fold of nested validation        mix          weighted mean of settings, an ensemble
    board        leaderboard                               growth       what the last rows bring: the learning curve

What a table is, and what its columns are, is read in `table/`.
The folder is not called `select`, so that `tenfold.select` is the function whatever was imported before.
"""

# Learners that saved runs are made of: found by name when a file is loaded, but not offered.
INSIDE = {
    "TableModel": "model.table_model",
    "FrequencyGuess": "plan.guess",
    "MeanGuess": "plan.guess",
    "Indicators": "model.blend",
    "BlendClassifier": "model.blend",
    "BlendRegressor": "model.blend",
    "TextScore": "race.text_score",
}
