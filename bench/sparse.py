"""Sparse linear models: the lasso path by cross-validation, long and wide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload, build, only_when_slow
from .scores import r2

FOLDS, PENALTIES, LAST = 10, 100, 1e-3


def sparse_regression(n: int, p: int, nonzero: int, ratio: float, seed: int) -> Data:
    """Gaussian columns, each correlated by one half with the next; few matter; signal-to-noise as given."""
    rng = np.random.default_rng(seed)
    n_test = 1000
    X = rng.standard_normal((n + n_test, p))
    for j in range(1, p):
        X[:, j] = 0.5 * X[:, j - 1] + 0.75**0.5 * X[:, j]
    signal = X[:, rng.choice(p, nonzero, replace=False)] @ rng.standard_normal(nonzero)
    noise = rng.standard_normal(n + n_test) * signal.std() / ratio**0.5
    return make.hold_out(X, 1.0 + signal + noise, n_test)


def _quality(data: Data, model: Any, alpha: float) -> Quality:
    told = {"alpha": alpha, "nonzero": float(np.count_nonzero(model.coef_))}
    return r2(data, model, model.predict(data["Xt"])) | told


def _own_search(library: str, role: Any, **parameters: Any) -> Contender:
    module = "tenfold" if library == "tenfold" else f"{library}.linear_model"

    def run(data: Data, meter: Meter) -> Quality:
        model = build(f"{module}.LassoCV", cv=FOLDS, alphas=PENALTIES, eps=LAST, **parameters)
        meter.fit(model.fit, data["X"], data["y"])
        return _quality(data, model, float(model.alpha_))

    return Contender(f"{library} LassoCV", library, run, role, processes=bool(parameters))


def _by_folds(library: str, path: Callable[[Any, Any, Any], Any], final: Callable[[float], Any]) -> Contender:
    """A path on each training set, then a fit of the best: for libraries whose own search fails here."""

    def search(X: np.ndarray, y: np.ndarray) -> tuple[Any, float]:
        top = np.abs((X - X.mean(0)).T @ (y - y.mean())).max() / len(y)
        alphas, errors = np.geomspace(top, LAST * top, PENALTIES), np.zeros(PENALTIES)
        for test in np.array_split(np.arange(len(y)), FOLDS):
            train = np.setdiff1d(np.arange(len(y)), test)
            center, level = X[train].mean(0), y[train].mean()
            W = path(np.asfortranarray(X[train] - center), y[train] - level, alphas)
            errors += ((((X[test] - center) @ W + level) - y[test][:, None]) ** 2).sum(0)
        alpha = float(alphas[errors.argmin()])
        return final(alpha).fit(X, y), alpha

    def run(data: Data, meter: Meter) -> Quality:
        model, alpha = meter.fit(search, data["X"], data["y"])
        return _quality(data, model, alpha)

    return Contender(f"{library} path, folds by hand", library, run)


def _celer(X: Any, y: Any, alphas: Any) -> Any:
    from celer import celer_path

    return celer_path(X, y, pb="lasso", alphas=alphas, tol=1e-4)[1]


def _skglm(X: Any, y: Any, alphas: Any) -> Any:
    from skglm import Lasso

    return Lasso(fit_intercept=False, tol=1e-4).path(X, y, alphas)[1]


CONTENDERS = (
    _own_search("tenfold", "tenfold"),
    _own_search("sklearn", "peer", n_jobs=2),
    _by_folds("celer", _celer, lambda alpha: build("sklearn.linear_model.Lasso", alpha=alpha)),
    _by_folds("skglm", _skglm, lambda alpha: build("skglm.Lasso", alpha=alpha, tol=1e-4)),
)

LASSO_LONG = Workload(
    name="lasso_cv_5kx1000",
    about="lasso, 5k x 1000, 50 columns matter, signal-to-noise ratio 2; 100 penalties x 10 folds",
    make=lambda shrink: sparse_regression(make.shrunk(5000, shrink), 1000 // min(shrink, 10), 50, 2.0, seed=2),
    contenders=only_when_slow(CONTENDERS, CONTENDERS[2].name, CONTENDERS[3].name),  # minutes on this shape
    judgement=Judgement("R2", higher=True, tolerance=1e-3),
)

LASSO_WIDE = Workload(
    name="lasso_cv_200x10000",
    about="lasso, 200 x 10,000, 20 columns matter, signal-to-noise ratio 4; 100 penalties x 10 folds",
    make=lambda shrink: sparse_regression(200, 10_000 // min(shrink, 10), 20, 4.0, seed=3),
    contenders=CONTENDERS,
    judgement=Judgement("R2", higher=True, tolerance=1e-3),
)

WORKLOADS = (LASSO_LONG, LASSO_WIDE)
