"""Least-squares classification with the penalty chosen by leave-one-out or by folds."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts, Rows
from tenfold.evaluate.split.splitters import StratifiedKFold
from tenfold.linear.class_scores import LinearScores
from tenfold.linear.folds import splits_of
from tenfold.linear.penalties import positive_numbers
from tenfold.linear.ridge_classifier import RidgeClassifier, signed, signs
from tenfold.linear.ridge_cv import Errors, Path, leave_one_out, summed
from tenfold.score.record import Score
from tenfold.score.registry import find_score
from tenfold.solve.class_weights import class_factors
from tenfold.solve.few_rows import rows_or_moments


@estimator
class RidgeClassifierCV(LinearScores, Estimator):
    """RidgeClassifierCV: least-squares classification with the penalty of least leave-one-out or cross-validated error.

    Model       that of RidgeClassifier at alpha_
    Objective   alpha_ of least Σᵢ sᵢ ‖tᵢ − t̂ᵢ‖², t̂ᵢ predicted by the fit to all other rows; or of another score of these
                (`scoring`); with cv, of largest accuracy averaged over folds
    Algorithm   one pass of moments and one eigendecomposition for all penalties and classes; one more pass for the errors
                e / (1 − h). With cv the rows are kept, and each training set is decomposed
    Cost        O(n p² + p³ + a n p) time for a penalties, O(p²) memory, two passes (O(a n K) memory with scoring or
                store_cv_results)
    Fails when  as RidgeClassifier: a class between others is never predicted, and squares say little of that
    Reference   Hoerl & Kennard 1970; Golub, Heath & Wahba 1979

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 80)
    >>> X = rng.normal(size=(80, 3)) + 2 * y[:, None]
    >>> model = tenfold.RidgeClassifierCV(alphas=[0.01, 1.0, 100.0]).fit(X, y)
    >>> model.alpha_, model.score(X, y) > 0.9
    (1.0, True)
    """

    intercept_: Any = learned("float(M)|float", "constants; 0 with fit_intercept=False", like_x=True)
    alpha_: float = learned("float", "the penalty chosen")
    best_score_: float = learned("float", "minus the mean squared error, or the score asked for, of the penalty chosen")
    cv_results_: Array = learned(
        "real(n,M,a)",
        "s times the squared error (with scoring: the prediction) of each row left out, where they are stored",
        optional=True,
    )

    has_probabilities: ClassVar[bool] = False
    exempt: ClassVar[dict[str, str]] = {
        "weight_is_copies": "a row is left out whole, with all its weight; of copies one is left out, and the others tell",
    }

    alphas: Any = param(default=(0.1, 1.0, 10.0), doc="the penalties to choose from")
    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    scoring: Any = param(default=None, doc="None: squared error, or accuracy with cv; a name as f1; or a function as scorer(model, X, y)")
    cv: Any = param(
        default=None, doc="None: leave one out; or a number of folds with classes spread evenly, a splitter, or pairs of row numbers"
    )
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="weight of each class; 'balanced': Σ s / (K Σ s of the class)"
    )
    store_cv_results: bool = param(default=False, doc="keep what leaving out gave, of every row, in cv_results_")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"class_weight": "balanced", "alphas": [0.01, 1.0]}]

    def _at_choice(self) -> RidgeClassifier:
        return RidgeClassifier(self.alpha_, fit_intercept=self.fit_intercept, class_weight=self.class_weight)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        alphas = positive_numbers("RidgeClassifierCV", "alphas", self.alphas, zero=self.cv is not None)
        K, p = len(self.classes_), source.n_features
        by = "accuracy" if self.scoring is None else self.scoring
        score = find_score(by, "classifier", K, parameter="scoring", owner="RidgeClassifierCV")
        factors: Array | None = None
        more: dict[str, Any] = {}
        if self.class_weight is not None:
            factors = class_factors(self, (yield partial(_weights, k=K)).weight)
        change = partial(signed, K=K, factors=factors)
        if self.cv is None:
            path = Path.of((yield partial(_sums, change=change)), p, alphas, self.fit_intercept)
            if self.scoring is None and not self.store_cv_results:
                errors = yield partial(_errors, change=change, path=path)
                scores = -(errors.squares / path.weight).mean(axis=1)
            else:
                kept: Rows = yield partial(_left, change=change, path=path)
                missed, codes, w = (np.concatenate(part) for part in zip(*kept.parts, strict=True))
                scores, more = self._chosen_by(missed, codes, w, K, score, source)
        else:
            if self.store_cv_results:
                raise BadParameter(
                    "RidgeClassifierCV: cv!=None and store_cv_results=True are incompatible: it goes with cv=None, where single rows are "
                    "left out"
                )
            X, y, w = yield Keep()
            rows = change(Block(X.astype(np.float64, copy=False), y, w))
            splits = self._splits(rows.X, y, getattr(source, "rows", None))
            scores = np.mean([self._fold(rows, y, w, train, test, alphas, score) for train, test in splits], axis=0)
            path = Path.of(summed(rows.X, rows.y, rows.w), p, alphas, self.fit_intercept)
        best = int(scores.argmax())
        coef = path.coefficients(best)
        constants = path.mean[p:] - path.mean[:p] @ coef if self.fit_intercept else 0.0
        found = dict(coef_=np.ascontiguousarray(coef.T), intercept_=constants)
        return found | dict(alpha_=float(alphas[best]), best_score_=float(scores[best])) | more

    def _splits(self, X: Array, y: Array, rows: Array | None) -> Any:
        number = isinstance(self.cv, (int, np.integer)) and not isinstance(self.cv, bool)
        if not number or self.cv < 2 or self.cv > np.bincount(y).max():  # else the words of `splits_of`
            return splits_of(self, self.cv, X, y, rows)
        return list(StratifiedKFold(int(self.cv)).split(X, y))

    def _chosen_by(self, missed: Array, codes: Array, w: Array, K: int, score: Score, source: Source) -> tuple[Array, dict[str, Any]]:
        """The score of each penalty by the rows left out, and what is stored of them."""
        target = signs(codes, K)[..., None]
        if self.scoring is None:
            scores, kept = -np.einsum("n,nqa->a", w, missed**2) / w.sum() / missed.shape[1], w[:, None, None] * missed**2
        else:
            kept = target - missed
            scores = np.array([score.utility(codes, _of_classes(one), w, self.classes_) for one in np.moveaxis(kept, 2, 0)])
        rows = getattr(source, "rows", None)
        if isinstance(source, Arrays) and rows is not None:  # rows of weight zero have no part in the choice, but a place
            whole = np.full((source.X.shape[0], *kept.shape[1:]), 0.0 if self.scoring is None else np.nan)
            whole[rows] = kept
            kept = whole
        return scores, dict(cv_results_=kept) if self.store_cv_results else {}

    def _fold(self, rows: Block, y: Array, w: Array, train: Array, test: Array, alphas: Array, score: Score) -> Array:
        """The score on the test rows for each penalty."""
        path = Path.of(summed(rows.X[train], rows.y[train], rows.w[train]), rows.X.shape[1], alphas, self.fit_intercept)
        predicted = (rows.y[test] - rest for rest, _ in path.rest(rows.X[test], rows.y[test]))
        return np.array([score.utility(y[test], _of_classes(one), w[test], self.classes_) for one in predicted])


def _of_classes(scores: Array) -> Array:
    """(n, K) class scores; of two classes that of the first is 0."""
    return scores if scores.shape[1] > 1 else np.hstack([np.zeros_like(scores), scores])


def _weights(block: Block, k: int) -> Counts:
    return Counts.of(block.y, block.w, k)


def _sums(block: Block, change: Any) -> Any:
    return rows_or_moments(change(block))


def _errors(block: Block, change: Any, path: Path) -> Errors:
    return leave_one_out(change(block), path)


def _left(block: Block, change: Any, path: Path) -> Rows:
    """What each row is missed by, (n, q, alphas), with its class and weight."""
    rows = change(block)
    return Rows.of((np.stack(list(path.missed(rows)), axis=-1), block.y, rows.w))
