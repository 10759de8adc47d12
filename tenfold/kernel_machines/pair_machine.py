"""Support vector machines for classes: one for each pair of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Classifier, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter, NotFitted
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, group, param
from tenfold.kernel_machines import smo
from tenfold.kernel_machines.class_pairs import (
    balanced,
    coupled_probabilities,
    folds_by_content,
    pair_weights,
    pairs_of,
    sigmoid_of,
    votes_of,
)
from tenfold.kernel_machines.kernel_rows import Kernels, TableKernels
from tenfold.kernel_machines.smo import Problem, Solution
from tenfold.kernel_machines.vectors import VectorMachine
from tenfold.solve.class_weights import class_factors

FOLDS = 5
TINY = float(np.finfo(np.float64).tiny)


@dataclass
class Two:
    """The machine of two classes: what each row counts, positive for the first class; the constant; and how it was found."""

    b: Array
    intercept: float
    solution: Solution


@dataclass
class Rows:
    """The rows that take part: their kernels, classes and weights, and their hashes where folds are wanted."""

    kernels: Kernels
    codes: Array
    w: Array
    factors: Array
    hashes: Array | None


@group
class PairMachine(Classifier, VectorMachine):
    """Abstract: a machine for each pair of classes."""

    n_iter_: Array = learned("int(*)", "steps of two variables, of each pair of classes")
    class_weight_: Array = learned("float(K)", "factors of C of the classes")
    _slopes: Array = learned("float(*)", "A of the sigmoid of each pair", optional=True)
    _offsets: Array = learned("float(*)", "B of the sigmoid of each pair", optional=True)

    _: KW_ONLY
    probability: bool = param(
        default=False, doc="also learn probabilities, from decisions on rows that were left out: five more fits", before="tol"
    )
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="factor of C for rows of each class; 'balanced': Σ s / (K Σ s of the class)"
    )
    decision_function_shape: str = param(
        default="ovr", one_of=("ovo", "ovr"), doc="'ovr': a score for each class from the votes of pairs; 'ovo': the decisions of all pairs"
    )
    break_ties: bool = param(default=False, doc="of classes with as many votes predict the one of the largest score, not the first")
    random_state: int | RandomState | None = param(default=None, doc="no effect: folds follow from the rows")

    # --- the fit ---

    def _two(self, signs: Array, weights: Array, setting: float, before: Any) -> Problem:
        """The problem of two classes, +1 and −1; `before` is the solution for another setting."""
        raise NotImplementedError

    def _outcome(self, problem: Problem, solution: Solution) -> Two:
        raise NotImplementedError

    def _along(self, source: Source, settings: list[float]) -> Learner[list[dict[str, Any]]]:
        """The fits for some values of the parameter that is a path, in order."""
        X, y, w = yield Keep(sparse=True)
        y, kept = np.asarray(y).reshape(-1).astype(np.int64), np.flatnonzero(w > 0)
        K = len(self.classes_)
        self._check_classes(y, w, K)
        some = X if len(kept) == len(w) else X[kept][:, kept] if self.accepts == "pairs" else X[kept]
        kernels, gamma = self._kernels(some, w[kept])
        factors = class_factors(self, np.bincount(y, w, K))
        hashes = _hashed(some) if self.probability else None
        rows = Rows(kernels, y[kept], w[kept], np.ones(K) if factors is None else factors, hashes)
        by_pair = each(lambda pair: self._pair(rows, pair, settings), pairs_of(K))
        found = []
        for place in range(len(settings)):
            fits = [pair[place] for pair in by_pair]
            self._warn([two.solution for two, _, _ in fits])
            fitted = self._joined(X, kept, rows, K, fits)
            found.append(fitted | dict(class_weight_=rows.factors, _gamma=gamma, _n_fit=X.shape[0]))
        return found

    def _check_classes(self, y: Array, w: Array, K: int) -> None:
        without = np.flatnonzero(np.bincount(y, w, K) <= 0)
        if not len(without):
            return
        if len(without) == K:
            raise BadInput(f"{type(self).__name__}: Invalid input - all samples have zero or negative weights.")
        if len(without) == K - 1:
            raise BadInput(f"{type(self).__name__}: Invalid input - all samples with positive weights belong to the same class")
        raise BadInput(f"{type(self).__name__}: class {self.classes_[without[0]]!r} has no row with a weight above 0: leave its rows out")

    def _pair(self, rows: Rows, pair: tuple[int, int], settings: list[float]) -> list[tuple[Two, Array, tuple[float, float]]]:
        """For each setting: the machine, the rows that it has seen, and its sigmoid."""
        whole = len(rows.factors) == 2
        mine = np.arange(len(rows.codes)) if whole else np.flatnonzero((rows.codes == pair[0]) | (rows.codes == pair[1]))
        kernels = at_hand(rows.kernels if whole else rows.kernels.part(mine))
        signs = np.where(rows.codes[mine] == pair[0], 1.0, -1.0)
        weights = (rows.w * rows.factors[rows.codes])[mine]
        found, before = [], None
        for setting in settings:
            problem = self._two(signs, weights, setting, before)
            solution = self._solved(problem, kernels)
            before = solution, setting
            sigmoid = (0.0, 0.0)
            if rows.hashes is not None:
                sigmoid = self._sigmoid(kernels, signs, weights, rows.w[mine], rows.hashes[mine], before)
            found.append((self._outcome(problem, solution), mine, sigmoid))
        return found

    def _sigmoid(
        self, kernels: Kernels, signs: Array, weights: Array, w: Array, hashes: Array, found: tuple[Solution, float]
    ) -> tuple[float, float]:
        """Of decisions on rows that a machine has not seen, five times; each begins where the machine of all rows has ended."""
        (whole, setting), every, decisions = found, np.arange(len(signs)), np.zeros(len(signs))
        fold = folds_by_content(hashes, signs, FOLDS)
        for k in range(FOLDS):
            out = fold == k
            if not out.any():
                continue
            if len(np.unique(signs[~out])) < 2:
                decisions[out] = signs[~out][0] if (~out).any() else 0.0
                continue
            # of a table at hand no part is copied: rows without weight are held at zero
            part, some = (kernels, every) if kernels.n <= smo.AT_ONCE else (kernels.part(every[~out]), every[~out])
            start = replace(whole, b=balanced(np.where(out, 0.0, whole.b)[some]))
            problem = self._two(signs[some], np.where(out, 0.0, weights)[some], setting, (start, setting))
            two = self._outcome(problem, self._solved(problem, part))
            carrying = np.flatnonzero(two.b)
            decisions[out] = kernels.sums(some[carrying], two.b[carrying])[out] + two.intercept
        return sigmoid_of(decisions, signs > 0, w)

    def _joined(self, X: Any, kept: Array, rows: Rows, K: int, fits: list[tuple[Two, Array, tuple[float, float]]]) -> dict[str, Any]:
        """The fitted attributes: the support vectors of all pairs, class by class."""
        dual, intercept = np.zeros((K - 1, len(kept))), np.zeros(len(fits))
        for at, ((i, j), (two, mine, _)) in enumerate(zip(pairs_of(K), fits, strict=True)):
            first = rows.codes[mine] == i
            dual[j - 1, mine[first]] = two.b[first]
            dual[i, mine[~first]] = two.b[~first]
            intercept[at] = two.intercept
        carrying = np.flatnonzero(dual.any(axis=0))
        carrying = carrying[np.argsort(rows.codes[carrying], kind="stable")]
        sign = -1.0 if K == 2 else 1.0  # of two classes the second one is positive
        support, dual = kept[carrying], sign * dual[:, carrying] + 0.0
        fitted = self._vectors_of(X, support) | dict(
            support_=support.astype(np.int64), dual_coef_=dual, intercept_=sign * intercept + 0.0,
            n_support_=np.bincount(rows.codes[carrying], minlength=K), kkt_gap_=np.array([two.solution.gap for two, _, _ in fits]),
            n_iter_=np.array([two.solution.steps for two, _, _ in fits]),
            fit_status_=int(not all(two.solution.converged for two, _, _ in fits)),
        )  # fmt: skip
        if rows.hashes is not None:
            fitted |= dict(zip(("_slopes", "_offsets"), np.array([sigmoid for _, _, sigmoid in fits]).T.copy(), strict=True))
        return fitted

    # --- what it says of rows ---

    def _weights_of_vectors(self) -> Array:
        return self.dual_coef_ if len(self.classes_) == 2 else pair_weights(self.dual_coef_, self.n_support_)

    @property
    def has_probabilities(self) -> bool:  # type: ignore[override]
        return bool(self.probability)

    @property
    def probA_(self) -> Array:  # scikit-learn's name
        """A of the sigmoid 1 / (1 + exp(A f + B)) of each pair of classes; empty without `probability`."""
        return np.asarray(vars(self).get("_slopes", np.empty(0)))

    @property
    def probB_(self) -> Array:
        """B of these."""
        return np.asarray(vars(self).get("_offsets", np.empty(0)))

    def _coupled(self, sums: Array) -> Array:
        if "_slopes" not in vars(self):
            raise NotFitted("predict_proba is not available when fitted with probability=False")
        sign = -1.0 if len(self.classes_) == 2 else 1.0
        return coupled_probabilities(sign * sums, self._slopes, self._offsets, len(self.classes_))

    def _scored(self, sums: Array) -> Array:
        """(rows, classes): scores of the classes from the decisions of the pairs."""
        K = len(self.classes_)
        if K == 2:
            return np.hstack([np.zeros_like(sums), sums])
        votes, clear = votes_of(sums, K)
        return np.asarray(votes + clear)

    def _scores(self, X: Any) -> Array:
        sums = self._sums(X)
        return np.log(np.maximum(self._coupled(sums), TINY)) if self.probability else self._scored(sums)

    def _decisions(self, X: Any) -> Array:
        sums = self._sums(X)
        return sums if self.decision_function_shape == "ovo" and len(self.classes_) > 2 else self._scored(sums)

    def _chosen(self, sums: Array) -> Array:
        """The number of the predicted class."""
        K = len(self.classes_)
        if K == 2:
            return (sums[:, 0] > 0).astype(np.int64)
        votes, clear = votes_of(sums, K)
        return np.asarray(np.argmax(votes + clear if self.break_ties else votes, axis=1))

    def _choice(self, X: Any) -> Array | None:
        return None if len(self.classes_) == 2 and not self.probability else self._chosen(self._sums(X))

    def predict(self, X: Any) -> Array:
        """The class that wins most pairs, of each row."""
        check.check_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise BadParameter(f"{type(self).__name__}: break_ties must be False when decision_function_shape is 'ovo'")
        return map_rows(lambda X: self.classes_[self._chosen(self._sums(X))], check.check_predict(self, X), lean=self.lean)

    def _objection(self) -> str | None:
        K = len(self.classes_)
        pairs = K * (K - 1) // 2
        if self.dual_coef_.shape[0] != K - 1 or len(self.intercept_) != pairs:
            return f"there are not the machines of {pairs} pairs of classes"
        if len(self.n_support_) != K or (self.n_support_ < 0).any() or self.n_support_.sum() != len(self.support_):
            return "the support vectors of the classes do not add up"
        sigmoids = [vars(self).get(name) for name in ("_slopes", "_offsets")]
        if any(one is not None for one in sigmoids) and not all(one is not None and len(one) == pairs for one in sigmoids):
            return "there is not a sigmoid for each pair of classes"
        return super()._objection()


def _hashed(X: Any) -> Array:
    """A number for each row that depends on its values alone, in whatever order rows and columns come."""
    parts = (ops.dense(X[at : at + 1024]).astype(np.float64) for at in range(0, X.shape[0], 1024))
    return np.concatenate([ops.hash_rows(np.sort(part, axis=1), 0) for part in parts])


def at_hand(kernels: Kernels) -> Kernels:
    """Kernels of few rows as a table: it serves all settings, and the rows that are left out."""
    if kernels.n > smo.AT_ONCE or isinstance(kernels, TableKernels):
        return kernels
    return TableKernels(np.ascontiguousarray(kernels.block(np.arange(kernels.n))[:, : kernels.n]))
