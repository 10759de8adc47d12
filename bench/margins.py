"""Linear support vector machines: a dense table, and sparse rows of a large vocabulary, on which logistic regression stands too."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .plan import Contender, Data, Judgement, Quality, Workload, fit_predict, only_when_slow
from .scores import accuracy, logistic


def words(n: int, vocabulary: int, seed: int) -> Data:
    """50 draws a row from a power-law vocabulary, weighted as tf-idf, rows of length one; noisy linear labels."""
    import scipy.sparse as sp

    rng, n_test = np.random.default_rng(seed), n // 10
    total = n + n_test
    column = (vocabulary * rng.random((total, 50)) ** 3).astype(np.int64)
    often = n * 50 * np.diff((np.arange(vocabulary + 1) / vocabulary) ** (1 / 3))
    X = sp.csr_matrix((np.ones(total * 50), (np.repeat(np.arange(total), 50), column.ravel())), shape=(total, vocabulary))
    X.sum_duplicates()
    X.data = (1 + np.log(X.data)) * (np.log((1 + n) / (1 + often)) + 1)[X.indices]
    X = (sp.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(1)).ravel())) @ X).tocsr()
    score = X @ rng.standard_normal(vocabulary)
    y = (rng.random(total) < 1 / (1 + np.exp(-2.5 * score / score.std()))).astype(np.int64)
    place = np.arange(X.nnz) - np.repeat(X.indptr[:-1], np.diff(X.indptr))
    columns, values = np.zeros((total, 50), dtype=np.int32), np.zeros((total, 50))
    for padded, given in ((columns, X.indices), (values, X.data)):
        padded[np.repeat(np.arange(total), np.diff(X.indptr)), place] = given
    return make.hold_out(np.stack([columns, values], axis=-1), y, n_test)


def _rows(data: Data) -> Data:
    """The table with CSR for rows that were stored as pairs of column and value, zeros at the end."""
    import scipy.sparse as sp

    if data["X"].ndim == 2:
        return data
    width = 1 + int(max(data[name][..., 0].max() for name in ("X", "Xt")))
    made = {}
    for name in ("X", "Xt"):
        columns, values = np.moveaxis(data[name], -1, 0)
        row, place = np.nonzero(values)
        made[name] = sp.csr_matrix((values[row, place], (row, columns[row, place].astype(np.int64))), shape=(len(values), width))
    return dict(data) | made


def squared_hinge(data: Data, model: Any, predicted: np.ndarray) -> Quality:
    """Accuracy, and the penalised training loss over n at C = 1: lower is better converged."""
    coef, b = np.asarray(model.coef_)[0], float(np.ravel(model.intercept_)[0])
    over = np.maximum(1 - np.where(data["y"] == 1, 1, -1) * (data["X"] @ coef + b), 0.0)
    objective = (0.5 * (coef @ coef + b * b) + (over**2).sum()) / len(over)
    return accuracy(data, model, predicted) | {"objective": float(objective)}


def _machine(name: str, library: str, role: Any = "peer", **parameters: Any) -> Contender:
    module = "tenfold" if library == "tenfold" else f"{library}.svm"
    plain = fit_predict(f"{module}.LinearSVC", squared_hinge, **parameters)
    return Contender(name, library, lambda data, meter: plain(_rows(data), meter), role)


MACHINES = (
    _machine("tenfold LinearSVC", "tenfold", "tenfold"),
    _machine("sklearn LinearSVC, primal", "sklearn", dual=False),
    _machine("sklearn LinearSVC, dual", "sklearn", dual=True),
)

DENSE = Workload(
    name="linear_svm_dense",
    about="linear support vector machine, squared hinge, 100k x 100, two classes, C=1",
    make=lambda shrink: make.two_classes(make.shrunk(100_000, shrink), 100, seed=6),
    contenders=only_when_slow(MACHINES, MACHINES[2].name),  # a minute, and not converged
    judgement=Judgement("objective", higher=False, tolerance=1e-6),
)

SPARSE = Workload(
    name="linear_svm_sparse",
    about="linear support vector machine, squared hinge, 50k x 50k sparse, 50 values a row, C=1",
    make=lambda shrink: words(make.shrunk(50_000, shrink), make.shrunk(50_000, shrink), seed=7),
    contenders=MACHINES,
    judgement=Judgement("objective", higher=False, tolerance=1e-6),
)



def _logistic(name: str, library: str, role: Any = "peer", **parameters: Any) -> Contender:
    module = "tenfold" if library == "tenfold" else f"{library}.linear_model"
    plain = fit_predict(f"{module}.LogisticRegression", logistic, **parameters)
    return Contender(name, library, lambda data, meter: plain(_rows(data), meter), role)


LOGISTIC = Workload(
    name="logreg_sparse",
    about="logistic regression, 50k x 50k sparse, 50 values a row, two classes, C=1",
    make=SPARSE.make,
    contenders=(
        _logistic("tenfold LogisticRegression", "tenfold", "tenfold"),
        _logistic("sklearn lbfgs", "sklearn"),
        _logistic("sklearn newton-cg", "sklearn", solver="newton-cg"),
        _logistic("sklearn liblinear", "sklearn", solver="liblinear"),  # penalises the intercept too
    ),
    judgement=Judgement("objective", higher=False, tolerance=1e-6),
)

WORKLOADS = (DENSE, SPARSE, LOGISTIC)
