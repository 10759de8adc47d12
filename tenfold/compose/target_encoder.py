"""Columns of categories as means of the target, each row by the targets of other rows."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import estimator, param
from tenfold.core.stats import Spread
from tenfold.evaluate.split.splitting import check_cv
from tenfold.prepare.encoder import CATEGORIES, WHICH, Encoder
from tenfold.score.kinds import LABELS, as_labels, kind_of

SEED = 0  # of the folds, where the user gives none: the same rows give the same numbers


@estimator
class TargetEncoder(Encoder):
    """TargetEncoder: a column of categories as the mean target of the rows of each, drawn to the mean of all rows.

    Model       z = λ m_c + (1 − λ) m for category c with mean target m_c; of several classes a column for the share of each
    Objective   λ = n_c / (n_c + s) for smooth = s;  "auto": λ = σ² / (σ² + σ_c² / n_c), an empirical Bayes estimate from the
                variances of the target in all rows and in those of the category
    Algorithm   one pass for the categories (at the gate), one for their counts, one for means and variances; `fit_transform`
                encodes each fold of rows by the targets of the other folds, so that no row sees its own
    Cost        O(n p) time, memory for every different value; `fit_transform` as many times as there are folds
    Fails when  the rows of the fit are given to `transform`: the target leaks into them. Use `fit_transform`, as pipelines do;
                categories not met, and missing values where fit had none, get the mean of all rows
    Reference   Micci-Barreca 2001

    Example
    -------
    >>> import tenfold
    >>> encoder = tenfold.TargetEncoder(smooth=1.0).fit([["a"], ["a"], ["b"], ["b"]], [1.0, 3.0, 5.0, 7.5])
    >>> encoder.transform([["a"], ["never seen"]]).round(6).tolist()
    [[2.708333], [4.125]]
    """

    means_: list[Array] = learned("[float(*,*)](p)", "the code of each category and of a missing value, a column for each class")
    target_type_: str = learned("str", "continuous, binary or multiclass")
    target_mean_: Any = learned("float|float(*)", "mean of the target, or share of each class")
    _seen: str = learned("str", "what an automatic fit has found y to be, for the gate", optional=True)

    categories: Any = param(default="auto", doc=CATEGORIES)
    decodes: ClassVar[bool] = False
    target_type: str = param(
        default="auto", one_of=("auto", "continuous", "binary", "multiclass"), doc="what y is; 'auto' looks at it"
    )
    smooth: float | str = param(default="auto", one_of=("auto",), at_least=0, doc="how many rows the mean of all rows counts as, or 'auto'")
    cv: Any = param(default=5, doc="folds of fit_transform: a number of them, shuffled, or a splitter, or pairs of rows")
    shuffle: Any = param(default="deprecated", doc="of a number of folds; give a splitter as cv instead")
    random_state: Any = param(default="deprecated", doc="seed of the folds; without one they are the same for the same rows")
    categorical_features: Any = param(default="all", doc=WHICH)

    missing_is_category: ClassVar[bool] = True
    sparse_rows: ClassVar[bool] = False
    dtype: ClassVar[str] = "float64"
    handle_unknown: ClassVar[str] = "ignore"
    min_frequency: ClassVar[None] = None
    max_categories: ClassVar[None] = None
    by_verbs: ClassVar[bool] = True  # `fit_transform` is not `transform`
    least_classes: ClassVar[int] = 1

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"target_type": "multiclass", "smooth": 2.0}]

    @property
    def fills(self) -> bool:
        """Whether what comes behind need not take missing values."""
        return isinstance(self.categorical_features, str) and self.categorical_features == "all"

    @property
    def target(self) -> str:
        """Labels or numbers, as the user says or as they look."""
        if isinstance(self.target_type, str) and self.target_type == "auto":
            return str(vars(self).get("_seen", "real"))
        return "real" if isinstance(self.target_type, str) and self.target_type == "continuous" else "label"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the codes of the categories from all rows. For the rows of the fit themselves use `fit_transform`."""
        self._look_at(X, y)
        return super().fit(X, y, sample_weight)

    def _look_at(self, X: Any, y: Any) -> None:
        """Find out whether y holds labels or numbers, where it is here and nobody has said so."""
        vars(self).pop("_seen", None)
        check.check_params(self)
        if self.target_type != "auto" or y is None or check.elsewhere(X):
            return
        labels = as_labels(check.split_target(X, y)[1] if isinstance(y, str) else y, "y")
        if hasattr(X, "shape"):
            check.check_length("y", len(labels), X.shape[0])
        kind = kind_of(labels)
        if kind not in (LABELS, "continuous"):
            raise BadInput(
                f"Unknown label type: Target type was inferred to be {kind!r}. Only ('binary', 'multiclass', 'continuous') are supported."
            )
        vars(self)["_seen"] = "label" if kind == LABELS else "real"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        kind, classes = self.target_type, source.target.classes
        if isinstance(classes, list) or source.n_targets > 1:
            raise BadInput("TargetEncoder takes one target: encode by each of several in a step of its own")
        if kind == "auto":
            kind = "continuous" if classes is None else "binary" if len(classes) < 3 else "multiclass"
        if (kind == "continuous") != (classes is None):
            raise BadParameter(f"TargetEncoder(target_type={self.target_type!r}): the target that comes to it is of another kind")
        if kind == "binary" and len(classes) > 2:
            raise BadParameter(f"TargetEncoder(target_type='binary'): y has {len(classes)} classes")
        levels = yield from super()._learn(source)
        width = len(classes) if kind == "multiclass" else 1
        sizes = tuple(len(one) for one in levels["levels_"])
        spread = yield partial(_spreads, sizes=sizes, width=width)
        means, overall = self._codes(spread, sizes)
        return dict(**levels, means_=means, target_type_=kind, target_mean_=overall if kind == "multiclass" else float(overall[0]))

    def _codes(self, spread: Spread, sizes: tuple[int, ...]) -> tuple[list[Array], Array]:
        """The codes of each column (categories + 1, classes), and the means of all rows."""
        weight, mean, squares = spread.weight[:, None], spread.mean, spread.scatter
        overall = mean[-1]
        if isinstance(self.smooth, str):
            variance = squares[-1] / weight[-1]
            with np.errstate(divide="ignore", invalid="ignore"):
                share = variance * weight / (variance * weight + squares / weight)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                share = weight / (weight + float(self.smooth))
        codes = np.where(np.isnan(share) | (weight == 0), overall, share * mean + (1 - share) * overall)
        return np.split(codes[:-1], np.cumsum(sizes)[:-1]), overall

    @property
    def classes_(self) -> Array | None:  # type: ignore[override]
        """The classes of the target, None of one that is continuous."""
        check.check_fitted(self)
        return vars(self).get("classes_")

    def _saved_params(self) -> dict[str, Any]:
        return {name: value for name, value in super()._saved_params().items() if name != "dtype"}

    @property
    def encodings_(self) -> list[Array]:
        """The code of each category of each column; of several classes one list for each column and class."""
        check.check_fitted(self)
        found = []
        for j, codes in enumerate(self.means_):
            order = np.arange(len(codes) - 1)
            if len(codes) and self.levels_[j][-1] >= 0:
                order = np.insert(order, self._place_of_missing(j), len(codes) - 1)
            found += list(codes[order].T)
        return [np.ascontiguousarray(one) for one in found]

    # --- rows ---

    def _transform(self, X: Array) -> Array:
        return _encoded(X, self.means_, self._gaps(), np.atleast_1d(self.target_mean_))

    def _gaps(self) -> list[bool]:
        """Whether fit met missing values in each column."""
        return [bool(len(levels)) and bool(levels[-1] >= 0) for levels in self.levels_]

    def transform(self, X: Any) -> Any:
        """The codes of new rows. For the rows of the fit use `fit_transform`: here they would tell their own targets."""
        return self._dressed(map_rows(self._transform, check.check_predict(self, X)), X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and encode the same rows, each fold by the targets of the others (`cv`)."""
        if check.elsewhere(X):
            raise BadInput("TargetEncoder.fit_transform makes folds of the rows, which must be in memory: read them first")
        self._look_at(X, y)
        source = check.check_fit(self, X, y, sample_weight)
        self._fit(source)
        assert isinstance(source, Arrays) and source.y is not None
        return self._dressed(self._cross_fitted(source), X)

    def _cross_fitted(self, source: Arrays) -> Array:
        y, n = source.y, source.X.shape[0]
        assert y is not None
        w = np.ones(n) if source.w is None else source.w
        sizes = tuple(len(levels) for levels in self.levels_)
        width = np.size(self.target_mean_)
        codes = np.ascontiguousarray(source.X, dtype=source.X.dtype if source.X.dtype == np.float32 else np.float64)
        out, times = np.empty((n, sum(width if size else 1 for size in sizes)), dtype=codes.dtype), np.zeros(n, dtype=np.int64)
        for train, test in self._splits(n, y):
            times[test] += 1
            rows = train[w[train] > 0]
            if not len(rows):
                raise BadInput("TargetEncoder(cv=...): no row is left to learn from in a fold: use fewer of them")
            block = Block(codes[rows], y[rows], w[rows])
            means, overall = self._codes(_spreads(block, sizes, width), sizes)
            out[test] = _encoded(codes[test], means, self._gaps(), overall)
        if not (times == 1).all():
            raise BadParameter(
                "Validation indices from `cv` must cover each sample index exactly once with no overlap. Pass a splitter with "
                "non-overlapping validation folds as `cv`."
            )
        return out

    def _splits(self, n: int, y: Array) -> list[tuple[Array, Array]]:
        shuffle = True if isinstance(self.shuffle, str) else bool(self.shuffle)
        seed = SEED if isinstance(self.random_state, str) else self.random_state
        labels = self.target_type_ != "continuous"
        flat = y if labels else y[:, 0]
        splitter = check_cv(self.cv, flat, classifier=labels, shuffle=shuffle, random_state=seed if shuffle else None)
        return [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(np.zeros((n, 1)), flat)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns: those of X, or column_class."""
        names = super().get_feature_names_out(input_features)
        if self.target_type_ != "multiclass":
            return names
        out, classes = list[str](), vars(self)["classes_"]
        for name, levels in zip(names, self.levels_, strict=True):
            out += [f"{name}_{one}" for one in classes] if len(levels) else [str(name)]
        return np.array(out, dtype=object)

    def _objection(self) -> str | None:
        width = np.size(self.target_mean_)
        if any(one.shape != (len(levels), width) for one, levels in zip(self.means_, self.levels_, strict=True)):
            return "there are not codes for all categories"
        return super()._objection()


def _spreads(block: Block, sizes: tuple[int, ...], width: int) -> Spread:
    """Weight, mean and squares of the target for each category of each column (missing values last), and of all rows at the end."""
    y = block.y
    Y = np.ascontiguousarray(y if y.ndim == 2 else (y[:, None] == np.arange(width) if width > 1 else y[:, None]), dtype=np.float64)
    parts = []
    for j, size in enumerate(sizes):
        if not size:
            continue
        column = block.X[:, j]
        code = np.where(np.isnan(column), size - 1, column).astype(np.int64)
        met = code >= 0  # the others are none of the categories that were given
        rows: Any = slice(None) if met.all() else met
        parts.append(Spread.by_group(Y[rows], code[rows], block.w[rows], size))
    parts.append(Spread.of(Y, block.w))
    return Spread(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("weight", "center", "offset", "scatter")))


def _encoded(X: Array, means: list[Array], gaps: list[bool], overall: Array) -> Array:
    """Codes of rows; what fit has not met has the mean of all rows."""
    made = []
    for j, codes in enumerate(means):
        if not len(codes):
            made.append(X[:, j : j + 1])
            continue
        column = X[:, j]
        place = np.where(np.isnan(column), len(codes) - 1 if gaps[j] else len(codes), column).astype(np.int64)
        place[(place < 0) | (place > len(codes))] = len(codes)
        made.append(np.vstack([codes, overall])[place])
    return np.concatenate(made, axis=1).astype(X.dtype, copy=False)
