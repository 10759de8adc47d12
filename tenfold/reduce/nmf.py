"""Non-negative matrix factorisation."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, DataWarning, NotConverged, warn
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import legacy_generator
from tenfold.reduce.factors import Factorisation
from tenfold.solve.factors import Table
from tenfold.solve.nmf import Factors, Problem, descend, multiply, rows_of


@estimator
class NMF(Factorisation):
    """NMF: rows as sums of a few parts, none of them negative.

    Model       X ≈ W H,  W (n, k) ≥ 0,  H (k, p) ≥ 0
    Objective   min over W, H ≥ 0 of  Σᵢ sᵢ D(xᵢ, wᵢ H) + p alpha_W R(W) + n alpha_H R(H),  R(A) = l1_ratio Σ a + (1 − l1_ratio) ½ Σ a²,
                rows of R(W) weighted by sᵢ, n = Σ sᵢ;  D: ½ Σ (x − y)² ("frobenius"), Σ x log(x / y) − x + y ("kullback-leibler": Poisson
                counts), Σ x / y − log(x / y) − 1 ("itakura-saito"), or another beta-divergence
    Algorithm   "cd" (squares): for W, then for H, two sweeps of exact minimisation entry by entry; one pass over X serves both.
                "mu": multiplicative steps, for Kullback-Leibler in one pass without the product W H in memory. No step raises the
                objective. In the end rows of W for squares are those of non-negative least squares for H: the optimum.
                Neither order nor scale of the components means anything: they come in the order of the start (nndsvd: falling singular
                values) and are not normalised; W diag(c)⁻¹ and diag(c) H are as good, but for penalties
    Cost        O(n p k) time a step (stored values for n p of sparse rows, but for a beta other than 1 and 2), O((n + p) k) memory
                beside the rows, which are kept
    Fails when  X has values below zero; components are more than the rank (several are as good); a start leads to a local minimum: try
                several. `tol`: "cd" ends when Σ |projected gradient| is so much of the first, "mu" when ten steps lower
                √(2 D) by less of the first
    Reference   Lee & Seung 1999; Cichocki & Phan 2009; Gillis & Glineur 2012; Févotte & Idier 2011; starts: Boutsidis & Gallopoulos 2008

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[2.0, 2.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 3.0]])
    >>> model = tenfold.NMF(n_components=2, tol=1e-8).fit(X)
    >>> model.transform([[3.0, 3.0, 3.0]]) @ model.components_
    array([[3., 3., 3.]])
    """

    kind = "keeps rows"
    exempt: ClassVar[dict[str, str]] = {}

    _: KW_ONLY
    solver: str = param(default="cd", one_of=("cd", "mu"), before="beta_loss", doc="coordinate descent (squares) or multiplicative steps")
    shuffle: bool = param(default=False, doc='draw the order of the components in every step of "cd"')

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [
            {"n_components": 2, "tol": 1e-2},
            {"n_components": 2, "solver": "mu", "beta_loss": "kullback-leibler", "tol": 1e-2},
        ]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        beta, asked = self._beta(), self._asked_for()
        if self.solver == "cd" and beta != 2:
            raise BadParameter(
                f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = {self.beta_loss!r}: give solver=\"mu\""
            )
        X, _, w = yield Keep(sparse=True)
        table = self._table(X, w, source)
        problem = self._problem(table.p, table.weight)
        W, H = self._begin(table, asked, source, self.solver == "mu")
        found = self._solved(table, problem, W, H)
        if not found.settled and self.tol > 0:
            warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve convergence.", NotConverged, stacklevel=2
            )
        W = rows_of(table, found.H, problem, self.tol, self.max_iter) if beta == 2 else found.W
        asked.made, error = W, problem.error(table, W, found.H)
        self._check_range(found.H, error)
        return dict(components_=found.H, n_components_=len(found.H), n_iter_=found.n_iter, reconstruction_err_=error)

    def _rows_for(self, X: Any, H: Any) -> Array:
        """W for these rows and given H."""
        source = check.check_fit(self, X)
        single = source.single
        H = self._given(H, (self._count(source.n_features, H), source.n_features), "H", np.float32 if single else np.float64)
        fitted = self._fitted_copy(dict(source.facts, components_=H, n_components_=len(H), n_iter_=1))
        return np.asarray(fitted.transform(X))

    def _solved(self, table: Table, problem: Problem, W: Array, H: Array) -> Factors:
        if self.solver == "mu":
            return multiply(table, problem, W, H, self.tol, self.max_iter)
        rng = legacy_generator(self.random_state) if self.shuffle else None
        return descend(table, problem, W, H, self.tol, self.max_iter, rng)


def non_negative_factorization(
    X: Any,
    W: Any = None,
    H: Any = None,
    n_components: int | str | None = "auto",
    *,
    init: str | None = None,
    update_H: bool = True,
    solver: str = "cd",
    beta_loss: float | str = "frobenius",
    tol: float = 1e-4,
    max_iter: int = 200,
    alpha_W: float = 0.0,
    alpha_H: float | str = "same",
    l1_ratio: float = 0.0,
    random_state: Any = None,
    verbose: int | bool = 0,
    shuffle: bool = False,
) -> tuple[Array, Array, int]:
    """W, H and the number of steps of `NMF` with these parameters; with update_H=False the W for given H, as `transform` finds it.

    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> W, H, n_iter = tenfold.non_negative_factorization(X, n_components=1)
    >>> bool(np.allclose(W @ H, X))
    True
    """
    model = NMF(
        n_components, init=init, solver=solver, beta_loss=beta_loss, tol=tol, max_iter=max_iter, random_state=random_state,
        alpha_W=alpha_W, alpha_H=alpha_H, l1_ratio=l1_ratio, verbose=verbose, shuffle=shuffle,
    )  # fmt: skip
    if not update_H:
        if W is not None:
            warn("When update_H=False, the provided initial W is not used.", IgnoredStart, stacklevel=2)
        return model._rows_for(X, H), np.asarray(H), 1
    if init != "custom" and (W is not None or H is not None):
        warn(
            "When init!='custom', provided W or H are ignored. Set init='custom' to use them as initialization.", IgnoredStart, stacklevel=2
        )
    found = model.fit_transform(X, W=W, H=H)
    return np.asarray(found), model.components_, model.n_iter_


class IgnoredStart(DataWarning, RuntimeWarning):
    """W or H were given that nothing begins with."""
