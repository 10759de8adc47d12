"""Fits that together call every native entry point, on tables so small that each of their allocations can be made to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas
import scipy.sparse

import tenfold
from tenfold import _embed, _linkage
from tenfold.core import data
from tenfold.evaluate import attributions, calibration_curve, isotonic_regression, roc_auc_score
from tenfold.tree.boosting import training

Fits = dict[str, Callable[[], Any]]

rng = np.random.default_rng(0)
X = rng.normal(size=(9000, 6))  # enough for threads in every grower
Y = X @ np.arange(1.0, 7.0) + rng.normal(size=len(X))
NARROW = X[:, 3:].copy()
LABEL, MANY = (Y > 0).astype(int), np.digitize(Y, [-3, 0, 3])
SMALL, SHORT, FEW, TWO = X[:200], Y[:200], MANY[:200], LABEL[:200]
BOTH, CODES = np.column_stack([Y, X[:, 0]])[:200], np.column_stack([FEW, TWO])
WEIGHTS = rng.uniform(0.5, 2, 200)
COUNTS = np.round(np.exp(np.column_stack([SHORT, SMALL[:, 1]]) / 8))
SPARSE = scipy.sparse.csr_array(np.where(np.abs(SMALL) < 0.7, 0.0, SMALL))
LONG_ROWS = scipy.sparse.csr_array(np.tile(SPARSE.toarray(), (1, 171)))  # more columns than a curvature is written down for
WIDE = rng.normal(size=(900, 60))
CATEGORIES = np.where(rng.random((9000, 1)) < 0.1, np.nan, rng.integers(0, 9, (9000, 1)))
MIXED = np.hstack([X, CATEGORIES])
TABLE = MIXED[:400]
TILTED = np.vander(np.linspace(1, 2, 200), 13)[:, :-1]  # so badly conditioned that sums need thirty digits
TEXTS, GAPS = np.array(["a", "b", None], dtype=object)[MANY[:200, None] % 3], np.where(SMALL < -1, np.nan, SMALL)
DATED = {"x": SHORT, "level": ["a", "b", "b", None] * 50, "day": [f"20{10 + i % 9}-0{1 + i % 9}-11 10:{10 + i % 40}" for i in range(200)]}
PROSE = [f"The {word} is {'größer' if i % 3 else 'less'} than {i}" for i, word in enumerate(["cat", "dog", "Ölbild", "x"] * 50)]
FRAME = pandas.DataFrame(TEXTS, dtype=object)
CROSSED = np.array([1, 0], dtype=np.int32)
SHALLOW: dict[str, Any] = dict(max_depth=3, random_state=0)
LITTLE: dict[str, Any] = dict(max_iter=2, early_stopping=False, max_leaf_nodes=5)
ONCE: dict[str, Any] = dict(LITTLE, max_iter=1, max_leaf_nodes=3)
CUTS: dict[str, Any] = dict(LITTLE, categorical_features=[6])


@contextmanager
def blocks_for_threads(family: str, name: str) -> Iterator[None]:
    """Tables in blocks so small that several threads have some, where a fit is to be in threads."""
    before = data.BLOCK_BYTES
    data.BLOCK_BYTES = 1 << 11 if family == "blocks" and "in threads" in name else before
    data.block_rows.cache_clear()
    try:
        yield
    finally:
        data.BLOCK_BYTES = before
        data.block_rows.cache_clear()


def in_parts(learner: Any, X: Any, y: Any) -> Any:
    """The nodes of a model whose rows stay where they are, as on a cluster."""
    from test_boosting_parts import InParts

    before, training.FEW_BYTES = training.FEW_BYTES, 0
    try:
        with tenfold.engine(InParts()):
            return learner.fit(X, y).predict(X)
    finally:
        training.FEW_BYTES = before


def tree(y: Any, X: Any = SMALL, regress: bool = True, **options: Any) -> Callable[[], Any]:
    kind = tenfold.DecisionTreeRegressor if regress else tenfold.DecisionTreeClassifier
    return lambda: np.asarray(kind(**{**SHALLOW, **options}).fit(X, y).predict(X))


def forest(y: Any, X: Any = SMALL, regress: bool = True, weights: Any = None, **options: Any) -> Callable[[], Any]:
    kind = tenfold.RandomForestRegressor if regress else tenfold.RandomForestClassifier
    return lambda: np.asarray(kind(2, **{**SHALLOW, **options}).fit(X, y, weights).predict(X))


def there_and_back(scaler: Any) -> Any:
    return scaler.inverse_transform(scaler.fit_transform(GAPS))


def written_cells() -> Any:
    from tenfold.table.lines import Layout
    from tenfold.table.plain_cells import plain_columns

    kinds = {"x": "number", "level": "level", "day": "%Y-%m-%d"}
    found = plain_columns(b'1.5,a,2024-05-01\n,"b",2024-05-02 10:30\nNA,,\n' * 100, Layout(), list(kinds), kinds)
    assert found is not None
    return found[1]


def left_out(learner: Any, y: Any) -> Callable[[], Any]:
    return lambda: tenfold.cross_validate(learner, SMALL, y, folds=len(SMALL)).scores


BLOCKS: Fits = {
    "Ridge": lambda: tenfold.Ridge().fit(SMALL, SHORT).coef_,
    "LinearRegression": lambda: tenfold.LinearRegression().fit(SMALL, SHORT).coef_,
    "LinearRegression, badly conditioned": lambda: tenfold.LinearRegression().fit(TILTED, SHORT).coef_,
    "Lasso": lambda: tenfold.Lasso(0.1).fit(SMALL, SHORT).coef_,
    "HuberRegressor": lambda: tenfold.HuberRegressor().fit(SMALL, SHORT).coef_,
    "LogisticRegression": lambda: tenfold.LogisticRegression().fit(SMALL, FEW).coef_,
    "LogisticRegression of two classes": lambda: tenfold.LogisticRegression().fit(SMALL, TWO).coef_,
    "SGDClassifier": lambda: tenfold.SGDClassifier(max_iter=2, tol=None, average=True, random_state=0).fit(SMALL, FEW).coef_,
    "SGDRegressor of sparse rows": lambda: (
        tenfold.SGDRegressor(penalty="l1", eta0=0.001, max_iter=2, tol=None, random_state=0).fit(SPARSE, SHORT).coef_
    ),
    "LinearSVC": lambda: tenfold.LinearSVC().fit(SMALL, FEW).coef_,
    "LinearSVC by products": lambda: tenfold.LinearSVC(C=1e-4).fit(LONG_ROWS, TWO).coef_,
    "LinearSVC in its dual": lambda: tenfold.LinearSVC(C=1e-4, loss="hinge").fit(LONG_ROWS, TWO).coef_,
    "LogisticRegression by products": lambda: tenfold.LogisticRegression(C=1e-4).fit(LONG_ROWS, TWO).coef_,
    "LogisticRegression of many classes by products": lambda: tenfold.LogisticRegression(C=1e-4, max_iter=2).fit(LONG_ROWS, FEW).coef_,
    "KMeans": lambda: tenfold.KMeans(5, n_init=1, random_state=0).fit(SMALL).cluster_centers_,
    "KMeans on columns of float32": lambda: (
        tenfold.KMeans(5, n_init=1, random_state=0).fit(SMALL.astype(np.float32)).predict(SMALL.astype(np.float32))
    ),
    "GaussianNB": lambda: tenfold.GaussianNB().fit(SMALL, FEW).predict_proba(SMALL),
    "LinearDiscriminantAnalysis": lambda: tenfold.LinearDiscriminantAnalysis().fit(SMALL, FEW).predict_proba(SMALL),
    "QuadraticDiscriminantAnalysis": lambda: tenfold.QuadraticDiscriminantAnalysis().fit(SMALL, FEW).predict(SMALL),
    "PCA": lambda: tenfold.PCA(3).fit(WIDE).components_,
    "FastICA": lambda: tenfold.FastICA(3, max_iter=2, tol=1.0, random_state=0).fit(WIDE[:, :3]).components_,
    "NMF": lambda: tenfold.NMF(3, max_iter=2, tol=0).fit(SMALL * SMALL).components_,
    "NMF of counts": lambda: tenfold.NMF(3, beta_loss=1, solver="mu", max_iter=2, tol=0).fit(SMALL * SMALL).components_,
    "NMF of sparse counts": lambda: tenfold.NMF(3, beta_loss=1, solver="mu", max_iter=2, tol=0).fit(abs(SPARSE)).components_,
    "NMF of sparse rows": lambda: tenfold.NMF(3, max_iter=2, tol=0).fit(abs(SPARSE)).components_,
    "MDS": lambda: tenfold.MDS(metric_mds=False, eps=0.1).fit(SMALL[:40]).transform(SMALL[40:43]),
    "TSNE": lambda: tenfold.TSNE(perplexity=4, max_iter=250, min_grad_norm=1e9).fit(SMALL[:30]).transform(SMALL[30:33]),
    "forces of places": lambda: _embed.forces(NARROW[:2], np.arange(3), CROSSED, np.full(2, 0.5), np.ones(2), 1, 0.5, 2)[0],
    "TSNE by cells": lambda: tenfold.TSNE(perplexity=4, max_iter=250, min_grad_norm=1e9).fit(X[:513, :2]).embedding_,
    "KernelRegressor": lambda: tenfold.KernelRegressor().fit(SMALL, SHORT).predict(SMALL[:50]),
    "in threads": lambda: tenfold.LogisticRegression(max_iter=3).fit(SMALL, FEW).coef_,
    "in threads, PCA": lambda: tenfold.PCA(3).fit(WIDE).components_,
    "in threads, KMeans": lambda: tenfold.KMeans(5, n_init=1, random_state=0).fit(SMALL).cluster_centers_,
}
EVALUATION: Fits = {
    "cross_validate": lambda: tenfold.cross_validate(tenfold.GaussianNB(), SMALL, FEW, folds=5).scores,
    "cross_validate, merged": lambda: tenfold.cross_validate(tenfold.Ridge(), SMALL, SHORT, folds=5).scores,
    "cross_validate, fitted again": lambda: (
        tenfold.cross_validate(tenfold.DecisionTreeRegressor(**SHALLOW), SMALL, SHORT, folds=2).scores
    ),
    "leave-one-out of naive Bayes": left_out(tenfold.GaussianNB(), FEW),
    "leave-one-out of centroids": left_out(tenfold.NearestCentroid(), FEW),
    "leave-one-out of linear discriminants": left_out(tenfold.LinearDiscriminantAnalysis(), FEW),
    "leave-one-out of quadratic discriminants": left_out(tenfold.QuadraticDiscriminantAnalysis(), FEW),
    "leave-one-out of Ridge": left_out(tenfold.Ridge(), SHORT),
    "bagged": lambda: tenfold.BaggingRegressor(tenfold.Ridge(), 3, random_state=0).fit(SMALL, SHORT).predict(SMALL),
    "roc_auc_score": lambda: roc_auc_score(LABEL, Y + X[:, 5]),
    "isotonic_regression": lambda: isotonic_regression(SHORT),
    "calibration_curve": lambda: calibration_curve(TWO, logistic(SHORT)).prob_true,
}
PREPARE: Fits = {
    "texts": lambda: tenfold.OneHotEncoder().fit_transform(TEXTS).toarray(),
    "texts of one length": lambda: tenfold.OneHotEncoder().fit_transform(TEXTS.astype(str)).toarray(),
    "texts of a frame": lambda: tenfold.OneHotEncoder().fit_transform(FRAME).toarray(),
    "gaps": lambda: tenfold.SimpleImputer().fit_transform(GAPS),
    "rows of unit length": lambda: tenfold.Normalizer().fit_transform(SMALL),
    "to mean zero and back": lambda: there_and_back(tenfold.StandardScaler()),
    "to a range and back": lambda: there_and_back(tenfold.MinMaxScaler()),
    "Prepare of dates, categories and gaps": lambda: tenfold.Prepare().fit_transform(DATED),
    "words": lambda: tenfold.TfidfVectorizer(ngram_range=(1, 2), stop_words=["the"]).fit_transform(PROSE).toarray(),
    "words of a stream": lambda: tenfold.CountVectorizer().fit([PROSE[:100], PROSE[100:]]).transform(PROSE).toarray(),
    "hashed characters": lambda: tenfold.HashingVectorizer(n_features=16, analyzer="char_wb").transform(PROSE).toarray(),
    "plain cells of text": lambda: np.stack([column.to_physical().fill_null(0) for column in written_cells().values()]),
}
TREES: Fits = {
    "DecisionTreeRegressor": tree(SHORT),
    "weighted": lambda: tenfold.DecisionTreeRegressor(**SHALLOW).fit(SMALL, SHORT, WEIGHTS).predict(SMALL),
    "absolute error": tree(SHORT, criterion="absolute_error"),
    "poisson": tree(COUNTS[:, 0], criterion="poisson"),
    "DecisionTreeClassifier": tree(FEW, regress=False),
    "entropy": tree(FEW, regress=False, criterion="entropy"),
    "gain ratio": tree(FEW, regress=False, criterion="gain_ratio"),
    "two classes": tree(TWO, regress=False),
    "monotone": tree(SHORT, monotonic_cst=[1, 0, 0, -1, 0, 0]),
    "missing values": tree(Y[:400], TABLE),
    "best first": tree(SHORT, max_leaf_nodes=6),
    "sparse": tree(SHORT, SPARSE),
    "several targets": tree(BOTH),
    "several targets, absolute error": tree(BOTH, criterion="absolute_error"),
    "several targets, poisson": tree(COUNTS, criterion="poisson"),
    "several targets of classes": tree(CODES, regress=False),
    "several targets of classes, entropy": tree(CODES, regress=False, criterion="entropy"),
    "several targets, sparse": tree(BOTH, SPARSE),
    "ExtraTreeRegressor": lambda: tenfold.ExtraTreeRegressor(**SHALLOW).fit(SMALL, SHORT).predict(SMALL),
    "AdaBoostClassifier": lambda: tenfold.AdaBoostClassifier(n_estimators=3).fit(SMALL, FEW).predict(SMALL),
    "AdaBoostClassifier of two classes": lambda: (
        tenfold.AdaBoostClassifier(n_estimators=3).fit(SMALL, TWO).predict(SMALL)
    ),
    "in threads": tree(Y, NARROW, max_depth=2),
    "in threads, several targets": tree(X[:, :2], NARROW, max_depth=1),
    "in threads, AdaBoostClassifier": lambda: tenfold.AdaBoostClassifier(n_estimators=2).fit(X, MANY).predict(X[:9]),
}
FORESTS: Fits = {
    "RandomForestRegressor": forest(SHORT),
    "RandomForestClassifier": forest(FEW, regress=False),
    "two classes": forest(TWO, regress=False),
    "entropy": forest(FEW, regress=False, criterion="entropy"),
    "absolute error": forest(SHORT, criterion="absolute_error"),
    "poisson": forest(COUNTS[:, 0], criterion="poisson"),
    "weighted": forest(SHORT, weights=WEIGHTS),
    "monotone": forest(SHORT, monotonic_cst=[1, 0, 0, -1, 0, 0]),
    "best first": forest(SHORT, max_leaf_nodes=6),
    "missing values": forest(Y[:400], TABLE),
    "many bins": forest(Y[:400], X[:400], max_bins=1000),
    "sparse": forest(SHORT, SPARSE),
    "several targets": forest(BOTH),
    "several targets, many bins": forest(np.column_stack([Y, Y])[:400], X[:400], max_bins=1000),
    "several targets, absolute error": forest(BOTH, criterion="absolute_error"),
    "several targets, poisson": forest(COUNTS, criterion="poisson"),
    "several targets, sparse": forest(BOTH, SPARSE),
    "ExtraTreesRegressor": lambda: tenfold.ExtraTreesRegressor(2, **SHALLOW).fit(SMALL, SHORT).predict(SMALL),
    "out-of-bag": lambda: tenfold.RandomForestRegressor(25, oob_score=True, **SHALLOW).fit(SMALL, SHORT).oob_score_,
    "rows of trees": lambda: np.concatenate(tenfold.RandomForestRegressor(2, **SHALLOW).fit(SMALL, SHORT).estimators_samples_),
    "balanced trees": forest(FEW, regress=False, class_weight="balanced_subsample"),
    "leaves": lambda: tenfold.RandomForestRegressor(2, **SHALLOW).fit(SMALL, SHORT).apply(SMALL),
    "attributions": lambda: attributions(tenfold.RandomForestRegressor(2, **SHALLOW).fit(SMALL, SHORT), SMALL[:9]).values,
}
BOOSTING: Fits = {
    "HistGradientBoostingRegressor": lambda: (
        tenfold.HistGradientBoostingRegressor(**CUTS).fit(TABLE, Y[:400]).predict(TABLE)
    ),
    "weighted": lambda: tenfold.HistGradientBoostingRegressor(**LITTLE).fit(SMALL, SHORT, WEIGHTS).predict(SMALL),
    "absolute error": lambda: (
        tenfold.HistGradientBoostingRegressor("absolute_error", **LITTLE).fit(SMALL, SHORT).predict(SMALL)
    ),
    "many bins": lambda: (
        tenfold.HistGradientBoostingRegressor(max_bins=1000, **LITTLE).fit(X[:400], Y[:400]).predict(SMALL)
    ),
    "HistGradientBoostingClassifier": lambda: (
        tenfold.HistGradientBoostingClassifier(**LITTLE).fit(SMALL, FEW).predict_proba(SMALL)
    ),
    "GradientBoostingRegressor": lambda: (
        tenfold.GradientBoostingRegressor(n_estimators=2, subsample=0.5, random_state=0).fit(SMALL, SHORT).predict(SMALL)
    ),
    "sparse": lambda: tenfold.GradientBoostingClassifier(n_estimators=2).fit(SPARSE, TWO).predict(SPARSE),
    "rows in parts": lambda: in_parts(tenfold.HistGradientBoostingRegressor(**CUTS), TABLE, Y[:400]),
    "rows in parts, classes": lambda: in_parts(
        tenfold.HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, early_stopping=True, random_state=0), SMALL, FEW
    ),
    "in threads": lambda: tenfold.HistGradientBoostingRegressor(**ONCE).fit(MIXED, Y).predict(TABLE),
    "in threads, classes": lambda: tenfold.HistGradientBoostingClassifier(**ONCE).fit(X, MANY).predict(SMALL),
}


def logistic(scores: Any) -> Any:
    return 1 / (1 + np.exp(-scores))


NEAR: Fits = {
    "medoids": lambda: tenfold.KMedoids(5, random_state=0).fit(SMALL).cluster_centers_,
    "medoids of distances": lambda: tenfold.KMedoids(2, metric="precomputed", random_state=0).fit(np.abs(SHORT - SHORT[:, None])).labels_,
    "tree": lambda: tenfold.NeighborIndex(SMALL).nearest(SMALL, 3),
    "tree, many queries": lambda: tenfold.NeighborIndex(SMALL).nearest(X[:600], 3),
    "tree, radius": lambda: np.concatenate(tenfold.NeighborIndex(SMALL, "manhattan").within(SMALL, 2.0)),
    "tree, counts": lambda: tenfold.NeighborIndex(SMALL).count_within(SMALL, 1.0),
    "all rows": lambda: tenfold.NeighborIndex(WIDE[:200]).nearest(k=3),
    "tree, in threads": lambda: tenfold.NeighborIndex(np.vstack([NARROW, NARROW])).nearest(SMALL[:, 3:], 3),
    "graph": lambda: tenfold.NeighborIndex(X[:1000], method="graph").nearest(SMALL, 3),
    "codes": lambda: tenfold.NeighborIndex(X[:1000], method="codes").nearest(SMALL, 3),
    "all rows, radius": lambda: np.concatenate(tenfold.NeighborIndex(WIDE[:200], "hamming").within(WIDE[:9], 0.5)),
}

LINKAGE: Fits = {
    "ward": lambda: tenfold.linkage(SMALL, "ward"),
    "ward by centres": lambda: tenfold.linkage(X[:1100], "ward"),
    "average": lambda: tenfold.linkage(X[:1100], "average"),
    "single": lambda: tenfold.linkage(SMALL),
    "edges": lambda: _linkage.tree_of_edges(np.arange(199), np.arange(1, 200), SHORT[1:]),
    "centroid": lambda: tenfold.linkage(SMALL, "centroid"),
    "distances": lambda: tenfold.linkage(np.abs(SHORT - SHORT[:, None]), "complete", "precomputed"),
    "neighbours": lambda: tenfold.AgglomerativeClustering(3, connectivity=np.ones((60, 60))).fit(SMALL[:60]).predict(SMALL[:9]),
    "cosine": lambda: tenfold.AgglomerativeClustering(3, linkage="complete", metric="cosine").fit(SMALL).predict(SMALL[:9]),
}

DENSITY: Fits = {
    "DBSCAN": lambda: tenfold.DBSCAN(1.5).fit(SMALL).predict(SMALL[:9]),
    "MeanShift": lambda: tenfold.MeanShift(bandwidth=1.5).fit(SMALL).cluster_centers_,
    "MeanShift, Gaussian": lambda: tenfold.MeanShift(kernel="gaussian", bin_seeding=True).fit(SMALL, sample_weight=WEIGHTS).predict(SMALL),
    "HDBSCAN": lambda: tenfold.HDBSCAN(metric="manhattan").fit(SMALL, sample_weight=WEIGHTS).predict(SMALL[:9]),
    "HDBSCAN, row by row": lambda: tenfold.HDBSCAN(store_centers="both").fit(WIDE[:200]).labels_,
    "DensityTree": lambda: tenfold.DensityTree().fit(SMALL, sample_weight=WEIGHTS).score_samples(SMALL),
    "DensityTree, rows held out": lambda: tenfold.DensityTree(prune=0.3, criterion="log_likelihood").fit(X[:600]).sample(9, random_state=0),
    "DensityForest": lambda: tenfold.DensityForest(3, random_state=0).fit(SMALL).score_samples(SMALL),
    "DBSCAN, all rows": lambda: tenfold.DBSCAN(9.0).fit(WIDE[:200]).labels_,
}

SUMMATION: Fits = {
    "KernelDensity": lambda: tenfold.KernelDensity(bandwidth=0.5).fit(SMALL[:, :2], sample_weight=WEIGHTS).score_samples(X[:600, :2]),
    "one column, series": lambda: tenfold.KernelDensity(bandwidth=0.3).fit(X[:2000, :1]).score_samples(SMALL[:, :1]),
    "left out": lambda: tenfold.KernelDensity(kernel="epanechnikov").fit(SMALL[:, :2], sample_weight=WEIGHTS).score_samples(),
    "far away": lambda: tenfold.KernelDensity(kernel="exponential").fit(SMALL).score_samples(1e6 * SMALL[:9]),
    "many columns": lambda: tenfold.KernelDensity(bandwidth=5.0).fit(WIDE[:100]).score_samples(WIDE[:50]),
}

MACHINES: Fits = {
    "SVC": lambda: tenfold.SVC(probability=True).fit(SMALL, FEW, sample_weight=WEIGHTS).predict_proba(SMALL),
    "SVC, working sets": lambda: tenfold.SVC().fit(X[:1500], LABEL[:1500]).decision_function(SMALL),
    "SVC, polynomial": lambda: tenfold.SVC(kernel="poly", tol=1e-8).fit(SMALL, TWO).dual_coef_,
    "SVR": lambda: tenfold.SVR().fit(SMALL, SHORT).predict(SMALL),
    "NuSVC": lambda: tenfold.NuSVC(nu=0.2).fit(SMALL, TWO).decision_function(SMALL),
    "OneClassSVM": lambda: tenfold.OneClassSVM().fit(SMALL).score_samples(SMALL),
    "SVR, sparse rows": lambda: tenfold.SVR(kernel="sigmoid", gamma=0.01).fit(SPARSE, SHORT).predict(SPARSE),
}

FITS: dict[str, Fits] = {
    "blocks": BLOCKS,
    "evaluation": EVALUATION,
    "prepare": PREPARE,
    "trees": TREES,
    "forests": FORESTS,
    "boosting": BOOSTING,
    "neighbours": NEAR,
    "linkage": LINKAGE,
    "density": DENSITY,
    "summation": SUMMATION,
    "machines": MACHINES,
}
