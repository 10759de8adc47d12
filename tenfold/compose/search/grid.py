"""Search over a grid of values, and over draws from lists and distributions."""

from __future__ import annotations

from typing import Any

from numpy.random import RandomState

from tenfold.compose.search.parameters import ParameterGrid, ParameterSampler, Setting
from tenfold.compose.search.search import Search
from tenfold.core.params import KW_ONLY, estimator, param


@estimator
class GridSearchCV(Search):
    """GridSearchCV: the best of all combinations of given values of parameters, by cross-validation.

    Model       that of `estimator` with the best setting, fitted to all rows
    Objective   the mean over splits of the score on held-out rows
    Algorithm   settings that share work have it done once: all values of the learner's path (a penalty, the number of rounds
                or trees, pruning) from one fit a split; the statistics of a one-pass learner summed once, fold by fold, and
                merged; the transformers of a pipeline fitted once a split for all settings behind them; others start at
                the solution of the setting before. The corrected score replays the choice on rows drawn with replacement,
                and judges the winner of each replay on the rows not drawn
    Cost        about as many fits as splits, times the combinations of parameters that are no path; the rows are kept
    Fails when  settings are many and rows few: best_score_ flatters then, best_score_corrected_ says by how much
    Reference   Stone 1974 (cross-validation); Tsamardinos, Greasidou & Borboudakis 2018 (the correction)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5)); y = X[:, 0] + 0.5 * rng.normal(size=80)
    >>> search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [0.1, 10.0, 1000.0]}).fit(X, y)
    >>> search.best_params_
    {'alpha': 0.1}
    >>> bool(search.best_score_range_[0] < search.best_score_corrected_ < search.best_score_range_[1])
    True
    """

    param_grid: Any = param(before="scoring", doc="values by parameter, {'alpha': [0.1, 1.0]}; or a list of such grids")
    _: KW_ONLY
    pre_dispatch: int | str = param(default="2*n_jobs", doc="no effect: use tenfold.threads(n)")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.linear.ridge import Ridge

        return [
            {"estimator": Ridge(), "param_grid": {"alpha": [0.1, 0.5, 1.0, 5.0, 10.0], "fit_intercept": [True, False]}},
            {"estimator": GaussianNB(), "param_grid": {"var_smoothing": [1e-09, 0.1]}, "scoring": "neg_log_loss"},
        ]

    def _candidates(self) -> list[Setting]:
        return list(ParameterGrid(self.param_grid))


@estimator
class RandomizedSearchCV(Search):
    """RandomizedSearchCV: the best of settings drawn at random from lists and distributions, by cross-validation.

    Model       that of `estimator` with the best setting, fitted to all rows
    Objective   the mean over splits of the score on held-out rows
    Algorithm   n_iter settings are drawn (from lists alone: none twice), then all is as in GridSearchCV
    Cost        about as many fits as splits, times the settings that differ in more than a path; the rows are kept
    Fails when  settings are many and rows few: best_score_ flatters then, best_score_corrected_ says by how much
    Reference   Bergstra & Bengio 2012

    Example
    -------
    >>> import numpy as np, tenfold
    >>> from scipy.stats import loguniform
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5)); y = X[:, 0] + 0.5 * rng.normal(size=80)
    >>> search = tenfold.RandomizedSearchCV(tenfold.Ridge(), {"alpha": loguniform(0.01, 100)}, n_iter=20, random_state=0)
    >>> bool(search.fit(X, y).best_params_["alpha"] < 20)
    True
    """

    param_distributions: Any = param(before="scoring", doc="lists or distributions (with a method rvs) by parameter; or a list of such")
    _: KW_ONLY
    n_iter: int = param(default=10, at_least=1, doc="number of settings drawn")
    pre_dispatch: int | str = param(default="2*n_jobs", doc="no effect: use tenfold.threads(n)")
    random_state: int | RandomState | None = param(default=None, doc="seed of the draws")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge

        return [
            {"estimator": Ridge(), "param_distributions": {"alpha": [0.1, 0.5, 1.0, 5.0, 10.0]}, "n_iter": 4, "random_state": 0},
        ]

    def _candidates(self) -> list[Setting]:
        return list(ParameterSampler(self.param_distributions, self.n_iter, random_state=self.random_state))
