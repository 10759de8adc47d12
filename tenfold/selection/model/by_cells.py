"""A model for tables as a learner of one number for each cell: for tools that alter columns, and for fits on some of the rows."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from tenfold.base.check import check_predict, in_memory
from tenfold.base.estimator import Estimator, softmax
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput
from tenfold.gate.categories import Categories
from tenfold.prepare.indicators import folded, kept_levels, levels_of, unfolded
from tenfold.selection.choice.decision import decided
from tenfold.selection.choice.floor import floored
from tenfold.table.columns import check_name
from tenfold.table.reading import pl, read_table


class ByCells(Estimator):
    """Abstract: a coder and a pipeline behind it."""

    coder: Any
    pipeline: Any
    texts: list[Any] | None

    def coded(self, table: Any) -> Any:
        """The rows of a file or frame as the pipeline takes them."""
        raise NotImplementedError

    def _truth(self, column: pl.Series) -> Array:
        """A column of a table as targets."""
        raise NotImplementedError

    @property
    def rule(self) -> Array | None:
        """The costs by which a class is decided for; None for the most likely one."""
        raise NotImplementedError

    @property
    def categories_(self) -> Categories:
        """The categories of each column, in the order of their codes in `_coded_rows`; None for numbers."""
        coder: Any = self.coder
        if not self._keeps_categories:
            return levels_of(coder)
        fitted = vars(self.pipeline).get("categories_")
        return kept_levels(coder) if fitted is None else fitted

    @property
    def _keeps_categories(self) -> bool:
        """Whether the pipeline takes categories as they are (trees do), and not the coder's matrix."""
        return bool(self.pipeline.categorical)

    @property
    def _floor(self) -> float:
        """The least probability of a class."""
        return float(vars(self).get("floor_", 0.0))

    def _coded_rows(self, table: Any) -> Array:
        coded = self.coded(table)
        if self._keeps_categories:
            return np.asarray(check_predict(self.pipeline, coded))
        return folded(self.coder, coded)

    def _source(self, table: Any, y: Any, sample_weight: Any, classes: Any) -> Source:
        frame, y = self._split(table, y)
        if any(name not in frame.columns or frame[name].dtype == pl.String for text in self.texts or () for name in text.names_):
            raise BadInput("a model that reads texts learns from whole tables: use its fit, or tenfold.select")
        coder: Any = self.coder
        if self._keeps_categories:
            source = in_memory(self.pipeline, coder.frame(frame), y, sample_weight, classes, self.categories_)
        else:
            source = in_memory(self, folded(coder, coder.transform(frame)), y, sample_weight, classes)
        source.facts.update(feature_names_in_=coder.feature_names_in_, categories_=self.categories_)
        return source

    def _split(self, table: Any, y: Any) -> tuple[pl.DataFrame, Any]:
        """The table, and its target: given, or one of its columns."""
        frame = read_table(table).frame
        if not isinstance(y, str):
            return frame, y
        check_name(y, frame.columns)
        return frame.drop(y), self._truth(frame[y])

    def _fit(self, source: Source, start: Any = None) -> Self:
        pipeline: Any = fresh(self.pipeline)
        coder: Any = self.coder
        target = vars(self).get("target_", "target")
        if self._keeps_categories:
            pipeline._fit(source)
        else:
            matrix = source.map(partial(unfolded, coder), len(coder.names_out()))
            matrix.facts.pop("categories_")
            pipeline._fit(matrix)
        self._forget_fit()
        self.pipeline = pipeline
        vars(self).update(
            n_features_in_=coder.n_features_in_, feature_names_in_=coder.feature_names_in_, target_=target
        )
        return self

    def _through(self, rows: Array) -> Array:
        """Rows as the last learner takes them."""
        if self._keeps_categories:
            return rows
        return np.asarray(self.pipeline._through(unfolded(self.coder, rows)))

    @property
    def _last(self) -> Any:
        return self.pipeline if self._keeps_categories else self.pipeline._last

    def _predict(self, rows: Array) -> Array:
        return np.asarray(self._last._predict(self._through(rows)))

    def _outputs(self, rows: Array) -> Array:
        if self.rule is not None:
            return decided(self._scores(rows), self.rule)
        return self._scores(rows) if self._floor else np.asarray(self._last._outputs(self._through(rows)))

    def _scores(self, rows: Array) -> Array:
        scores = np.asarray(self._last._scores(self._through(rows)))
        return np.log(floored(softmax(scores), self._floor)) if self._floor else scores

    def _explained(self) -> Any:
        return self._last._explained() if self._keeps_categories else None
