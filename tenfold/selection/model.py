"""A model for tables: the coder and the pipeline behind it, as one learner that takes files and frames."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.check import check_fitted
from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.params import estimator, param
from tenfold.selection.coder import TableCoder
from tenfold.selection.columns import check_name
from tenfold.selection.new_rows import check_new_rows
from tenfold.selection.reading import read_table


@estimator
class TableModel(Estimator):
    """TableModel: answers for the rows of a table, as `tenfold.select` leaves it.

    Model       pipeline(coder(row)), the pipeline behind a matrix of numbers or, for trees, a frame with categories
    Objective   that of the pipeline's last step
    Algorithm   made by `tenfold.select`, which fits coder and pipeline; it has no fit of its own
    Cost        coding and prediction, one pass
    Fails when  a column the model needs is missing (refused)
    Reference   none

    Fitted      target_, reach_ (numbers: half the width of a range that holds 90 % of new rows), reaches_
                (2, levels) the same by the size of the answer: ends of levels, half widths; n_features_in_,
                feature_names_in_
    """

    kind: ClassVar[str] = "one pass"

    coder: object = param(default=None, doc="a fitted TableCoder")
    pipeline: object = param(
        default=None, doc="a fitted pipeline that takes the coder's matrix, or a learner that takes its frame"
    )

    @classmethod
    def of(
        cls, coder: TableCoder, pipeline: Any, target: str, reach: float | None = None, reaches: Array | None = None
    ) -> TableModel:
        """The model from its two fitted parts; `reach` is half the width of the range around an answer, `reaches` by level."""
        model = cls(coder, pipeline)
        vars(model).update(
            n_features_in_=coder.n_features_in_, feature_names_in_=coder.feature_names_in_, target_=target
        )
        if reach is not None:
            vars(model).update(reach_=reach, **({} if reaches is None else dict(reaches_=reaches)))
        return model

    @property
    def role(self) -> str:  # type: ignore[override]
        return str(self.pipeline.role)  # type: ignore[attr-defined]

    @property
    def classes_(self) -> Array:
        """The classes, in the order of `predict_proba`."""
        return self.pipeline.classes_  # type: ignore[attr-defined]

    def predict(self, table: Any) -> Array:
        """The predicted class or number of each row of a file or frame."""
        return np.asarray(self.pipeline.predict(self.coded(table)))  # type: ignore[attr-defined]

    def predict_proba(self, table: Any) -> Array:
        """The probability of each class."""
        return np.asarray(self.pipeline.predict_proba(self.coded(table)))  # type: ignore[attr-defined]

    def predict_interval(self, table: Any) -> Array:
        """(rows, 2): a range around each predicted number that holds the truth of 90 % of new rows."""
        return self.around(self.predict(table))

    def around(self, answers: Array) -> Array:
        """The ranges of predicted numbers."""
        if "reach_" not in vars(self):
            raise BadInput(
                "this model has no ranges: they are for numbers, from at least 9 rows and a run that was not stopped"
            )
        reach: Any = self.reach_
        if "reaches_" in vars(self) and self.reaches_.shape[1]:
            ends, half = self.reaches_
            reach = half[np.searchsorted(ends[:-1], answers)]
        return np.column_stack([answers - reach, answers + reach])

    def coded(self, table: Any) -> Any:
        """The rows of a file or frame as the pipeline takes them; other columns than those needed are passed over."""
        check_fitted(self)
        raw = read_table(table)
        for name in self.feature_names_in_:
            check_name(name, raw.frame.columns, f" in {raw.name}, which the model needs")
        coder: Any = self.coder
        trees = bool(self.pipeline.categorical)  # type: ignore[attr-defined]
        check_new_rows(raw.frame, coder, trees)
        return coder.frame(raw.frame) if trees else coder.transform(raw.frame)
