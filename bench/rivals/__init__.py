"""`tenfold select` against FLAML and AutoGluon, on the same splits of the same tables. The rule, fixed before the first run:

Tables      every NAME.csv.gz of a folder (last column `target`, empty cells missing), none left out. A target of texts, of two values, or
            of `bench.tables.NUMBERED_CLASSES` is one of classes, any other one of numbers; every tool is told which.
Splits      seeds 0 to 4: 30 % of the rows, drawn at random, are the test; of each class its share, and at least one row of each stays for
            training. Every tool gets the same data frame of the training rows, columns as read, with nothing prepared.
Tools       `tenfold`             select(train, "target", task=, metric=, time=, effort="thorough", seed=split)
            `tenfold_normal`      select(train, "target", task=, metric=, seed=split): effort normal and no clock, so that a busy machine
                                  changes nothing. Not compared: it tells whether what is reported by default is true
            `flaml`               AutoML().fit(dataframe=train, label="target", task=, metric=, time_budget=, n_jobs=2, seed=split)
            `autogluon_medium`    TabularPredictor(label="target", problem_type=, eval_metric=).fit(train, time_limit=,
                                  presets="medium_quality", num_cpus=2, num_gpus=0)
            `autogluon_best`      the same with "best_quality"
            Everything else is left as it comes. Thorough, since the clock ends the run of each of the others too: with a time given,
            the effort decides no more than up to how many rows the estimate is nested.
Budget      60 seconds for each fit, told to the tool, and two cores: the process and all its children may run on no others. What a tool
            takes beyond its time is told, not punished; a run that is not over after five times its time and a minute has failed.
Judged by   log loss for classes, RMSE for numbers, which each tool is told to look for. Probabilities are raised to at least 1e-6 and
            scaled to sum to one, for all alike: a class that a tool does not know has that probability. A tool that fails is judged as if
            it had said the class frequencies, or the mean, of the training rows; how often is told.
Reported    what the tool itself says of its model: the estimate of `tenfold`, `best_loss` of FLAML, `score_val` of AutoGluon's best model.
            Its bias on a table is (sum of reported - sum of true) / sum of true over the splits, below zero where it flatters: one split
            has more luck than bias. Of our range is told how often it covers the test error, both having an error: with v, low, high as
            reported, s the standard error of the test error from its rows, covered is |e - v| <= sqrt((v - end)^2 + (1.96 s)^2), end
            being low or high, on the side of e. Since 0.21, besides: what is said where rows are copies of others, beside the test rows
            that it is for.
Counted     only runs on a machine that has nothing else to do: where other processes took more than 5 % of the two cores while a tool ran,
            the run is marked as busy and is to be repeated. A table and a split count once every tool has a run of it that counts.
Rank        of the test errors of one split, ties sharing the mean; the mean over splits, then over tables. Beside it, of each table: the
            geometric mean of error / least error of all tools, and the share of what is to be gained (the error of the guess less the least
            error) that a tool has lost.

    python -m bench.rivals run --data FOLDER --results FILE --python flaml=PATH --python autogluon=PATH      # goes on where the file ends
    python -m bench.rivals run ... --tools flaml --tables iris,titanic --splits 0
    python -m bench.rivals table --results FILE --out docs/rivals.md

PATH is the interpreter of an environment with flaml[automl] and catboost, or with autogluon.tabular[lightgbm,catboost,xgboost,fastai] and
autogluon.core[ray] (they ask for different versions of XGBoost); ours is the one that runs this. One run is one process and one line of
the file, which is only added to: the last line that counts is the one that is read.

Reading order: `split` (what the tools get), `tools` (the tools), `child` (one run), `machine` (who else used the cores), `results` (the
file), `summary` (what comes of it).
"""
