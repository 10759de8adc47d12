"""Successive halving: all settings on few rows, the better part of them on more, until few are left."""

from __future__ import annotations

from math import ceil, floor, log
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.compose.search.by_verbs import PairPlan
from tenfold.compose.search.parameters import ParameterGrid, ParameterSampler, Setting
from tenfold.compose.search.results import ranks
from tenfold.compose.search.search import Evaluate, Search
from tenfold.core import ops
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.random import legacy_generator
from tenfold.evaluate.split.plan import any_plan, target_of

ROWS = "n_samples"


@group
class Halving(Search):
    """Abstract: settings are tried with few resources (rows, or rounds), and the best `1/factor` of them go on with `factor` times
    as many.
    """

    n_resources_: list[int] = learned("[int](h)", "resources of each step")
    n_candidates_: list[int] = learned("[int](h)", "settings of each step")
    n_remaining_candidates_: int = learned("int", "settings that are left after the last step")
    n_iterations_: int = learned("int", "number of steps")
    n_possible_iterations_: int = learned("int", "steps that the resources allow")
    n_required_iterations_: int = learned("int", "steps after which fewer settings than `factor` are left")
    min_resources_: int = learned("int", "resources of the first step")
    max_resources_: int = learned("int", "most resources")

    folds_by_content: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        **Search.exempt,
        "weight_is_copies": "resources are numbers of rows, and copies are rows of their own",
    }

    _: KW_ONLY
    factor: float = param(default=3, above=1, doc="of so many settings one goes on, with so many times the resources")
    resource: str = param(default=ROWS, doc="'n_samples', or a whole-number parameter such as n_estimators or max_iter")
    max_resources: int | str = param(default="auto", at_least=1, one_of=("auto",), doc="most resources; auto: all rows")
    aggressive_elimination: bool = param(
        default=False, doc="repeat the first step until as few settings are left as the last step can hold"
    )
    cv: Any = param(
        default=5, doc="number of folds (None: 5), made by what the rows hold, as those of a step are; a splitter; or pairs (train, test)"
    )
    return_train_score: bool = param(default=True, doc="scores on the training rows in cv_results_ too")
    random_state: int | RandomState | None = param(default=None, doc="seed of the rows (and settings) that are drawn")

    min_resources: int | str

    def _drawn(self, least: int, most: int, rng: RandomState) -> list[Setting]:
        """The settings of the first step."""
        raise NotImplementedError

    def _run(self, evaluate: Evaluate, rows: Any, rounds: list[Any]) -> dict[str, Any]:
        if self._several:
            raise BadParameter(f"{type(self).__name__}(scoring={self.scoring!r}): one score decides who goes on; give one")
        if not same_splits_again(self.cv):
            raise BadParameter(
                "The cv parameter must yield consistent folds across calls to split(). Set its random_state to an int, or set "
                "shuffle=False."
            )
        rng = legacy_generator(self.random_state)
        n_splits = sum(map(len, rounds))
        if self.resource != ROWS and self.resource not in self._member.get_params():
            raise BadParameter(
                f"Cannot use resource={self.resource} which is not supported by estimator {type(self.estimator).__name__}"
            )
        most = self._most(rows)
        least = self._least(rows, n_splits)
        if not least:
            raise BadInput("min_resources_=0: you might have passed an empty dataset X.")
        settings = self._drawn(least, most, rng)
        if self.resource != ROWS and any(self.resource in one for one in settings):
            raise BadParameter(
                f"Cannot use parameter {self.resource} as the resource since it is part of the searched parameters."
            )
        required = 1 + floor(log(len(settings), self.factor) + 1e-9)
        if self.min_resources == "exhaust":
            least = max(least, int(most // self.factor ** (required - 1)))
        if least > most:
            raise BadInput(
                f"min_resources_={least} is greater than max_resources_={most}: {type(self).__name__} needs so many for the first step; "
                "give more rows, or fewer settings"
            )
        possible = 1 + floor(log(most // least, self.factor) + 1e-9)
        steps = required if self.aggressive_elimination else min(possible, required)
        place = _random_places(rows, int(rng.randint(2**31 - 1))) if self.resource == ROWS else np.empty(0)
        numbers: list[int] = []
        sizes: list[int] = []
        for step in range(steps):
            power = max(0, step - required + possible) if self.aggressive_elimination else step
            numbers.append(len(settings))
            sizes.append(min(int(self.factor**power * least), most))
            vars(self).update(  # known after an interrupt too
                n_resources_=sizes, n_candidates_=numbers, n_remaining_candidates_=ceil(len(settings) / self.factor),
                max_resources_=most, min_resources_=least, n_iterations_=step + 1, n_possible_iterations_=possible,
                n_required_iterations_=required,
            )  # fmt: skip
            if self.resource == ROWS:
                found = evaluate(settings, _fewer(rounds, sizes[-1] / (rows.n_rows or 1), place, rows))
            else:
                settings = [{**one, self.resource: sizes[-1]} for one in settings]
                found = evaluate(settings, rounds)
            best = np.argsort(ranks(found.test[0].mean(axis=1)), kind="stable")[: ceil(len(settings) / self.factor)]
            settings = [settings[i] for i in np.sort(best)]
        return {}

    def _most(self, rows: Any) -> int:
        if self.max_resources != "auto":
            return int(self.max_resources)
        if self.resource != ROWS:
            raise BadParameter(
                f"resource can only be 'n_samples' when max_resources='auto': say how many {self.resource} at most"
            )
        return rows.n_rows or 0

    def _least(self, rows: Any, n_splits: int) -> int:
        if not isinstance(self.min_resources, str):
            return int(self.min_resources)
        if self.resource != ROWS:
            return 1
        codes = codes_of_rows(rows)
        return 2 * n_splits * (1 if codes is None else int(codes.max()) + 1)

    def _compared(self) -> tuple[list[Setting], Array, int]:
        settings, scores, best = super()._compared()
        step = self._columns()["iter"]
        before = int(np.searchsorted(step, step[-1]))
        return settings[before:], scores[before:], best - before

    def _objection(self) -> str | None:
        steps = self.n_candidates_
        if min(steps) < 1 or sum(steps[:-1]) >= len(self._settings) or max(steps) > len(self._settings) + steps[0]:
            return "the steps do not make up the settings"
        return super()._objection()

    def _columns(self) -> dict[str, Array]:
        step = np.repeat(np.arange(len(self.n_candidates_)), self.n_candidates_)[: len(self._settings)]
        return {"iter": step, "n_resources": np.array(self.n_resources_)[step]}


def same_splits_again(cv: Any) -> bool:
    """Whether a splitter gives the same splits whenever it is asked."""
    shuffles = hasattr(cv, "split") and getattr(cv, "shuffle", True)
    return not shuffles or isinstance(getattr(cv, "random_state", 0), (int, np.integer))


def codes_of_rows(rows: Any) -> Array | None:
    """The class of each row as a number; None where the target is no classes."""
    if not isinstance(rows, Arrays):
        found: Array | None = rows.codes
        return found
    return None if rows.target.classes is None else target_of(rows)


def _random_places(rows: Any, seed: int) -> Array:
    """A random order of the rows by what they hold: equal rows have the same place. Of rows as the user gave them, any order."""
    if not isinstance(rows, Arrays):
        return RandomState(seed).permutation(rows.n_rows)
    hashes = np.concatenate([ops.hash_rows(rows.load(part).X, seed) for part in rows.parts()])
    return np.unique(hashes, return_inverse=True)[1].reshape(-1)


def _fewer(rounds: list[Any], share: float, place: Array, rows: Any) -> list[Any]:
    """The same splits of a share of their rows, in which every class keeps its share; a larger share holds the smaller ones."""
    if share >= 1:
        return rounds
    n = rows.n_rows or 0
    found = codes_of_rows(rows)
    codes = np.zeros(n, dtype=np.int64) if found is None else found
    pairs = [
        (_first(one.train_rows(k), share, place, codes), _first(one.test_rows(k), share, place, codes))
        for one in rounds
        for k in range(len(one))
    ]
    return [any_plan(pairs, n) if isinstance(rows, Arrays) else PairPlan(pairs)]


def _first(part: Array, share: float, place: Array, codes: Array) -> Array:
    """The first rows of each class in the random order, at least one of each; at least two, where there are no classes."""
    chosen, least = [], 1 if codes.any() else 2
    for code in np.unique(codes[part]):
        here = part[codes[part] == code]
        order = np.unique(place[here])
        chosen.append(here[place[here] <= order[min(max(least, round(share * len(order))), len(order)) - 1]])
    return np.sort(np.concatenate(chosen))


@estimator
class HalvingGridSearchCV(Halving):
    """HalvingGridSearchCV: a grid of settings by successive halving: all on few rows, the best third on three times as many, ...

    Model       that of `estimator` with the best setting of the last step, fitted to all rows
    Objective   the mean over splits of the score on held-out rows, of the last step
    Algorithm   every step tries the settings that are left on the same splits with `factor` times the resources, and keeps the
                best 1/factor of them; in each step settings share work as in GridSearchCV
    Cost        about log_factor(settings) times what one setting costs on all rows, instead of `settings` times; the rows are kept
    Fails when  few rows do not tell the settings apart: a good one may leave early. The corrected score accounts for the choice
                of the last step alone
    Reference   Jamieson & Talwalkar 2016

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5)); y = X[:, 0] + 0.5 * rng.normal(size=300)
    >>> grid = {"alpha": [0.1, 1.0, 1e3, 1e4, 1e5, 1e6]}
    >>> search = tenfold.HalvingGridSearchCV(tenfold.Ridge(), grid, random_state=0).fit(X, y)
    >>> search.n_candidates_, search.n_resources_
    ([6, 2], [100, 300])
    """

    param_grid: Any = param(before="scoring", doc="values by parameter, {'alpha': [0.1, 1.0]}; or a list of such grids")
    _: KW_ONLY
    min_resources: int | str = param(
        default="exhaust", at_least=1, one_of=("exhaust", "smallest"),
        doc="resources of the first step; exhaust: so many that the last step has all, smallest: as few as folds allow",
    )  # fmt: skip

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge

        return [{"estimator": Ridge(), "param_grid": {"alpha": [0.1, 1.0, 10.0]}, "cv": 3, "random_state": 0}]

    def _drawn(self, least: int, most: int, rng: RandomState) -> list[Setting]:
        return list(ParameterGrid(self.param_grid))


@estimator
class HalvingRandomSearchCV(Halving):
    """HalvingRandomSearchCV: settings drawn at random, by successive halving: all on few rows, the best third on three times as many, ...

    Model       that of `estimator` with the best setting of the last step, fitted to all rows
    Objective   the mean over splits of the score on held-out rows, of the last step
    Algorithm   as HalvingGridSearchCV, of settings drawn as in RandomizedSearchCV
    Cost        about log_factor(settings) times what one setting costs on all rows, instead of `settings` times; the rows are kept
    Fails when  few rows do not tell the settings apart: a good one may leave early. The corrected score accounts for the choice
                of the last step alone
    Reference   Jamieson & Talwalkar 2016; Bergstra & Bengio 2012

    Example
    -------
    >>> import numpy as np, tenfold
    >>> from scipy.stats import loguniform
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5)); y = X[:, 0] + 0.5 * rng.normal(size=300)
    >>> search = tenfold.HalvingRandomSearchCV(tenfold.Ridge(), {"alpha": loguniform(0.01, 100)}, random_state=0).fit(X, y)
    >>> search.n_candidates_
    [30, 10, 4, 2]
    """

    param_distributions: Any = param(before="scoring", doc="lists or distributions (with a method rvs) by parameter; or a list of such")
    _: KW_ONLY
    n_candidates: int | str = param(
        default="exhaust", at_least=1, one_of=("exhaust",),
        doc="settings of the first step; exhaust: so many that the last step has all resources",
    )  # fmt: skip
    min_resources: int | str = param(
        default="smallest", at_least=1, one_of=("exhaust", "smallest"),
        doc="resources of the first step; smallest: as few as folds allow, exhaust: so many that the last step has all",
    )  # fmt: skip

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge

        return [{"estimator": Ridge(), "param_distributions": {"alpha": [0.1, 1.0, 10.0]}, "cv": 3, "random_state": 0}]

    def _drawn(self, least: int, most: int, rng: RandomState) -> list[Setting]:
        if self.n_candidates == self.min_resources == "exhaust":
            raise BadParameter(
                "n_candidates and min_resources cannot be both set to 'exhaust': one follows from the other; give a number"
            )
        number = max(1, most // least) if self.n_candidates == "exhaust" else int(self.n_candidates)
        if self.n_candidates == "exhaust":  # nobody asked for more settings than there are
            number = len(ParameterSampler(self.param_distributions, number))
        return list(ParameterSampler(self.param_distributions, number, random_state=rng))
