"""`tenfold.Select`: the choice of a model as a learner, for whoever has X and y, and for tools that take learners."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Classifier, Estimator, Regressor
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, as_floats
from tenfold.core.errors import BadInput, BadType, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import check_finite
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.score.registry import known_score
from tenfold.selection.estimate import Estimate
from tenfold.selection.job import Job
from tenfold.selection.model import TableModel
from tenfold.selection.run import Run, run_of
from tenfold.selection.settings import EFFORTS, PREFERENCES, Settings
from tenfold.selection.store import plain
from tenfold.table.reading import pl, read_table
from tenfold.table.task import LEAST_ROWS, kind_of, task_name

TARGETS = {"classifier": "label", "regressor": "real", "": "any"}


@estimator
class Select(Estimator):
    """Select: the best of many models for a table, chosen by `tenfold.select`, with an honest estimate.

    Model       what was chosen, fitted to all rows: one model, the weighted mean of some, or the guess where there is no signal
    Objective   `metric` on rows that the models have not seen
    Algorithm   every family of a portfolio on the same folds; the choice repeated without each fold, which gives `estimate_`
    Cost        folds + 1 fits of each family, as many more as the nested estimate takes below some 2,000 rows; rows are kept
    Fails when  there are fewer than 10 rows (refused)
    Reference   Varma & Simon 2006 (nested estimate); Caruana et al. 2004 (ensembles)

    X is an array, a frame with columns of any kind, or a file. What y holds decides whether classes or numbers are predicted, unless
    `task` or `metric` says so; tools that ask an unfitted learner what it is (stratified folds, ensembles) need one of these.

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 3)); y = 2 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=120)
    >>> model = tenfold.Select(effort="quick", folds=3).fit(X, y)
    >>> model.estimate_.metric, bool(model.estimate_.value < 0.4), bool(model.score(X, y) > 0.95)
    ('rmse', True, True)
    """

    model_: TableModel = learned("part", "what was chosen, fitted to all rows")
    _record: str = learned("str", "how it was found, as JSON")

    _: KW_ONLY
    task: str | None = param(default=None, doc="'classes' or 'number' (also: 'classification', 'regression'); None: as y says")
    metric: str | None = param(default=None, doc="what to judge by, such as 'auc' or 'mae'; None: log loss, or RMSE")
    folds: int | None = param(default=None, doc="folds; None: 10 up to 200 rows, 8 up to 500, else 5")
    random_state: int = param(default=0, at_least=0, doc="seed of the folds: the same seed gives the same model")
    drop: Sequence[str] = param(default=(), doc="columns that are left out; those of an array are x0, x1, ...")
    keep: Sequence[str] = param(default=(), doc="columns that are used although they look useless")
    category: Sequence[str] = param(default=(), doc="columns whose numbers are names of categories")
    effort: str = param(default="normal", one_of=EFFORTS, doc="how much is tried, whatever the clock says")
    time: float | None = param(default=None, above=0, doc="seconds, after which the plan is cut short")
    prefer: str = param(
        default="best",
        one_of=PREFERENCES,
        doc="'best' may be an ensemble; 'fast' is the best single model; 'simple' the simplest that is as good as that",
    )

    kind: ClassVar[str] = "keeps rows"
    accepts: ClassVar[str] = "anything"
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    least_rows: ClassVar[int] = LEAST_ROWS

    @property
    def role(self) -> str:
        """Of a fitted one what it is; before, what `task` or `metric` says, or nothing."""
        if "model_" in vars(self):
            return self.model_.role
        judge = known_score(self.metric) if isinstance(self.metric, str) else None
        if self.task is None:
            return "" if judge is None else judge.role
        return "classifier" if task_name(self.task) == "classes" else "regressor"

    @property
    def target(self) -> str:
        return TARGETS[self.role]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = self.role or None
        tags.input_tags.string = True
        return tags

    # --- fit ---

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Choose a model for X and y, and fit it to all rows; y may name a column of a frame or file. Rows of one of the `groups`, a value
        for each row, stay in one fold, because new rows will be of other groups."""
        check.check_params(self)
        if isinstance(y, str) and not check.is_frame(X):
            return self._fit_file(X, y, groups)
        X, y = check.split_target(X, y) if isinstance(y, str) else (X, y)
        frame, names = self._frame(X)
        if y is None:
            raise BadInput(f"{type(self).__name__} requires y to be passed, but the target y is None")
        asked = fresh(self)
        if not asked.role:
            asked.task = _task_of(check.as_column(y))
        target, values = check.as_target(asked, y, frame.height)
        if frame.height < self.least_rows:
            one = ": 1 sample is not enough" if frame.height == 1 else ""
            raise BadInput(
                f"Found array with {frame.height} sample(s) (shape={frame.shape}) while a minimum of {self.least_rows} is required by "
                f"{type(self).__name__}{one}"
            )
        facts: dict[str, Any] = dict(n_features_in_=frame.width) | ({} if names is None else dict(feature_names_in_=names))
        name, grouped = _free("target", frame.columns), _free("groups", frame.columns)
        if target.classes is None:
            table = frame.with_columns(pl.Series(name, np.asarray(values)[:, 0]))
            found = asked._found(table, name, groups, grouped)
        else:
            texts = np.array([str(one) for one in target.classes])
            table = frame.with_columns(pl.Series(name, texts[values]))
            found = asked._found(table, name, groups, grouped, category=[name])
            facts["classes_"] = target.classes
            gone = sorted(set(texts.tolist()) - set(found.model.classes_.tolist()))
            if gone:
                warn(f"{type(self).__name__}: {'; '.join(found.record['notes'])}: their probability is 0", DataWarning, stacklevel=2)
        return self._publish_found(found, facts)

    def _fit_file(self, table: Any, target: str, groups: Any) -> Self:
        """A file, read as `tenfold.select` reads it."""
        if groups is not None:
            raise BadType("groups are given for each row of an array or a frame: of a file, read it with tenfold.read first")
        found = run_of(Job(_silent, False, self._settings()).run(table, target))
        names = np.array([column["name"] for column in found.record["columns"]], dtype=object)
        facts: dict[str, Any] = dict(n_features_in_=len(names), feature_names_in_=names)
        if found.model.role == "classifier":
            facts["classes_"] = found.model.classes_
        return self._publish_found(found, facts)

    def _found(self, table: pl.DataFrame, target: str, groups: Any, grouped: str, category: Sequence[str] = ()) -> Run:
        if groups is not None:
            values = check.as_column(groups)
            check.check_length("groups", len(values), table.height)
            table = table.with_columns(pl.Series(grouped, [str(one) for one in values.tolist()]))
        settings = self._settings(groups=None if groups is None else grouped, category=[*self.category, *category])
        return run_of(Job(_silent, False, settings).run(table, target))

    def _settings(self, **more: Any) -> Settings:
        params = self.get_params(deep=False)
        seed = params.pop("random_state")
        return Settings(**{**params, "seed": seed, **more})

    def _publish_found(self, found: Run, facts: dict[str, Any]) -> Self:
        self._forget_fit()
        vars(self).update(facts, model_=found.model, _record=json.dumps(plain(found.record), ensure_ascii=False), _run=found)
        return self

    # --- how it was found ---

    @property
    def run_(self) -> Run:
        """The result of `tenfold.select`: what else was tried, the report; one that was loaded from a file has no held-out rows."""
        check.check_fitted(self)
        found: Run = vars(self).get("_run") or Run.of(self.model_, json.loads(self._record))
        return found

    @property
    def estimate_(self) -> Estimate | None:
        """The score of the model on new rows, with its range; None where the time was over too early."""
        return self.run_.estimate

    @property
    def leaderboard_(self) -> list[dict[str, Any]]:
        """The families that were tried, best first; it flatters the first."""
        return self.run_.leaderboard

    @property
    def chosen_(self) -> str:
        """What was chosen, in words."""
        return self.run_.chosen

    # --- what it says of rows ---

    def predict(self, X: Any) -> Array:
        """The predicted class or number of each row."""
        said = self.model_.predict(self._new_rows(X))
        if self.role != "classifier":
            return said
        return np.asarray(self.classes_[self._places()[np.searchsorted(self.model_.classes_, said)]])

    @available(lambda self: self.role != "regressor")
    def predict_proba(self, X: Any) -> Array:
        """(rows, classes): the probability of each class."""
        said = self.model_.predict_proba(self._new_rows(X))
        found = np.zeros((len(said), len(self.classes_)))
        found[:, self._places()] = said
        return found

    @available(lambda self: self.role != "regressor")
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available(lambda self: self.role != "classifier")
    def predict_interval(self, X: Any) -> Array:
        """(rows, 2): a range around each predicted number that holds the truth of 90 % of new rows."""
        return self.model_.predict_interval(self._new_rows(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right, or R²."""
        check.check_fitted(self)
        role: Any = Classifier if self.role == "classifier" else Regressor
        found: float = role.score(self, X, y, sample_weight)
        return found

    def _places(self) -> Array:
        """The number among `classes_` of each class of the model, which knows them as texts."""
        texts = [str(one) for one in self.classes_.tolist()]
        return np.array([texts.index(str(one)) for one in self.model_.classes_.tolist()])

    def _new_rows(self, X: Any) -> Any:
        """Rows as the model takes them, with the columns of fit."""
        check.check_fitted(self)
        if isinstance(X, (str, bytes)) or hasattr(X, "__fspath__"):
            return X
        check.check_names(self, check.frame_names(X))
        frame, _ = self._frame(X)
        check.check_width(self, frame.width, self.n_features_in_)
        return frame

    def _frame(self, X: Any) -> tuple[pl.DataFrame, Array | None]:
        """A table in memory as a frame, and its names if it has some."""
        if check.is_frame(X):
            if not all(X.shape):
                check.as_table(self, X)  # which refuses it
            return read_table(X).frame, check.frame_names(X)
        rows, _ = check.as_table(self, X, check.coder_of(self))
        given = np.asarray(X)
        if given.dtype.kind in "OUS":
            return pl.DataFrame({f"x{j}": pl.Series(column.tolist(), strict=False) for j, column in enumerate(given.T)}), None
        rows = as_floats(rows)
        check_finite(rows, slice(0, None), None, True, True)
        return pl.DataFrame({f"x{j}": column for j, column in enumerate(rows.T)}), None


def _task_of(y: Array) -> str:
    """Classes or a number, by what y holds: as `tenfold.select` takes it, though texts are always classes."""
    if y.dtype.kind not in "biuf" or y.size != len(y):
        return "classes"
    flat = y.reshape(-1)
    return kind_of(pl.Series("target", flat)) if flat.dtype.kind != "f" or (flat == np.round(flat)).all() else "number"


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _silent(event: str, **facts: Any) -> None:
    """Nobody listens."""
