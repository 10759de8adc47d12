"""Non-negative matrix factorisation."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadParameter, NotConverged, warn
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

    # --- fit ---

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None) -> Self:
        """Learn H from rows; W (n, k) and H (k, p) are where it begins with init="custom"."""
        self._fitted_rows(check.check_fit(self, X, None, sample_weight), W, H)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None) -> Any:
        """Fit, and W: what `transform` says of these rows; of another loss than squares what the fit has ended with."""
        found = self._fitted_rows(check.check_fit(self, X, None, sample_weight), W, H)
        if found is None or self._beta() == 2 or sample_weight is not None or check.elsewhere(X):
            return self.transform(X)
        return self._dressed(found.astype(self.components_.dtype, copy=False), X)

    def _fitted_rows(self, source: Source, W: Any, H: Any) -> Array | None:
        """Fits, and hands on the W that it ended with."""
        mine, asked = vars(self), Asked(W, H)
        mine["_asked"] = asked
        try:
            self._fit(source)
        finally:
            mine.pop("_asked", None)
        return asked.made

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        beta, asked = self._beta(), vars(self).get("_asked") or Asked(None, None)
        if self.solver == "cd" and beta != 2:
            raise BadParameter(
                f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = {self.beta_loss!r}: give solver=\"mu\""
            )
        X, _, w = yield Keep(sparse=True)
        table = self._table(X, w, source)
        problem = self._problem(table.p, table.weight)
        W, H = self._begin(table, asked, source)
        found = self._solved(table, problem, W, H)
        if not found.settled and self.tol > 0:
            warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve convergence.", NotConverged, stacklevel=2
            )
        W = rows_of(table, found.H, problem, self.tol, self.max_iter) if beta == 2 else found.W
        asked.made = W
        return dict(
            components_=found.H,
            n_components_=len(found.H),
            n_iter_=found.n_iter,
            reconstruction_err_=problem.error(table, W, found.H),
        )

    def _begin(self, table: Table, asked: Asked, source: Source) -> tuple[Array, Array]:
        if self.init == "custom":
            k = self._count(table.p, asked.H)
            numbers = source.rows if isinstance(source, Arrays) else None
            n = table.n if numbers is None or not isinstance(source, Arrays) else source.X.shape[0]
            H = self._given(asked.H, (k, table.p), "H", np.float32 if source.single else np.float64)
            W = self._given(asked.W, (n, k), "W", np.float32 if source.single else np.float64)
            return (W if numbers is None else np.ascontiguousarray(W[numbers])), H
        return self._start(table, self._count(table.p), self.solver == "mu")

    def _solved(self, table: Table, problem: Problem, W: Array, H: Array) -> Factors:
        if self.solver == "mu":
            return multiply(table, problem, W, H, self.tol, self.max_iter)
        rng = legacy_generator(self.random_state) if self.shuffle else None
        return descend(table, problem, W, H, self.tol, self.max_iter, rng)


class Asked:
    """What a call of fit was given besides the rows, and the W that it ends with."""

    def __init__(self, W: Any, H: Any) -> None:
        self.W, self.H = W, H
        self.made: Array | None = None
