"""A density tree: boxes of constant density, found by cutting the support in two again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.density.cells import FOLDS, Cells, Grower
from tenfold.density.partition import Partition


@estimator
class DensityTree(Partition):
    """DensityTree: a histogram whose bins are boxes that fit the rows, found by a tree of cuts.

    Model       p̂(x) = N_l / (N V_l) in cell l, a box of volume V_l that holds N_l of the N rows (weights count as copies); 0 outside of
                the support, which is the range of each column and `margin` of it beyond either end, or what the user gives
    Objective   min ∫ (p − p̂)² = const − Σ_l p_l² V_l, greedily: a node is cut where q²/t + (1 − q)²/(1 − t) is largest, q and t the
                shares of one part in its rows and its volume (log_likelihood: q log(q/t) + (1 − q) log((1 − q)/(1 − t)))
    Algorithm   columns are sorted once; every gap between neighbouring values of every column is tried at both of its ends (`gap`; by
                default half way); cutting stops by depth, by rows, at a density, or where nothing is gained; then
                cells are joined again that raise the mean log-likelihood by less than a price (weakest links): the price at which rows
                that were left out are most likely, of 5 folds (prune="cv"), or of a share of the rows that the tree has not seen, and
                which are shared out among its cells in the end. Rows are drawn by a hash of what is in them: no seed is needed
    Cost        O(n p log n) time to sort and O(n p) a level, O(n p) memory; the rows are kept while it grows
    Fails when  columns depend on each other along slanted lines (many cells: CopulaDensity, or a forest); rows lie outside of the support
                (their density is 0); a column is constant (warns, and takes it to be 1 wide); all rows are equal (refused)
    Reference   Ram & Gray 2011; weakest links: Breiman, Friedman, Olshen & Stone 1984

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.concatenate([np.linspace(0, 1, 50), np.linspace(1, 11, 50)])[:, None]
    >>> model = tenfold.DensityTree(1, margin=0, prune=None).fit(X)
    >>> print(model.export_text())
    x0 <= 0.99: density 0.495 (share 0.49)
    x0 > 0.99: density 0.0509 (share 0.51)
    """

    _: KW_ONLY
    prune: float | str | None = param(
        default="cv",
        one_of=("cv", None),
        above=0,
        at_most=0.9,
        before="gap",
        doc="how cells are joined again: by cross-validation, by a share of the rows that is held out, or not",
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"prune": 0.3, "criterion": "log_likelihood", "gap": 0.1, "min_samples_leaf": 3}]

    def _at_once(self) -> int:
        return FOLDS + 1 if self.prune == "cv" else 1

    def _grown(self, grower: Grower, w: Array) -> tuple[list[Cells], dict[str, Any]]:
        if self.prune is None:
            return grower.grow(w[None]), {}
        return [grower.by_folds(w) if self.prune == "cv" else grower.held_out(w, float(self.prune))], {}

    # --- the tree itself ---

    def get_depth(self) -> int:
        """The most cuts that lead to a cell."""
        check.check_fitted(self)
        return int(self._trees()[0].depths().max())

    def get_n_leaves(self) -> int:
        """The number of cells."""
        check.check_fitted(self)
        return int((self.feature_ < 0).sum())

    def apply(self, X: Any) -> Array:
        """The number of the cell of each row, in `mass_` and `log_density_`."""
        rows = check.check_predict(self, X)
        return map_rows(lambda X: self._trees()[0].leaves(ops.dense(X)), rows)

    def boxes(self) -> tuple[Array, Array]:
        """Least and largest values (cells, p) of all cells, in the order of their numbers."""
        check.check_fitted(self)
        return self._trees()[0].boxes(self.lower_, self.upper_)

    def export_text(self, decimals: int = 2) -> str:
        """The tree as indented text: one line for each part, with density and share of the rows at the cells."""
        check.check_fitted(self)
        return "\n".join(self._lines(decimals))

    def _lines(self, decimals: int) -> Iterator[str]:
        names = vars(self).get("feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        stack = [(0, -1, "")]  # a node, how deep it is, and the question that leads to it
        while stack:
            node, depth, asked = stack.pop()
            leaf = self.feature_[node] < 0
            says = f"density {np.exp(self.log_density_[node]):.3g} (share {self.mass_[node]:.{decimals}f})" if leaf else ""
            if depth >= 0 or leaf:
                yield "|   " * max(depth, 0) + ": ".join(part for part in (asked, says) if part)
            if not leaf:
                column, cut = names[self.feature_[node]], f"{self.threshold_[node]:.{decimals}f}"
                left, right = self.children_[node]
                stack += [(int(right), depth + 1, f"{column} > {cut}"), (int(left), depth + 1, f"{column} <= {cut}")]
