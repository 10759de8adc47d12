"""What will be done, fixed by the shape of a table before the first fit.

    plan         the budget, and what it has room for       folds         how rows are divided
    candidates   a learner and the settings of it           portfolio     all of them, the most promising first
    entries      those that learn from numbers              tree_entries  forests and boosting
    refine       variants of those that lead                monotone      columns that act in one direction
    guess        what every model has to beat
"""
