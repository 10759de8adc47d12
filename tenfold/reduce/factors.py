"""What the non-negative factorisations share: parameters, checks of what they are given, new rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator, Transformer, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, BadType, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.random import legacy_generator
from tenfold.reduce.back import brought_back
from tenfold.reduce.probabilistic import double
from tenfold.solve.factors import Penalty, Table
from tenfold.solve.nmf import Problem, rows_of
from tenfold.solve.nmf_start import start

LOSSES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
BY_SINGULAR_VECTORS = ("nndsvd", "nndsvda", "nndsvdar")
STARTS = (None, "random", *BY_SINGULAR_VECTORS, "kmeans", "acol", "custom")
LEAST = 1e-100  # of the largest value, so that squares do not vanish


@group
class Factorisation(Transformer, Estimator):
    """Abstract: X ≈ W H without entries below zero."""

    components_: Array = learned("float(k,p)>=0", "H: a component in each row", like_x=True)
    n_components_: int = learned("int:k", "number of components")
    n_iter_: int = learned("int", "number of steps over all rows")
    reconstruction_err_: float = learned(
        "float", "√(2 × divergence of X from W H): the Frobenius norm of X − W H for squares; absent after partial_fit", optional=True
    )

    sparse = True
    lean = True
    lean_fit = True
    nonnegative = True

    n_components: int | str | None = param(
        default="auto", at_least=1, one_of=("auto", None), doc='number of components; "auto" or None: as many as columns, or as H has'
    )
    _: KW_ONLY
    init: str | None = param(
        default=None,
        one_of=STARTS,
        doc='where it begins; "nndsvd", "nndsvda", "nndsvdar": singular vectors; "kmeans": centres; "acol": means of drawn rows; '
        '"custom": W and H given to fit; None: "nndsvda", or drawn H where components are more than rows or columns',
    )
    beta_loss: float | str = param(
        default="frobenius",
        one_of=tuple(LOSSES),
        doc="the divergence: squares (2), Kullback-Leibler (1: Poisson counts), Itakura-Saito (0), or any other beta",
    )
    tol: float = param(default=1e-4, at_least=0, doc="ends when the measure of progress has fallen to so much of the first")
    max_iter: int = param(default=200, at_least=1, doc="most steps over all rows")
    random_state: int | RandomState | None = param(default=None, doc="seed of the start and of the order of components")
    alpha_W: float = param(default=0.0, at_least=0, doc="penalty of W, times the number of columns")
    alpha_H: float | str = param(default="same", at_least=0, one_of=("same",), doc="penalty of H, times the number of rows")
    l1_ratio: float = param(default=0.0, at_least=0, at_most=1, doc="share of the penalty on the sum; the rest is on half the squares")
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")

    @property
    def by_verbs(self) -> bool:
        """Whether `fit_transform` is not `transform`: it is the optimum for squares, and what steps have come to for all else."""
        return self._beta() != 2

    # --- the objective ---

    def _beta(self) -> float:
        return LOSSES.get(self.beta_loss, 2.0) if isinstance(self.beta_loss, str) else float(self.beta_loss)

    def _problem(self, p: int, weight: float) -> Problem:
        alpha = self.alpha_W if isinstance(self.alpha_H, str) else self.alpha_H
        ratio = self.l1_ratio
        of_W = Penalty(p * self.alpha_W * ratio, p * self.alpha_W * (1 - ratio))
        return Problem(self._beta(), of_W, Penalty(weight * alpha * ratio, weight * alpha * (1 - ratio)))

    # --- fit ---

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None) -> Self:
        """Learn H from rows; W (n, k) and H (k, p) are where it begins with init="custom"."""
        self._fitted_rows(check.check_fit(self, X, None, sample_weight), W, H)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None) -> Any:
        """Fit, and W: what `transform` says of these rows; of another loss than squares what the fit has ended with."""
        found = self._fitted_rows(check.check_fit(self, X, None, sample_weight), W, H)
        if found is None or not self.by_verbs or sample_weight is not None or check.elsewhere(X):
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

    def _asked_for(self) -> Asked:
        return vars(self).get("_asked") or Asked(None, None)

    def _begin(self, table: Table, asked: Asked, source: Source, positive: bool) -> tuple[Array, Array]:
        if self.init == "custom":
            k = self._count(table.p, asked.H)
            numbers = source.rows if isinstance(source, Arrays) else None
            n = table.n if numbers is None or not isinstance(source, Arrays) else source.X.shape[0]
            H = self._given(asked.H, (k, table.p), "H", np.float32 if source.single else np.float64)
            W = self._given(asked.W, (n, k), "W", np.float32 if source.single else np.float64)
            return (W if numbers is None else np.ascontiguousarray(W[numbers])), H
        return self._start(table, self._count(table.p), positive)

    # --- what is given ---

    def _table(self, X: Any, w: Array, source: Source) -> Table:
        """The rows of a fit, which must suit the loss."""
        numbers = source.rows if isinstance(source, Arrays) else None
        check_values(X, self, numbers)
        table = Table.of(X, w)
        largest = float(X.max()) if X.shape[0] else 0.0
        if 0 < largest < LEAST:
            raise BadInput(
                f"{type(self).__name__}: the largest value of X is {largest:.0e}, whose squares no number holds: divide X by it"
            )
        if largest == 0:
            warn(f"{type(self).__name__}: X holds nothing but zeros, and so will W H", Degenerate, stacklevel=2)
        return table

    def _count(self, p: int, H: Any = None) -> int:
        wanted = self.n_components
        if isinstance(wanted, str) and H is not None and np.ndim(H) == 2:
            return len(H)
        return p if wanted is None or isinstance(wanted, str) else int(wanted)

    def _start(self, table: Table, k: int, positive: bool) -> tuple[Array, Array]:
        init, few = self.init, min(table.n, table.p)
        if init in BY_SINGULAR_VECTORS and k > few:
            raise BadInput(
                f"init = '{init}' can only be used when n_components <= min(n_samples, n_features): {k} components of {table.n} rows and "
                f'{table.p} columns: ask for at most {few}, or give init="random"'
            )
        if positive and init == "nndsvd":
            warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the initialization, and so leads to poorer results "
                "when used jointly with init='nndsvd'. You may try init='nndsvda' or init='nndsvdar' instead.",
                Degenerate,
                stacklevel=2,
            )
        init = init or ("nndsvda" if k <= few else "mass")
        return start(table, k, init, legacy_generator(self.random_state), positive)

    def _given(self, A: Any, shape: tuple[int, int], whom: str, like: Any) -> Array:
        """W or H that the user gave."""
        whom = f"NMF (input {whom})"
        if A is None:
            raise BadInput(f'{whom} is missing: with init="custom" both W and H must be given to fit')
        A = np.asarray(A)
        if A.ndim != 2 or A.dtype.kind not in "fiu":
            raise BadInput(f"{whom} must be a table of numbers, not an array of {A.ndim} axes and type {A.dtype}")
        for axis, name in enumerate(("first", "second")):
            if A.shape[axis] != shape[axis]:
                raise BadInput(f"Array with wrong {name} dimension passed to {whom}. Expected {shape[axis]}, but got {A.shape[axis]}.")
        if not np.isfinite(A).all():
            raise BadInput(f"{whom} must hold finite numbers")
        if A.min() < 0:
            raise BadInput(f"Negative values in data passed to {whom}: give values of at least 0")
        if A.max() == 0:
            raise BadInput(f"Array passed to {whom} is full of zeros.")
        if A.dtype != like:
            raise BadType(f"H and W should have the same dtype as X. Got {whom} of {A.dtype} and X of {like}: convert it")
        return np.array(A, dtype=np.float64, order="C")

    def _check_range(self, *found: Any) -> None:
        """Powers of X may leave the range of numbers."""
        if not all(np.isfinite(one).all() for one in found):
            raise BadInput(
                f"{type(self).__name__}: powers of X for beta_loss={self.beta_loss!r} are beyond the range of numbers: scale X so that its "
                "mean is about 1, or choose beta_loss between 0 and 2"
            )

    # --- rows ---

    def transform(self, X: Any) -> Any:
        """The rows of W for new rows of X; `set_output` chooses the container."""
        rows = check.check_predict(self, X)
        if not isinstance(rows, Source):
            check_values(rows, self)
        return self._dressed(map_rows(self._transform, rows, lean=True), X)

    def _transform(self, X: Any) -> Array:
        check_values(X, self, places=False)
        H = np.ascontiguousarray(self.components_, dtype=np.float64)
        problem = self._problem(H.shape[1], 1.0)
        W = rows_of(Table.of(X), H, problem, self.tol, self._most_steps())
        self._check_range(W)
        return np.asarray(W.astype(X.dtype, copy=False))

    def _most_steps(self) -> int:
        return self.max_iter

    def inverse_transform(self, X: Any) -> Array:
        """W H: rows of W back in the original columns."""
        return brought_back(self, X, lambda: len(self.components_), lambda Z: Z @ double(self.components_))

    def _names_out(self) -> list[str]:
        return [f"{type(self).__name__.lower()}{i}" for i in range(len(self.components_))]


class Asked:
    """What a call of fit was given besides the rows, and the W that it ends with."""

    def __init__(self, W: Any, H: Any) -> None:
        self.W, self.H = W, H
        self.made: Array | None = None


def check_values(X: Any, learner: Any, numbers: Array | None = None, places: bool = True) -> None:
    """Refuse what is below zero, by row and column, and zeros where the divergence has no value for them."""
    values = X.data if ops.is_sparse(X) else X
    least = values.min(initial=np.inf)
    if least < 0:
        first = int(np.argmax(values.ravel() < 0))
        if ops.is_sparse(X):
            row, j = int(np.searchsorted(X.indptr, first, side="right")) - 1, int(X.indices[first])
        else:
            row, j = divmod(first, X.shape[1])
        row = row if numbers is None else int(numbers[row])
        where = f"row {row}, " if places else ""
        raise BadInput(
            f"Negative values in data passed to {type(learner).__name__} (input X): {where}"
            f"{column_name(vars(learner).get('feature_names_in_'), j)} holds {values.ravel()[first]:g}, and W H takes values of at "
            "least 0: shift the column, take its absolute values, or use PCA"
        )
    if learner._beta() <= 0 and (least == 0 or (ops.is_sparse(X) and values.size < X.shape[0] * X.shape[1])):
        raise BadInput(
            "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add small values to X, or use a positive beta_loss."
        )
