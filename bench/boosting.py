"""Gradient boosting on histograms: long tables of numbers, and a table of the size of a survey."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .plan import Contender, Data, Judgement, Quality, Workload, fit_predict
from .scores import r2

ROUNDS, LEAVES, RATE, BINS, MANY_BINS = 100, 31, 0.1, 255, 1023
LIGHTGBM = dict(n_estimators=ROUNDS, num_leaves=LEAVES, learning_rate=RATE, min_child_samples=20)
XGBOOST = dict(n_estimators=ROUNDS, max_leaves=LEAVES, max_depth=0, grow_policy="lossguide", learning_rate=RATE)
HIST = dict(max_iter=ROUNDS, max_leaf_nodes=LEAVES, learning_rate=RATE, early_stopping=False)


def area(data: Data, model: Any, shares: np.ndarray) -> Quality:
    """Area under the ROC curve, and the mean log loss."""
    score, truth = np.asarray(shares)[:, 1], data["yt"] == 1
    order = np.argsort(score, kind="stable")
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    ties = np.unique(score, return_inverse=True)[1]
    rank = (np.bincount(ties, rank) / np.bincount(ties))[ties]
    ones, zeros = truth.sum(), (~truth).sum()
    auc = (rank[truth].sum() - ones * (ones + 1) / 2) / (ones * zeros)
    loss = -np.log(np.clip(np.where(truth, score, 1 - score), 1e-15, 1)).mean()
    return {"AUC": float(auc), "log loss": float(loss)}


def survey(n: int, seed: int) -> Data:
    """Six columns of numbers, eight of few different values, some missing; labels from their sums and products."""
    rng = np.random.default_rng(seed)
    n_test = n // 5
    X = np.concatenate(
        [rng.lognormal(size=(n + n_test, 6)), rng.integers(0, (2, 3, 5, 7, 9, 16, 16, 42), (n + n_test, 8))], axis=1
    ).astype(np.float64)
    level = rng.normal(size=42)
    signal = np.log1p(X[:, 0]) * X[:, 6] + (X[:, 1] > 1) + level[X[:, 13].astype(int)] - 0.3 * X[:, 8] + 0.1 * X[:, 2]
    chance = 1 / (1 + np.exp(-1.5 * (signal - signal.mean())))
    X[rng.random(X.shape) < 0.03] = np.nan
    return make.hold_out(X, (rng.random(n + n_test) < chance).astype(np.int64), n_test)


def _contenders(labels: bool, bins: int = BINS) -> tuple[Contender, ...]:
    kind, score, method = ("Classifier", area, "predict_proba") if labels else ("Regressor", r2, "predict")
    hist = f"HistGradientBoosting{kind}"
    lightgbm, xgboost, ours = dict(LIGHTGBM, max_bin=bins), dict(XGBOOST, max_bin=bins), dict(HIST, max_bins=bins)
    contenders = (
        Contender("tenfold", "tenfold", fit_predict(f"tenfold.{hist}", score, method=method, **ours), "tenfold"),
        Contender(
            "lightgbm",
            "lightgbm",
            fit_predict(f"lightgbm.LGBM{kind}", score, method=method, n_jobs=2, verbose=-1, random_state=0, **lightgbm),
        ),
        Contender(
            "xgboost",
            "xgboost",
            fit_predict(f"xgboost.XGB{kind}", score, method=method, n_jobs=2, tree_method="hist", **xgboost),
        ),
    )
    if bins > BINS:  # scikit-learn takes no more
        return contenders
    sklearn = Contender("sklearn", "sklearn", fit_predict(f"sklearn.ensemble.{hist}", score, method=method, **ours))
    return (*contenders, sklearn)


GBDT_CLF = Workload(
    name="gbdt_clf",
    about="boosting, 500k x 30 uniform columns, Friedman's surface, two classes; 100 rounds, 31 leaves, 255 bins",
    make=lambda shrink: make.friedman(make.shrunk(500_000, shrink), 30, seed=62, labels=True),
    contenders=_contenders(labels=True),
    judgement=Judgement("AUC", higher=True, tolerance=1e-3),
)
GBDT_REG = Workload(
    name="gbdt_reg",
    about="boosting, 500k x 30 uniform columns, Friedman's surface, noise of deviation 2; 100 rounds, 31 leaves, 255 bins",
    make=lambda shrink: make.friedman(make.shrunk(500_000, shrink), 30, seed=62, labels=False),
    contenders=_contenders(labels=False),
    judgement=Judgement("R2", higher=True, tolerance=1e-3),
)
GBDT_REG_BINS = Workload(
    name="gbdt_reg_1023bins",
    about="boosting, 500k x 30 uniform columns, Friedman's surface, noise of deviation 2; 100 rounds, 31 leaves, 1023 bins",
    make=lambda shrink: make.friedman(make.shrunk(500_000, shrink), 30, seed=62, labels=False),
    contenders=_contenders(labels=False, bins=MANY_BINS),
    judgement=Judgement("R2", higher=True, tolerance=1e-3),
)
GBDT_SURVEY = Workload(
    name="gbdt_survey",
    about="boosting, 30k x 14, numbers and few-valued columns with 3 % missing, two classes; 100 rounds, 31 leaves",
    make=lambda shrink: survey(make.shrunk(30_000, shrink), seed=64),
    contenders=_contenders(labels=True),
    judgement=Judgement("AUC", higher=True, tolerance=2e-3),
)

WORKLOADS = (GBDT_CLF, GBDT_REG, GBDT_REG_BINS, GBDT_SURVEY)
