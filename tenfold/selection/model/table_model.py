"""A model for tables: the coder and the pipeline behind it, as one learner that takes files and frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.check import as_weights, check_fitted
from tenfold.base.estimator import Classifier, Estimator, Regressor
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import estimator, param
from tenfold.prepare.coder import TableCoder
from tenfold.prepare.new_rows import check_new_rows
from tenfold.selection.choice.costs import cheapest, checked_cost, cost_matrix
from tenfold.selection.choice.floor import floored
from tenfold.selection.honest.estimate import in_sets
from tenfold.selection.model.by_cells import ByCells
from tenfold.selection.race.text_folds import texts_again
from tenfold.selection.race.text_score import TextScore
from tenfold.table.cells import as_known, as_numbers, as_texts, finite
from tenfold.table.columns import Column, check_name, comma_of
from tenfold.table.reading import pl, read_table


@estimator
class TableModel(ByCells):
    """TableModel: predictions for the rows of a table, as `tenfold.select` leaves it.

    Model       pipeline(coder(row)), the pipeline behind a matrix of numbers or, for trees, a frame with categories
    Objective   that of the pipeline's last step
    Algorithm   made by `tenfold.select`, which fits coder and pipeline; `fit` fits pipeline and scores of texts anew, the coder stays
    Cost        coding and prediction, one pass
    Fails when  a column the model needs is missing (refused)
    Reference   none
    """

    feature_names_in_: Array = learned("text(p)", "names of the columns")
    target_: str = learned("str", "name of the target column")
    reach_: float = learned("float", "numbers: half the width of a range that holds 90 % of new rows", optional=True)
    floor_: float = learned("float", "classes: the least probability that is said", optional=True)
    reaches_: Array = learned(
        "float(2,k)", "the same by the size of the prediction: ends of levels, half widths", optional=True
    )
    least_: Array = learned(
        "float(K)>=0", "classes: how likely each must be to be in a set, so that sets hold 90 % of new rows", optional=True
    )

    kind: ClassVar[str] = "one pass"
    accepts: ClassVar[str] = "table"
    missing: ClassVar[bool] = True

    coder: Any = param(default=None, doc="a fitted TableCoder")
    pipeline: Any = param(
        default=None, doc="a fitted pipeline that takes the coder's matrix, or a learner that takes its frame"
    )
    costs: Any = param(default=None, doc="costs of each true class and decision, by which classes are decided for; None: the most likely")
    texts: list[Any] | None = param(default=None, doc="a fitted TextScore for each column of texts; the coder takes its scores")

    @classmethod
    def of(
        cls,
        coder: TableCoder,
        pipeline: Any,
        target: str,
        half_width: float | None = None,
        half_widths: Array | None = None,
        floor: float = 0.0,
        costs: Array | None = None,
        texts: list[TextScore] | None = None,
        least: Array | None = None,
    ) -> TableModel:
        """The model from its two fitted parts; `half_width` is that of the range around a prediction, `half_widths` by level; `least` how
        likely each class must be to be in a set."""
        model = cls(coder, pipeline, None if costs is None else costs.tolist(), texts or None)
        vars(model).update(
            n_features_in_=coder.n_features_in_, feature_names_in_=coder.feature_names_in_, target_=target
        )
        if floor:
            vars(model)["floor_"] = floor
        if least is not None:
            vars(model)["least_"] = least
        if half_width is not None:
            vars(model).update(reach_=half_width, **({} if half_widths is None else dict(reaches_=half_widths)))
        return model

    @property
    def role(self) -> str:
        return str(self.pipeline.role)

    @property
    def target(self) -> str:
        return str(self.pipeline.target)

    @property
    def classes_(self) -> Any:  # type: ignore[override]
        """The classes, in the order of `predict_proba`."""
        if self.role != "classifier":
            raise AttributeError("this model predicts numbers: it has no classes_")
        return self.pipeline.classes_

    def _objection(self) -> str | None:
        coder, pipeline = self.coder, self.pipeline
        if not isinstance(coder, TableCoder) or not isinstance(pipeline, Estimator):
            return "there is no coder, or no model behind it"
        if not np.array_equal(coder.feature_names_in_, self.feature_names_in_):
            return "the coder takes other columns"
        made = [name for text in self.texts or () for name in (text.names_ if isinstance(text, TextScore) else [None])]
        if len(set(made)) < len(made) or not set(made) <= set(self.feature_names_in_[~coder.category_]):
            return "the scores of texts are not those that the coder takes"
        width = self.n_features_in_ if self._keeps_categories else len(coder.names_out())
        if pipeline.n_features_in_ != width:
            return f"the model behind the coder does not take its {width} columns"
        classes, least = len(pipeline.classes_) if pipeline.role == "classifier" else 0, vars(self).get("least_")
        if least is not None and (not 0 < len(least) == classes or least.max() > 1):
            return f"the least probabilities of sets are not {classes} numbers between 0 and 1"
        if self.costs is not None:
            try:
                fits = np.shape(self.costs) == (classes, classes) and bool(np.isfinite(np.asarray(self.costs, dtype=np.float64)).all())
            except (TypeError, ValueError):
                fits = False
            if not fits:
                return f"the costs are no matrix of numbers for {classes} classes"
        names = vars(pipeline).get("feature_names_in_") if self._keeps_categories else None
        return (
            None if names is None or np.array_equal(names, self.feature_names_in_) else "the model takes other columns"
        )

    def __sklearn_clone__(self) -> Self:
        """A copy keeps the fitted coder, which has not looked at the target; `fit` fits its pipeline."""
        other: Self = fresh(self)
        return other

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def predict(self, table: Any) -> Array:
        """The predicted class or number of each row of a file or frame."""
        return self.predictions(self.coded(table))

    def predictions(self, coded: Any) -> Array:
        """The predicted class or number, of rows as the pipeline takes them: the most likely class, or that of least expected cost."""
        if self.rule is None:
            return np.asarray(self.pipeline.predict(coded))
        return np.asarray(self.classes_[cheapest(self.probabilities(coded), self.rule)])

    @property
    def rule(self) -> Array | None:
        """The costs by which a class is decided for; None for the most likely one."""
        if self.costs is None or len(self.costs) != len(self.classes_):  # fitted anew to rows of fewer classes
            return None
        return np.asarray(self.costs, dtype=np.float64)

    def decide_by(self, cost: Any, positive: str | None = None) -> None:
        """Let it decide by other costs. positive: which of two classes is the positive one.

        Where it is not known, as of runs of `tenfold fit` by earlier versions, FP and FN may be either error, and are refused."""
        if self.role != "classifier":
            raise BadParameter(f"cost is for classes, and {self.target_!r} is a number: leave it out")
        labels, named = [str(one) for one in self.classes_], checked_cost(cost)
        if named is None:
            return
        if positive not in labels and len(labels) == 2 and named[0][0] == "":
            one, other = labels
            raise BadParameter(
                f"cost={named[0][1]}:{named[0][2]:g}: which of {one!r} and {other!r} is the positive class is not known of this run, made "
                f"by an earlier version: name the errors, as in {one}>{other}:1,{other}>{one}:20"
            )
        self.costs = cost_matrix(named, labels, labels.index(positive) if positive in labels else 1).tolist()

    def predict_proba(self, table: Any) -> Array:
        """The probability of each class."""
        return self.probabilities(self.coded(table))

    def probabilities(self, coded: Any) -> Array:
        """The probability of each class, of rows as the pipeline takes them."""
        return floored(np.asarray(self.pipeline.predict_proba(coded), dtype=np.float64), self._floor)

    def score(self, table: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right, or R²; `y` is in the table, in the column it was in, if not given."""
        check_fitted(self)
        if y is None or isinstance(y, str):
            raw = read_table(table)
            name = self.target_ if y is None else y
            check_name(name, raw.frame.columns, f" in {raw.name}, to score predictions by")
            y, table = self._truth(raw.frame[name], comma_of(raw)), raw.frame
        role: Any = Classifier if self.role == "classifier" else Regressor
        found: float = role.score(self, table, y, sample_weight)
        return found

    _quality = Regressor._quality

    def _truth(self, column: pl.Series, comma: bool = False) -> Array:
        """A column of a table as targets: numbers, or labels as the classes are; new classes as texts or numbers. comma: the table writes
        commas before decimals."""
        texts = as_texts(column)
        read = as_numbers(texts, comma) if column.dtype == pl.String else None
        numbers = read.values if read is not None else finite(column)[0] if column.dtype.is_numeric() else None
        labels = vars(self._last).get("classes_") if self.role == "classifier" else np.empty(0)
        numeric = numbers is not None if labels is None else labels.dtype.kind in "iuf"
        if labels is not None and not numeric:
            texts = as_known(texts, [str(one) for one in labels])
        found = texts if not numeric else texts.cast(pl.Float64, strict=False) if numbers is None else numbers
        missing = found.is_null()
        if missing.any():
            row = int(missing.arg_max() or 0)
            raise BadInput(f"the target column {column.name!r} has no usable value in row {row}: leave such rows out")
        values = found.to_numpy() if numeric else found.to_numpy().astype(str)
        return values.astype(np.int64) if numeric and self.role == "classifier" and (values % 1 == 0).all() else values

    def predict_interval(self, table: Any) -> Array:
        """(rows, 2): a range around each predicted number that holds the truth of 90 % of new rows."""
        return self.around(self.predict(table))

    def around(self, predictions: Array) -> Array:
        """The ranges of predicted numbers."""
        if "reach_" not in vars(self):
            raise BadInput(
                "this model has no ranges: they are for numbers, from at least 9 rows and a run that was not stopped"
            )
        half_width: Any = self.reach_
        if "reaches_" in vars(self) and self.reaches_.shape[1]:
            ends, half = self.reaches_
            half_width = half[np.searchsorted(ends[:-1], predictions)]
        return np.column_stack([predictions - half_width, predictions + half_width])

    def predict_set(self, table: Any) -> Array:
        """(rows, classes): which classes may be that of a row, the most likely one among them; sets hold 90 % of new rows."""
        least = self._least()  # refused before the rows are read
        return in_sets(self.predict_proba(table), least)

    def within(self, probabilities: Array) -> Array:
        """The sets of rows, from the probability of each class."""
        return in_sets(probabilities, self._least())

    def _least(self) -> Array:
        if "least_" not in vars(self):
            raise BadInput("this model has no sets: they are for classes, from at least 9 rows and a run that was not stopped")
        return self.least_

    def coded(self, table: Any) -> Any:
        """The rows of a file or frame as the pipeline takes them; other columns than those needed are passed over."""
        check_fitted(self)
        raw = read_table(table, known=self.columns)
        self.check_columns(raw.frame.columns, raw.name)
        coder: Any = self.coder
        frame, trees = self.scored(raw.frame), bool(self.pipeline.categorical)
        check_new_rows(frame, coder, trees)
        return coder.frame(frame) if trees else coder.transform(frame)

    def check_columns(self, known: Sequence[str], name: str) -> None:
        """Refuse a table of this name that has not all columns that the model needs."""
        there = set(known)
        for column in self.columns:
            if column not in there:
                check_name(column, known, f" in {name}, which the model needs")

    @property
    def columns(self) -> list[str]:
        """The columns of a table that the model needs; each of texts once, however many scores it has."""
        return list(dict.fromkeys(self.origins))

    @property
    def origins(self) -> list[str]:
        """The column of the table that each coded column comes from."""
        made = {str(name): str(text.column) for text in self.texts or () for name in text.names_}
        return [made.get(str(name), str(name)) for name in self.coder.feature_names_in_]

    def as_columns(self) -> list[Column]:
        """The columns of a table as they were read when the model was made."""
        texts = {name: str(text.column) for text in self.texts or () for name in map(str, text.names_)}
        coded = [one for one in self.coder.as_columns() if one.name not in texts]
        return [*coded, *(Column(name, "text") for name in dict.fromkeys(texts.values()))]

    def scored(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A table with scores in the place of texts."""
        frame = frame.select(self.columns) if self.texts else frame
        for text in self.texts or ():
            frame = text.scored(frame)
        return frame

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the pipeline to the rows of a table, and before it the scores of texts."""
        if not self.texts:
            return super().fit(X, y, sample_weight)
        frame, target = self._split(X, y)
        weight = as_weights(sample_weight, frame.height)
        again = texts_again(self.texts, frame, target, self.role, weight)
        super().fit(again.scored(frame.select(self.columns)), target, sample_weight)
        self.texts = again.fitted()
        return self

    def again(self, X: Any, y: Any, sample_weight: Any = None) -> TableModel:
        """The same model fitted to other rows: no class is less likely to it than to this one at least."""
        other: TableModel = fresh(self).fit(X, y, sample_weight)
        if self._floor:
            vars(other)["floor_"] = self._floor
        return other

    def apart_from_texts(self, frame: pl.DataFrame, y: Array) -> tuple[TableModel, pl.DataFrame]:
        """The same model without its texts, and rows with a number in the place of each, said by models that have not seen the row."""
        if not self.texts:
            return self, frame
        apart: Any = fresh(self)
        vars(apart).update(vars(self) | dict(texts=None))
        others = [name for name in frame.columns if name not in self.columns]
        scored = texts_again(self.texts, frame, y, self.role).scored(frame.select(self.columns))
        return apart, pl.DataFrame([*scored.get_columns(), *frame.select(others).get_columns()])
