"""Random forests and extremely randomised trees."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Regressor
from tenfold.base.shares import TargetsClassifier, log_shares
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.solve.class_weights import row_factors
from tenfold.tree.forest.growing import ROWS_ARE_DRAWN, SPLITS_ARE_SHARED, Forest
from tenfold.tree.forest.out_of_bag import determination, joint_accuracy
from tenfold.tree.forest.quantiles import KeepsTargets
from tenfold.tree.options import GAINS, ForestOptions, drawn_columns
from tenfold.tree.settings import chosen_oob_score, refuse
from tenfold.tree.single.decision import DecisionTreeClassifier, DecisionTreeRegressor
from tenfold.tree.single.extra import ExtraTreeClassifier, ExtraTreeRegressor
from tenfold.tree.structure.arrays import Trees


@group
class ForestClassifier(ForestOptions, TargetsClassifier, Forest):
    """Abstract: a forest for classes."""

    _trees: Trees = learned("Trees(t,*)", "all trees")
    _sums: Array = learned("float(n,*)", "what the trees that have not seen a training row predict for it, summed")

    _: KW_ONLY
    criterion: str = param(
        default="gini", one_of=GAINS, doc="the impurity of a node; log_loss is entropy", before="max_depth"
    )
    max_features: int | float | str | None = drawn_columns("sqrt")
    class_weight: dict[Any, Any] | list[Any] | str | None = param(
        default=None,
        one_of=("balanced", "balanced_subsample"),
        doc="factors of the classes' weights, of several targets a list of dicts; 'balanced_subsample': balanced anew for each tree",
        before="ccp_alpha",
    )
    monotonic_cst: list[Any] | None = param(
        default=None, doc="−1, 0 or 1 for each column: the second class falls or rises with it"
    )

    def _factors(self, y: Array, w: Array) -> tuple[Array | None, list[int]]:
        return row_factors(self, y.astype(np.int64), w), self._widths()

    def _balances_trees(self, classes: list[int]) -> bool:
        return self.class_weight == "balanced_subsample" and len(classes) == 1

    def _oob(self, mean: Array, y: Array, w: Array) -> float:
        if isinstance(self.classes_, list):
            return joint_accuracy(self, mean, y, w)
        score = chosen_oob_score(self)
        if score is not None:
            return score.of(y.astype(np.int64), log_shares(mean), w, self.classes_)
        return float(np.average(mean.argmax(axis=1) == y, weights=w))

    @property
    def oob_decision_function_(self) -> Array:
        """(n, K), of several targets (n, K, targets): the probabilities of the training rows from trees that have not seen them; NaN
        where all have."""
        found = self._outputs_out_of_bag("oob_decision_function_")
        if not isinstance(self.classes_, list):
            return found
        parts, most = self._by_target(found), max(self._widths())
        return np.stack([np.pad(part, ((0, 0), (0, most - part.shape[1]))) for part in parts], axis=2)

    def _tree_class(self) -> Any:
        return ExtraTreeClassifier if self.random_thresholds else DecisionTreeClassifier

    def _errors(self, outputs: Array, y: Any) -> Array:
        y = np.asarray(y)
        parts = zip(self._classes_by_target(), self._by_target(outputs), y.reshape(len(y), -1).T, strict=True)
        return np.concatenate([(own[part.argmax(axis=1)] == truth).astype(np.float64) for own, part, truth in parts])

    def _losses(self, outputs: Array, y: Array) -> Array:
        parts = zip(self._by_target(outputs), y.reshape(len(y), -1).T, strict=True)
        return np.asarray(np.mean([part.argmax(axis=1) != truth for part, truth in parts], axis=0))

    def _objection(self) -> str | None:
        found = {self._trees.value.shape[1], self._sums.shape[1], sum(self._widths())}
        return None if len(found) == 1 else "the leaves have another number of values than there are classes"

    def _class_shares(self, X: Any) -> Array:
        return self._mean(X)


@group
class ForestRegressor(ForestOptions, Regressor, KeepsTargets):
    """Abstract: a forest for numbers."""

    exempt: ClassVar[dict[str, str]] = {**Forest.exempt, **SPLITS_ARE_SHARED}

    _trees: Trees = learned("Trees(t,*)", "all trees")
    _sums: Array = learned("float(n,*)", "what the trees that have not seen a training row predict for it, summed")
    _: KW_ONLY
    criterion: str = param(
        default="squared_error",
        one_of=("squared_error", "absolute_error", "friedman_mse", "poisson"),
        doc="the error of a node; friedman_mse is squared_error",
        before="max_depth",
    )
    max_features: int | float | str | None = drawn_columns(1.0)
    keep_targets: bool = param(default=False, doc="keep the training targets by leaf, for predict_quantiles")

    def _factors(self, y: Array, w: Array) -> tuple[Array | None, list[int]]:
        y = y.reshape(len(y), -1)
        if self.criterion == "poisson" and (y.min() < 0 or y.max(axis=0).min() <= 0):
            why = "Sum of y is not strictly positive which is necessary"
            if y.min() < 0:
                why = "Some value(s) of y are negative which is not allowed"
            raise BadInput(
                f"{type(self).__name__}(criterion='poisson'): {why} for Poisson regression. y goes from {y.min():g} to {y.max():g}: use "
                "squared_error"
            )
        if y.shape[1] > 1 and self.keep_targets:
            raise refuse(self, "keep_targets", f"is for one target, and y has {y.shape[1]} columns: use MultiOutputRegressor")
        return None, [0] * y.shape[1]

    def _oob(self, mean: Array, y: Array, w: Array) -> float:
        score, y = chosen_oob_score(self), y.reshape(len(y), -1)
        if score is not None:
            return score.of(y, mean, w)
        return float(np.mean([determination(own, said, w) for own, said in zip(y.T, mean.T, strict=True)]))

    @property
    def oob_prediction_(self) -> Array:
        """(n,), or (n, targets): the predictions of the training rows from trees that have not seen them; NaN where all have."""
        return self._by_target(self._outputs_out_of_bag("oob_prediction_"))

    @property
    def n_outputs_(self) -> int:
        """The number of target columns."""
        check.check_fitted(self)
        return int(self._trees.value.shape[1])

    @staticmethod
    def _by_target(values: Array) -> Array:
        """(rows, targets), of one target (rows,)."""
        return values[:, 0] if values.shape[1] == 1 else values

    def _tree_class(self) -> Any:
        return ExtraTreeRegressor if self.random_thresholds else DecisionTreeRegressor

    def _errors(self, outputs: Array, y: Any) -> Array:
        return np.ravel(outputs - check.real_target(check.as_column(y), len(outputs)))

    def _losses(self, outputs: Array, y: Array) -> Array:
        return np.asarray(((outputs - y.reshape(outputs.shape)) ** 2).sum(axis=1))

    def _predict(self, X: Any) -> Array:
        return self._by_target(self._mean(X)).astype(X.dtype, copy=False)

    def _objection(self) -> str | None:
        if self._sums.shape[1] != self._trees.value.shape[1]:
            return "the leaves have another number of values than there are targets"
        return super()._objection()


@group
class DrawnThresholds:
    """Abstract: what is drawn at random is the thresholds, not the rows."""

    random_thresholds: ClassVar[bool] = True

    _: KW_ONLY
    bootstrap: bool = param(default=False, doc="draw rows for each tree; False: every tree has all rows")


@estimator
class RandomForestClassifier(ForestClassifier):
    """RandomForestClassifier: the mean of many trees, each grown on rows and columns drawn for it.

    Model       P(class k | x) = (1/T) Σₜ share of class k in the leaf of x in tree t
    Objective   that of DecisionTreeClassifier at each node, over max_features columns drawn for the node; of several
                targets the mean of theirs
    Algorithm   columns are cut into at most max_bins bins, a value kept as one byte, or two; each tree grows on rows drawn with
                replacement (Poisson counts keyed by the content of a row: neither order nor blocks of rows matter), the best of
                the drawn columns' thresholds; weights are shares: of means and impurities, while every row counts as one where
                rows are drawn, binned and counted (min_samples_*), and one of weight 0 is left out;
                missing values and categories as in DecisionTreeClassifier, rare categories with the missing ones;
                monotone columns by bounds on the values below a split; threads run over trees
    Cost        O(n k) time for each level of a tree with k columns a node; n p bytes, and the trees. 255 bins cost probabilities a
                little where a bin holds many rows, and accuracy nothing: simulated with interactions of 30 columns, the log loss is
                0.0004 (± 0.0004) above that of scikit-learn's forest, whose thresholds are exact, with 10,000 rows, and 0.0025
                (± 0.0008) with 50,000; max_bins=65535 leaves nothing of that (0.0001 ± 0.0005 in 21 draws: bins are all that
                differs) and takes three to four times as long
    Fails when  few of many columns matter (raise max_features); the truth is linear far beyond the training rows
    Reference   Breiman 2001

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(200.0).reshape(100, 2)
    >>> model = tenfold.RandomForestClassifier(20, random_state=0).fit(X, X[:, 0] > 100)
    >>> model.predict([[3.0, 4.0], [190.0, 191.0]])
    array([False,  True])
    >>> bool(model.oob_score_ > 0.9)
    True
    """

    exempt: ClassVar[dict[str, str]] = {**Forest.exempt, **ROWS_ARE_DRAWN}


@estimator
class RandomForestRegressor(ForestRegressor):
    """RandomForestRegressor: the mean of many trees, each grown on rows drawn for it.

    Model       ŷ(x) = (1/T) Σₜ mean (absolute_error: median) of the targets in the leaf of x in tree t
    Objective   that of DecisionTreeRegressor at each node, over max_features columns drawn for the node; of several
                targets the mean of theirs
    Algorithm   columns are cut into at most max_bins bins, a value kept as one byte, or two; each tree grows on rows drawn with
                replacement (Poisson counts keyed by the content of a row: neither order nor blocks of rows matter), the best of
                the drawn columns' thresholds; weights are shares: of means and impurities, while every row counts as one where
                rows are drawn, binned and counted (min_samples_*), and one of weight 0 is left out;
                missing values and categories as in DecisionTreeRegressor, rare categories with the missing ones;
                monotone columns by bounds on the values below a split; threads run over trees
    Cost        O(n k) time for each level of a tree with k columns a node, for medians too; n p bytes, and the trees; with
                keep_targets 4 n bytes more for each tree
    Fails when  few of many columns matter (raise max_features); outside the range of the training rows
    Reference   Breiman 2001; Meinshausen 2006 (predict_quantiles)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(200.0).reshape(100, 2)
    >>> model = tenfold.RandomForestRegressor(20, random_state=0).fit(X, X[:, 0])
    >>> bool(abs(model.predict([[50.0, 51.0]])[0] - 50) < 5)
    True
    """

    exempt: ClassVar[dict[str, str]] = {**ForestRegressor.exempt, **ROWS_ARE_DRAWN}

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [
            {"n_estimators": 10, "random_state": 0},
            {"n_estimators": 3, "criterion": "absolute_error", "random_state": 0},
        ]


@estimator
class ExtraTreesClassifier(DrawnThresholds, ForestClassifier):
    """ExtraTreesClassifier: the mean of many trees whose thresholds are drawn at random.

    Model       P(class k | x) = (1/T) Σₜ share of class k in the leaf of x in tree t
    Objective   at each node the best of max_features columns, each with one threshold drawn between its least and largest value;
                of several targets by the mean of their criteria
    Algorithm   columns are cut into at most max_bins bins, a value kept as one byte, or two; each tree grows on rows drawn with
                replacement (Poisson counts keyed by the content of a row: neither order nor blocks of rows matter), only with
                bootstrap=True; thresholds are drawn among the bins; weights are shares: of means and impurities, while every
                row counts as one where rows are drawn, binned and counted (min_samples_*), and one of weight 0 is left out;
                missing values and categories as in DecisionTreeClassifier, rare categories with the missing ones;
                monotone columns by bounds on the values below a split; threads run over trees
    Cost        O(n k) time for each level of a tree with k columns a node; n p bytes, and the trees
    Fails when  few of many columns matter (raise max_features)
    Reference   Geurts, Ernst & Wehenkel 2006

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(200.0).reshape(100, 2)
    >>> model = tenfold.ExtraTreesClassifier(20, random_state=0).fit(X, X[:, 0] > 100)
    >>> model.predict([[3.0, 4.0], [190.0, 191.0]])
    array([False,  True])
    """


@estimator
class ExtraTreesRegressor(DrawnThresholds, ForestRegressor):
    """ExtraTreesRegressor: the mean of many trees whose thresholds are drawn at random.

    Model       ŷ(x) = (1/T) Σₜ mean (absolute_error: median) of the targets in the leaf of x in tree t
    Objective   at each node the best of max_features columns, each with one threshold drawn between its least and largest value;
                of several targets by the mean of their criteria
    Algorithm   columns are cut into at most max_bins bins, a value kept as one byte, or two; each tree grows on rows drawn with
                replacement (Poisson counts keyed by the content of a row: neither order nor blocks of rows matter), only with
                bootstrap=True; thresholds are drawn among the bins; weights are shares: of means and impurities, while every
                row counts as one where rows are drawn, binned and counted (min_samples_*), and one of weight 0 is left out;
                missing values and categories as in DecisionTreeRegressor, rare categories with the missing ones;
                monotone columns by bounds on the values below a split; threads run over trees
    Cost        O(n k) time for each level of a tree with k columns a node, for medians too; n p bytes, and the trees; with
                keep_targets 4 n bytes more for each tree
    Fails when  few of many columns matter (raise max_features); outside the range of the training rows
    Reference   Geurts, Ernst & Wehenkel 2006; Meinshausen 2006 (predict_quantiles)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(200.0).reshape(100, 2)
    >>> model = tenfold.ExtraTreesRegressor(20, random_state=0).fit(X, X[:, 0])
    >>> bool(abs(model.predict([[50.0, 51.0]])[0] - 50) < 5)
    True
    """
