"""Choosing a model for a table: read, code, race, choose, and an honest estimate of the whole procedure.

    run          select() and its result                job          its steps, one after the other
    settings     what can be asked for                  plan, folds  what will be done, by the shape of the table
    candidates   learners and settings, in order        race         all of them on one fold after the other
    prepared     the transformers before a learner      held_out     what they say of rows they have not seen
    ensemble     weights of members                     choice       the best, and the simplest as good
    audit        the choice again in each round         estimate     scores with ranges
    outcome      board, verdict, record                 refit        what was chosen, on all rows
    model, blend what is saved                          wall         Ctrl-C and the end of the time
    checkpoint   a race that can go on                  explained    what drives the model, where it fails
    text_score   what a text says, as a number          text_folds   the same for each training set
    store        the folder of a run                    predictions  answers as a file
    estimator    Select, the choice as a learner        targets      several, one after another
    monotone     columns that act in one direction

What a table is, and what its columns are, is read in `table/`.
The folder is not called `select`, so that `tenfold.select` is the function whatever was imported before.
"""

# Learners that saved runs are made of: found by name when a file is loaded, but not offered.
INSIDE = {
    "TableModel": "model",
    "FrequencyGuess": "guess",
    "MeanGuess": "guess",
    "Indicators": "blend",
    "BlendClassifier": "blend",
    "BlendRegressor": "blend",
    "TextScore": "text_score",
}
