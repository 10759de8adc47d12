"""`tenfold.Select`: the choice of a model as a learner, for whoever has X and y, and for tools that take learners."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Classifier, Estimator, Regressor
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Target, as_floats
from tenfold.core.errors import BadInput, BadType, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import check_finite
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.score.registry import known_score
from tenfold.selection.honest.estimate import Estimate
from tenfold.selection.job import Job
from tenfold.selection.model.store import plain
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.run import Run, run_of
from tenfold.selection.settings import EFFORTS, HONEST, PREFERENCES, Settings
from tenfold.table.reading import of_array, pl, read_table
from tenfold.table.task import LEAST_ROWS, kind_of, task_name

RUNS: WeakKeyDictionary[Select, Run] = WeakKeyDictionary()  # with held-out rows, which are no part of a model
TARGETS = {"classifier": "label", "regressor": "real", "": "any"}


@estimator
class Select(Estimator):
    """Select: the best of many models for a table, chosen by `tenfold.select`, with an honest estimate.

    Model       what was chosen, fitted to all rows: one model, the weighted mean of some, or the guess where there is no signal
    Objective   `metric` on rows that the models have not seen
    Algorithm   every family of a portfolio on the same folds; the choice repeated without each fold, which gives `estimate_`
    Cost        folds + 1 fits of each family, as many more where the estimate is nested, up to 2,000 rows with effort normal; rows are kept
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
    effort: str = param(default="normal", one_of=EFFORTS, doc="how much is tried; with a time, up to how many rows the estimate is nested")
    time: float | None = param(default=None, above=0, doc="seconds that the plan is made for, in place of the effort, and cut after")
    time_column: str | None = param(default=None, doc="column of dates or numbers: every fold is judged by what was known before it")
    prefer: str = param(
        default="best",
        one_of=PREFERENCES,
        doc="'best' may be an ensemble; 'fast' is the best single model; 'simple' the simplest that is as good as that",
    )

    honest: str = param(default="auto", one_of=HONEST, doc="how the estimate is made: 'nested', by 'folds', or 'auto': nested where cheap")
    rows: int | None = param(default=None, at_least=LEAST_ROWS, doc="how many are drawn of a longer table; None: for 20 million cells")
    monotone: Any = param(default=None, doc="columns that act in one direction only, {'age': 1, 'price': -1}")
    cost: Any = param(default=None, doc="what errors cost, such as 'FP:1,FN:20': the class of least expected cost is predicted")
    positive: Any = param(default=None, doc="which of two classes is the positive one; None: the rarer")

    kind: ClassVar[str] = "keeps rows"
    accepts: ClassVar[str] = "anything"
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    least_rows: ClassVar[int] = LEAST_ROWS
    exempt: ClassVar[dict[str, str]] = {"weight_is_copies": "folds divide rows, whatever they weigh; copies stay in one fold"}

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"task": "number", "effort": "quick", "folds": 3, "prefer": "simple"}]

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

    def _objection(self) -> str | None:
        if not isinstance(self.model_, TableModel):
            return "there is no model of a table"
        classes, model = vars(self).get("classes_"), self.model_
        if (classes is not None) != (model.role == "classifier"):
            return "the classes do not suit the model"
        if classes is not None and not set(map(str, model.classes_.tolist())) <= set(_names_of(classes)):
            return "the model knows other classes"
        try:
            Run.of(model, json.loads(self._record))
        except (ValueError, KeyError, TypeError, AttributeError):
            return "how it was found cannot be read"
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = self.role or None
        tags.input_tags.string = True
        return tags

    # --- fit ---

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Choose a model for X and y, and fit it to all rows; y may name a column of a frame or file. Rows of one of the `groups`, a value
        for each row, stay in one fold, because new rows will be of other groups."""
        check.check_params(self)
        if isinstance(y, str) and not check.is_frame(X):
            if sample_weight is not None or groups is not None:
                raise BadType("weights and groups of a file are columns of it: tenfold.select takes their names")
            return self._publish_found(run_of(Job(_silent, False, self._settings()).run(X, y, trusting=True)))
        X, y = check.split_target(X, y) if isinstance(y, str) else (X, y)
        if y is None:
            raise BadInput(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = check.as_column(y)
        frame, names = self._frame(X)
        check.check_length("y", len(y), frame.height)
        beside = {"weights": check.as_weights(sample_weight, frame.height), "groups": None if groups is None else check.as_column(groups)}
        if beside["groups"] is not None:
            check.check_length("groups", len(beside["groups"]), frame.height)
        if beside["weights"] is not None and not beside["weights"].all():
            some = np.flatnonzero(beside["weights"])
            frame, y, beside = frame[some], y[some], {name: None if one is None else one[some] for name, one in beside.items()}
        asked = fresh(self)
        if not asked.role:
            asked.task = _task_of(y)
        target, values = check.as_target(asked, y, frame.height)
        if frame.height < self.least_rows:
            one = ": 1 sample is not enough" if frame.height == 1 else ""
            raise BadInput(
                f"Found array with {frame.height} sample(s) (shape={frame.shape}) while a minimum of {self.least_rows} is required by "
                f"{type(self).__name__}{one}"
            )
        found, classes = asked._found(frame, target, values, beside)
        return self._publish_found(found, names, frame.width, classes)

    def _found(self, frame: pl.DataFrame, target: Target, values: Any, beside: dict[str, Any]) -> tuple[Run, Array | None]:
        """What is chosen for a frame and a target that has passed the gate, and the classes."""
        name, given = _free("target", frame.columns), dict[str, Any](category=list(self.category))
        columns: list[Any] = []
        for role, one in beside.items():
            if one is not None:
                given[role] = _free(role, frame.columns)
                columns.append(pl.Series(given[role], one if role == "weights" else [str(each) for each in one.tolist()]))
        if target.classes is None:
            columns.append(pl.Series(name, values[:, 0]))
            return run_of(Job(_silent, False, self._settings(**given)).run(frame.with_columns(columns), name, trusting=True)), None
        texts = np.array(_names_of(target.classes))
        columns.append(pl.Series(name, texts[values]))
        given["category"].append(name)
        found = run_of(Job(_silent, False, self._settings(**given)).run(frame.with_columns(columns), name, trusting=True))
        if len(found.model.classes_) < len(texts):
            left_out = "; ".join(note for note in found.record["notes"] if "left out" in note)
            warn(f"{type(self).__name__}: {left_out}: their probability is 0", DataWarning, stacklevel=3)
        return found, target.classes

    def _settings(self, **more: Any) -> Settings:
        params = self.get_params(deep=False)
        seed = params.pop("random_state")
        return Settings(**{**params, "seed": seed, **more})

    def _publish_found(self, found: Run, names: Array | None = None, width: int | None = None, classes: Array | None = None) -> Self:
        """Keep what was found; what is not told of the columns and classes is that of a file."""
        facts: dict[str, Any] = {}
        if width is None:
            names = np.array([column["name"] for column in found.record["columns"]], dtype=object)
            classes = found.model.classes_ if found.model.role == "classifier" else None
        facts["n_features_in_"] = len(names) if names is not None else width
        facts |= {name: one for name, one in (("feature_names_in_", names), ("classes_", classes)) if one is not None}
        self._forget_fit()
        vars(self).update(facts, model_=found.model, _record=json.dumps(plain(found.record), ensure_ascii=False))
        RUNS[self] = found
        return self

    # --- how it was found ---

    @property
    def run_(self) -> Run:
        """The result of `tenfold.select`: what else was tried, the report; of a model that was loaded without the held-out rows."""
        check.check_fitted(self)
        return RUNS.get(self) or Run.of(self.model_, json.loads(self._record))

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
            return np.asarray(np.log(self.predict_proba(X)))

    @available(lambda self: self.role != "classifier")
    def predict_interval(self, X: Any) -> Array:
        """(rows, 2): a range around each predicted number that holds the truth of 90 % of new rows."""
        return self.model_.predict_interval(self._new_rows(X))

    @available(lambda self: self.role != "regressor")
    def predict_set(self, X: Any) -> Array:
        """(rows, classes): which of `classes_` may be that of a row, the most likely one among them; sets hold the truth of 90 % of new
        rows."""
        said = self.model_.predict_set(self._new_rows(X))
        found = np.zeros((len(said), len(self.classes_)), dtype=bool)
        found[:, self._places()] = said
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right, or R²."""
        check.check_fitted(self)
        role: Any = Classifier if self.role == "classifier" else Regressor
        found: float = role.score(self, X, y, sample_weight)
        return found

    _quality = Regressor._quality

    def _places(self) -> Array:
        """The number among `classes_` of each class of the model, which knows them as texts."""
        texts = _names_of(self.classes_)
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
            return of_array(given), None
        rows = as_floats(rows)
        check_finite(rows, slice(0, None), None, True, True)
        return of_array(rows), None


def _task_of(y: Array) -> str:
    """Classes or a number, by what y holds: as `tenfold.select` takes it, though texts are always classes."""
    if y.dtype.kind not in "biuf" or y.size != len(y):
        return "classes"
    flat = y.reshape(-1)
    return kind_of(pl.Series("target", flat)) if flat.dtype.kind != "f" or (flat == np.round(flat)).all() else "number"


def _names_of(classes: Array) -> list[str]:
    """Classes as the texts of a column: in quotes where one would be read as nothing."""
    texts = [str(one) for one in classes.tolist()]
    return texts if all(text == text.strip() != "" for text in texts) else [repr(text) for text in texts]


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _silent(event: str, **facts: Any) -> None:
    """Nobody listens."""
