"""Linear models: least squares, a cross-validated ridge path, logistic regression of two and ten classes, with an L1 penalty, along C."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, OwnCost, Quality, Workload, build, fit_predict, only_when_slow
from .scores import logistic, logistic_cv, logistic_l1, r2

ALPHAS = np.logspace(-3, 5, 100)
FOLDS = 10


def _ordinary(path: str, name: str, library: str) -> Contender:
    return Contender(name, library, fit_predict(path, r2), "tenfold" if library == "tenfold" else "peer")


def _lstsq(data: Data, meter: Meter) -> Quality:
    with_ones = np.column_stack([np.ones(len(data["X"])), data["X"]])
    solution = meter.fit(np.linalg.lstsq, with_ones, data["y"], rcond=None)[0]
    return r2(data, None, data["Xt"] @ solution[1:] + solution[0])


def _normal_equations(data: Data, meter: Meter) -> Quality:
    """The least anyone could do with BLAS: inaccurate for badly conditioned columns, hence a reference."""

    def solve() -> tuple[np.ndarray, float]:
        X, y = data["X"], data["y"]
        center, level = X.mean(0), y.mean()
        gram = X.T @ X - len(X) * np.outer(center, center)
        coef = np.linalg.solve(gram, X.T @ y - len(X) * center * level)
        return coef, float(level - center @ coef)

    coef, intercept = meter.fit(solve)
    return r2(data, None, data["Xt"] @ coef + intercept)


def _statsmodels_ols(data: Data, meter: Meter) -> Quality:
    import statsmodels.api as sm

    fitted = meter.fit(lambda: sm.OLS(data["y"], sm.add_constant(data["X"])).fit())
    return r2(data, None, meter.predict(lambda: fitted.predict(sm.add_constant(data["Xt"]))))


OLS = Workload(
    name="ols",
    about="least squares, 200k x 100 correlated Gaussian columns, signal-to-noise ratio 2",
    make=lambda shrink: make.regression(make.shrunk(200_000, shrink), 100, seed=1),
    contenders=(
        _ordinary("tenfold.LinearRegression", "tenfold LinearRegression", "tenfold"),
        _ordinary("sklearn.linear_model.LinearRegression", "sklearn LinearRegression", "sklearn"),
        _ordinary("sklearnex.linear_model.LinearRegression", "sklearnex LinearRegression", "sklearnex"),
        Contender("numpy lstsq", "numpy", _lstsq),
        Contender("numpy normal equations", "numpy", _normal_equations, "reference"),
        Contender("statsmodels OLS", "statsmodels", _statsmodels_ols, slow=True),
    ),
    judgement=Judgement("R2", higher=True, tolerance=1e-8),
)


def _tenfold_path(data: Data, meter: Meter) -> Quality:
    import tenfold

    X, y = data["X"], data["y"]
    path = meter.fit(tenfold.validation_path, tenfold.Ridge(), X, y, "alpha", ALPHAS, folds=FOLDS)
    alpha = float(path.best)
    return _refitted(data, tenfold.Ridge(alpha=alpha), alpha)


def _refitted(data: Data, model: Any, alpha: float) -> Quality:
    """The chosen alpha, and what it is worth on the held-out rows."""
    return r2(data, model, model.fit(data["X"], data["y"]).predict(data["Xt"])) | {"alpha": alpha}


def _one_fit(library: str) -> Contender:
    path = f"{library}.Ridge" if library == "tenfold" else f"{library}.linear_model.Ridge"

    def run(data: Data, meter: Meter) -> Quality:
        model = build(path)
        meter.fit(model.fit, data["X"], data["y"])
        return r2(data, model, model.predict(data["Xt"])) | {"alpha": float(model.alpha)}

    return Contender(f"{library} Ridge, one fit", library, run, "reference")


def _grid_search(library: str) -> Contender:
    def run(data: Data, meter: Meter) -> Quality:
        from sklearn.model_selection import GridSearchCV

        search = GridSearchCV(build(f"{library}.linear_model.Ridge"), {"alpha": ALPHAS}, cv=FOLDS)
        meter.fit(search.fit, data["X"], data["y"])
        alpha = float(search.best_params_["alpha"])
        return r2(data, search, meter.predict(search.predict, data["Xt"])) | {"alpha": alpha}

    return Contender(f"{library} GridSearchCV(Ridge)", library, run, slow=True)


def _ridge_cv(data: Data, meter: Meter) -> Quality:
    model = build("sklearn.linear_model.RidgeCV", alphas=ALPHAS)
    meter.fit(model.fit, data["X"], data["y"])
    return r2(data, model, model.predict(data["Xt"])) | {"alpha": float(model.alpha_)}


RIDGE_CV = Workload(
    name="ridge_cv",
    about="ridge, 100 alphas x 10 folds on the data of ols; the honest peers take minutes and need --slow",
    make=OLS.make,
    contenders=(
        Contender("tenfold validation_path(Ridge)", "tenfold", _tenfold_path, "tenfold"),
        _one_fit("tenfold"),
        _one_fit("sklearn"),
        _one_fit("sklearnex"),
        Contender("sklearn RidgeCV, leave-one-out", "sklearn", _ridge_cv, "reference", slow=True),
        _grid_search("sklearnex"),
    ),
    judgement=Judgement("R2", higher=True, tolerance=1e-4),
    own_cost=OwnCost("tenfold Ridge, one fit", at_most=2.0),
)


def _logistic(name: str, library: str, role: Any = "peer", slow: bool = False, **parameters: Any) -> Contender:
    module = "tenfold" if library == "tenfold" else f"{library}.linear_model"
    run = fit_predict(f"{module}.LogisticRegression", logistic, **parameters)
    return Contender(name, library, run, role, slow)


LOGISTIC = (
    _logistic("tenfold LogisticRegression", "tenfold", "tenfold"),
    _logistic("sklearn lbfgs", "sklearn"),
    _logistic("sklearn newton-cholesky", "sklearn", solver="newton-cholesky"),
    _logistic("sklearnex lbfgs", "sklearnex"),
    _logistic("sklearn lbfgs, tol=1e-8", "sklearn", "reference", tol=1e-8, max_iter=2000),
    _logistic("sklearn newton-cg", "sklearn", slow=True, solver="newton-cg"),
)

LOGREG_BIN = Workload(
    name="logreg_bin",
    about="logistic regression, 200k x 50, two classes, C=1",
    make=lambda shrink: make.two_classes(make.shrunk(200_000, shrink), 50, seed=4),
    contenders=LOGISTIC,
    judgement=Judgement("objective", higher=False, tolerance=1e-6),
)

LOGREG_MULTI = Workload(
    name="logreg_multi",
    about="logistic regression, 60k x 100, ten classes, C=1",
    make=lambda shrink: make.softmax_classes(make.shrunk(60_000, shrink), 100, 10, seed=5),
    contenders=only_when_slow(LOGISTIC, "sklearn newton-cholesky"),  # its Hessian of 1010 x 1010 takes half a minute
    judgement=Judgement("objective", higher=False, tolerance=1e-6),
)


def _logistic_l1(name: str, library: str, role: Any = "peer", **parameters: Any) -> Contender:
    module = "tenfold" if library == "tenfold" else f"{library}.linear_model"
    return Contender(name, library, fit_predict(f"{module}.LogisticRegression", logistic_l1, C=0.01, l1_ratio=1.0, **parameters), role)


LOGREG_L1 = Workload(
    name="logreg_l1",
    about="logistic regression with an L1 penalty, 50k x 200, two classes, C=0.01",
    make=lambda shrink: make.two_classes(make.shrunk(50_000, shrink), 200, seed=4),
    contenders=(
        _logistic_l1("tenfold LogisticRegression", "tenfold", "tenfold"),
        _logistic_l1("sklearn liblinear", "sklearn", solver="liblinear"),
        _logistic_l1("sklearn saga", "sklearn", solver="saga"),
    ),
    judgement=Judgement("objective", higher=False, tolerance=1e-6),
)


def _logistic_cv(name: str, library: str, role: Any = "peer", **parameters: Any) -> Contender:
    module = "tenfold" if library == "tenfold" else f"{library}.linear_model"
    settings = dict(l1_ratios=(0.0,), scoring="neg_log_loss", use_legacy_attributes=False, **parameters)
    return Contender(name, library, fit_predict(f"{module}.LogisticRegressionCV", logistic_cv, **settings), role)


LOGREG_CV = Workload(
    name="logreg_cv",
    about="logistic regression, 50k x 50, two classes, ten C x five folds",
    make=lambda shrink: make.two_classes(make.shrunk(50_000, shrink), 50, seed=4),
    contenders=(
        _logistic_cv("tenfold LogisticRegressionCV", "tenfold", "tenfold"),
        _logistic_cv("sklearn lbfgs", "sklearn"),
        _logistic_cv("sklearn newton-cholesky", "sklearn", solver="newton-cholesky"),
    ),
    judgement=Judgement("log loss", higher=False, tolerance=1e-5),
)

WORKLOADS = (OLS, RIDGE_CV, LOGREG_BIN, LOGREG_MULTI, LOGREG_L1, LOGREG_CV)
