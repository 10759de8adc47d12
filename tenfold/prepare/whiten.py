"""Whitening: columns without correlation, all of variance one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Transformer
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.prepare.scaler import brought_back

EPS = float(np.finfo(float).eps)


@estimator
class Whitener(Transformer, OnePass):
    """Whitener: columns made uncorrelated, each of variance one.

    Model       z = Λ^(−½) Uᵀ (x − m) (PCA), or z = U Λ^(−½) Uᵀ (x − m) (ZCA), with the covariance C = U Λ Uᵀ
    Objective   Cov z = I; of all such z, that of ZCA is nearest to x in mean square
    Algorithm   one pass of centred moments, then the eigenvectors of C = Σ w (x − m)(x − m)ᵀ / (Σ w − 1)
    Cost        O(n p²) time and O(p²) memory for the pass, O(p³) for the eigenvectors; merging O(p²)
    Fails when  columns depend on one another (a warning): only as many directions as C has rank are whitened, and the
                others left out; standardise columns of very different sizes first
    Reference   Kessy, Lewin & Strimmer 2018

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(500, 2)) @ [[2.0, 1.0], [0.0, 1.0]]
    >>> abs(np.cov(tenfold.Whitener().fit_transform(X).T)).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    mean_: Array = learned("float(p)", "mean of each column")
    components_: Array = learned("float(k,p)", "directions, by falling variance: the columns of U")
    explained_variance_: Array = learned("float(k)>0", "their variances, Λ")
    n_components_: int = learned("int:k", "number of directions that are whitened")
    rank_: int = learned("int", "rank of the covariance")
    stats_: Any = learned("Moments(p)", "the moments: for partial_fit, merge and forget", optional=True)

    invertible: ClassVar[bool] = True
    least_rows: ClassVar[int] = 2

    n_components: int | None = param(default=None, at_least=1, doc="directions of largest variance to keep; None: all")
    _: KW_ONLY
    method: str = param(default="pca", one_of=("pca", "zca"), doc="along the principal axes, or along the old columns")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"method": "zca"}, {"n_components": 2}]

    def _summarize(self, block: Block) -> Moments:
        return Moments.of_block(block, target=False)

    def _solve(self, stats: Moments) -> dict[str, Any]:
        from scipy.linalg import eigh

        p = len(stats.center)
        if self.n_components is not None and self.n_components > p:
            raise BadParameter(f"Whitener(n_components={self.n_components}): must be at most {p}, the number of columns")
        if stats.weight <= 1:
            raise BadInput("a single row has no covariance: Whitener needs two rows that differ, or more")
        values, vectors = eigh(stats.scatter / (stats.weight - 1))
        values, vectors = values[::-1], vectors[:, ::-1].T
        rank = int((values > max(p, 8) * EPS * max(values[0], 0.0)).sum())
        if rank == 0:
            raise BadInput("all columns of X are constant: there is nothing to whiten")
        k = min(p if self.n_components is None else self.n_components, rank)
        if rank < (p if self.n_components is None else self.n_components):
            warn(
                f"Whitener: columns of X depend on one another: the covariance has rank {rank} of {p}, and {k} directions are whitened; "
                "drop columns, or set n_components",
                Degenerate,
                stacklevel=2,
            )
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
        vectors = vectors * np.where(largest < 0, -1.0, 1.0)  # the same signs wherever it is computed
        return dict(
            mean_=stats.mean,
            components_=np.ascontiguousarray(vectors[:k]),
            explained_variance_=values[:k].copy(),
            n_components_=k,
            rank_=rank,
        )

    def _names_out(self) -> list[str] | None:
        return None if self.method == "zca" else [f"whitener{j}" for j in range(self.n_components_)]

    def _transform(self, X: Array) -> Array:
        Z = (X - self.mean_) @ (self.components_ / np.sqrt(self.explained_variance_)[:, None]).T
        if self.method == "zca":
            Z = Z @ self.components_
        return Z.astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Any:
        """Whitened rows as they were, but for directions that were left out."""
        return brought_back(self, X, self.n_features_in_ if self.method == "zca" else self.n_components_)

    def _inverse(self, Z: Array) -> Array:
        along = Z @ self.components_.T if self.method == "zca" else Z.astype(np.float64)
        X = (along * np.sqrt(self.explained_variance_)) @ self.components_ + self.mean_
        return X.astype(Z.dtype, copy=False)
