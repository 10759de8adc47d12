"""Gaussian process classification."""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Classifier, Estimator, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of
from tenfold.core.threads import single_blas
from tenfold.kernel_machines.evidence import Evidence, kernel_objection, known_optimizer, most_probable, own_kernel
from tenfold.kernel_machines.laplace import (
    Labels,
    Mode,
    averaged_sigmoid,
    certain,
    curvature,
    evidence_of_labels,
    factor,
    latent,
    mode,
)
from tenfold.kernels.combined import CompoundKernel, values
from tenfold.kernels.constant import ConstantKernel
from tenfold.kernels.stationary import RBF

TINY = float(np.finfo(np.float64).tiny)
ME = "GaussianProcessClassifier"


@estimator
class GaussianProcessClassifier(Classifier, Estimator):
    """GaussianProcessClassifier: the probability of a class as a sigmoid of a function that is drawn from a process.

    Model       f ~ GP(0, k),  P(second class | x) = E σ(f(x)) over what the rows say of f(x): a Gaussian, by Laplace's approximation. More
                than two classes: one process for each class against the others, normalised, or for each pair, which vote
    Objective   max over the kernel's parameters θ of the approximate evidence  log p(y | f̂) − ½ f̂ᵀ K⁻¹ f̂ − ½ log |I + K W|,
                f̂ the mode of the posterior, W its curvature without the prior's. A row of weight w is w rows
    Algorithm   Newton's steps to f̂, each factor serving several of them; the gradient without a table of n x n x parameters; L-BFGS-B
                from the kernel's own parameters, and from `n_restarts_optimizer` others; E σ by quadrature to 14 digits
    Cost        O(n³) time for each step, 56 n² bytes; keeps all rows; a new row O(n²) for each process
    Fails when  n² numbers do not fit in memory; classes are far apart: the evidence grows with the kernel's scale until a bound stops it
    Reference   Rasmussen & Williams 2006, algorithms 3.1, 3.2 and 5.1

    Example
    -------
    >>> import numpy as np, tenfold
    >>> from tenfold.kernels import RBF
    >>> x = np.linspace(0, 10, 40)[:, None]
    >>> model = tenfold.GaussianProcessClassifier(20.0 * RBF(1.0), optimizer=None).fit(x, np.sin(x[:, 0]) > 0)
    >>> model.predict([[1.5], [4.7]])
    array([ True, False])
    >>> model.predict_proba([[1.5], [30.0]])[:, 1].round(1)  # far from all rows it does not know
    array([0.9, 0.5])
    """

    X_train_: Any = learned("float(n,p)", "the rows of the fit", rows=True)
    y_train_: Array = learned("int(n)<K", "their classes, by number")
    kernel_: Any = learned("kernel", "the kernel with the parameters that were found; of several processes a CompoundKernel")
    log_marginal_likelihood_value_: float = learned("float", "the evidence at these, averaged over the processes")
    _latent: Array = learned("float(m,n)", "the mode of each process at the rows, 0 at rows that it does not see")
    _dual: Array = learned("float(m,n)", "what each row of the fit counts in each process")
    _row_weights: Array = learned("float(n)>0", "weights of the rows, where they are not one", optional=True)

    __slots__ = ("_factored",)  # follows from the rest, and is no part of what is saved, copied or compared

    kind: ClassVar[str] = "keeps rows"
    double: ClassVar[bool] = True
    has_decisions: ClassVar[bool] = False

    kernel: Any = param(default=None, doc="k: a value of tenfold.kernels or scikit-learn's; None: 1.0 * RBF(1.0), as it is")
    _: KW_ONLY
    optimizer: Any = param(
        default="fmin_l_bfgs_b", doc="'fmin_l_bfgs_b', None (the kernel stays), or a function (objective, start, bounds) -> (theta, value)"
    )
    n_restarts_optimizer: int = param(default=0, at_least=0, doc="more starts, drawn between the bounds")
    max_iter_predict: int = param(default=100, at_least=1, doc="factorisations on the way to the mode, at most")
    warm_start: bool = param(default=False, doc="seek the modes from those of the fit before; where they end does not depend on it")
    copy_X_train: bool = param(default=True, doc="no effect: rows are copied")
    random_state: int | RandomState | None = param(default=None, doc="seed of the restarts")
    multi_class: str = param(
        default="one_vs_rest", one_of=("one_vs_rest", "one_vs_one"), doc="one process for each class, or for each pair of classes"
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"kernel": 2.0 * RBF(3.0), "optimizer": None}, {"kernel": RBF(3.0), "optimizer": None, "multi_class": "one_vs_one"}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        optimized, default = known_optimizer(self.optimizer, ME), ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")
        if hasattr(self.kernel, "kernels"):  # ours, or scikit-learn's
            raise BadParameter(f"{ME}: kernel cannot be a CompoundKernel: of several classes each has a copy of the kernel")
        kernel = own_kernel(self.kernel, default, ME)
        X, y, w = yield Keep()
        n, rng = len(X), generator_of(self)
        check_memory(f"the kernels of {n:,} rows with one another, factors and inverse", 56.0 * n * n, "give fewer rows")
        X, y, w = np.array(X, dtype=np.float64), np.asarray(y).reshape(-1).astype(np.int64), np.asarray(w, dtype=np.float64)
        tasks, before = self._tasks(y, w, len(self.classes_)), self._before.get("_dual")
        modes, kernels = list[Mode](), list[Any]()
        for i, (rows, labels) in enumerate(tasks):
            Xi, one = X[rows], kernel
            evidence = evidence_of_labels(Xi, labels, self.max_iter_predict)
            if optimized and kernel.n_dims > 0:
                one = most_probable(kernel, evidence, self.optimizer, self.n_restarts_optimizer, rng, ME)
            start = before[i][rows] if before is not None and before.shape == (len(tasks), n) else None
            with np.errstate(over="ignore", invalid="ignore"):  # infinities are told
                K = values(one, Xi, Xi)
            found = certain(mode(K, labels, start, self.max_iter_predict), one, ME)
            if not found.converged:
                warn(
                    f"{ME}(max_iter_predict={self.max_iter_predict}): the mode of the process is not reached: allow more steps",
                    NotConverged,
                    stacklevel=2,
                )
            modes.append(found)
            kernels.append(one)
        self._factored = modes
        everywhere = np.zeros((2, len(tasks), n))
        for i, ((rows, _), one) in enumerate(zip(tasks, modes, strict=True)):
            everywhere[0, i, rows], everywhere[1, i, rows] = one.f, one.dual
        return dict(
            X_train_=X, y_train_=y, kernel_=kernels[0] if len(tasks) == 1 else CompoundKernel(kernels),
            log_marginal_likelihood_value_=float(np.mean([one.log_evidence for one in modes])),
            _latent=everywhere[0], _dual=everywhere[1],
        ) | ({"_row_weights": w} if (w != 1).any() else {})  # fmt: skip

    def _tasks(self, y: Array, w: Array, n_classes: int) -> list[tuple[Any, Labels]]:
        """The rows that each process sees, with their two classes."""
        if n_classes == 2:
            return [(slice(None), Labels((y == 1).astype(np.float64), w))]
        if self.multi_class == "one_vs_rest":
            return [(slice(None), Labels((y == k).astype(np.float64), w)) for k in range(n_classes)]
        pairs = ((np.flatnonzero((y == i) | (y == j)), j) for i, j in combinations(range(n_classes), 2))
        return [(rows, Labels((y[rows] == j).astype(np.float64), w[rows])) for rows, j in pairs]

    def _known_tasks(self) -> list[tuple[Any, Labels]]:
        w = vars(self).get("_row_weights", np.ones(len(self.y_train_)))
        return self._tasks(self.y_train_, w, len(self.classes_))

    def _kernels(self) -> list[Any]:
        return [self.kernel_] if len(self.classes_) == 2 else self.kernel_.kernels

    def _warm(self, source: Source) -> dict[str, Any]:
        before = vars(self).get("_dual")
        return {"_dual": before} if self.warm_start and before is not None else {}

    def _publish(self, apart: Self) -> None:
        super()._publish(apart)
        self._factored = apart._factored

    @single_blas
    def _modes(self) -> list[Mode]:
        """Made anew where the model comes from a file or another process."""
        known: list[Mode] | None = getattr(self, "_factored", None)
        if known is None:
            known = []
            for (rows, labels), one, f, dual in zip(self._known_tasks(), self._kernels(), self._latent, self._dual, strict=True):
                X = self.X_train_[rows]
                root = curvature(f[rows], labels.w)
                L = factor(values(one, X, X), root)
                found = None if L is None else Mode(f[rows], dual[rows], root, L, np.nan, True)
                known.append(certain(found, one, ME))
            self._factored = known
        return known

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def _objection(self) -> str | None:
        K, columns = len(self.classes_), self.X_train_.shape[1]
        if columns != self.n_features_in_:
            return f"the rows have {columns} columns, not {self.n_features_in_}"
        many = 1 if K == 2 else K if self.multi_class == "one_vs_rest" else K * (K - 1) // 2
        if len(self._dual) != many:
            return f"there are {len(self._dual)} processes, not {many}"
        if K > 2 and not (isinstance(self.kernel_, CompoundKernel) and len(self.kernel_.kernels) == many):
            return f"the kernel is not one of {many} side by side"
        if any(isinstance(one, CompoundKernel) for one in self._kernels()):
            return "the kernel gives several values for two rows"
        return next((why for one in self._kernels() if (why := kernel_objection(one, self.X_train_)) is not None), None)

    # --- what it says of rows ---

    def _latents(self, X: Any) -> Array:
        """(2, processes, rows): mean and variance of each process."""
        precise = ops.dense(X).astype(np.float64, copy=False)
        found = np.empty((2, len(self._dual), len(precise)))
        for i, ((rows, _), one, at) in enumerate(zip(self._known_tasks(), self._kernels(), self._modes(), strict=True)):
            found[:, i] = latent(values(one, precise, self.X_train_[rows][:]), one.diag(precise), at)
        return found

    def _scores(self, X: Any) -> Array:
        mean, variance = self._latents(X)
        K = len(self.classes_)
        if K == 2:
            probabilities = averaged_sigmoid(np.array([-mean[0], mean[0]]), np.array([variance[0], variance[0]]))
        elif self.multi_class == "one_vs_rest":
            probabilities = averaged_sigmoid(mean, variance)
        else:
            return _votes(mean, averaged_sigmoid(mean, variance), K)
        return np.asarray(np.log(np.maximum(probabilities, TINY)).T)

    @property
    def has_probabilities(self) -> bool:  # type: ignore[override]  # pairs of classes vote
        return self.multi_class != "one_vs_one" or len(vars(self).get("classes_", ())) == 2

    def latent_mean_and_variance(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of the process at each row, for two classes."""
        rows = check.check_predict(self, X)
        if len(self.classes_) > 2:
            raise BadParameter(
                "Returning the mean and variance of the latent function f is only supported for binary classification, received "
                f"{len(self.classes_)} classes."
            )
        found = map_rows(lambda X: self._latents(X)[:, 0].T, rows)
        return found[:, 0].copy(), found[:, 1].copy()

    # --- how probable the classes are ---

    @single_blas
    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """The evidence of the rows of the fit under the kernel with other parameters, and with `eval_gradient` its gradient. Of several
        processes the mean; theta is that of all kernels one after the other, or of one for all."""
        check.check_fitted(self)
        if theta is None:
            if eval_gradient:
                raise BadParameter("Gradient can only be evaluated for theta!=None")
            return np.float64(self.log_marginal_likelihood_value_)
        theta, kernels = np.asarray(theta, dtype=np.float64).reshape(-1), self._kernels()
        each, many = kernels[0].n_dims, len(kernels)
        if theta.size not in (each, each * many):
            raise BadParameter(f"Shape of theta must be either {each} or {each * many}. Obtained theta with shape {theta.size}.")
        parts = [theta] * many if theta.size == each else np.split(theta, many)
        if not clone_kernel:
            for one, part in zip(kernels, parts, strict=True):
                one.theta = part
        found = [
            evidence(one.clone_with_theta(part), eval_gradient)
            for evidence, one, part in zip(self._evidences(), kernels, parts, strict=True)
        ]
        if not eval_gradient:
            return np.float64(np.mean(found))
        gradients = [gradient for _, gradient in found]
        joined = np.mean(gradients, axis=0) if theta.size == each else np.concatenate(gradients) / many
        return float(np.mean([value for value, _ in found])), joined

    def _evidences(self) -> list[Evidence]:
        return [evidence_of_labels(self.X_train_[rows], labels, self.max_iter_predict) for rows, labels in self._known_tasks()]


def _votes(mean: Array, probabilities: Array, K: int) -> Array:
    """(rows, classes): votes of pairs, and their probabilities squeezed below half a vote, which decide between classes with as many."""
    votes, sums = np.zeros((mean.shape[1], K)), np.zeros((mean.shape[1], K))
    for m, p, (i, j) in zip(mean, probabilities, combinations(range(K), 2), strict=True):
        sums[:, i] -= p
        sums[:, j] += p
        votes[np.arange(len(m)), np.where(m > 0, j, i)] += 1
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))
