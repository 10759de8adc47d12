"""The laws that every learner obeys, whatever it learns. Anyone's learner can be held to them:

    from laws import LAWS, Place, Table, applies
    for name, law in LAWS.items():
        if applies(name, learner):
            law(learner, Table.of(learner), Place(tenfold.Local(), rows=3))

A law is a function of a learner (fresh, never fitted), a table and a place: an engine, and how many rows a
block has. A class lists the laws it cannot obey in `exempt`, with the reason.
"""

from __future__ import annotations

import pickle
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_matrix

import tenfold
from tenfold.base.check import check_fit
from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import TenfoldError, TenfoldWarning

Array = np.ndarray[Any, Any]

# What a fit returns besides its answer: how it got there, statistics and parts that the answers follow from, rows in their order.
NOT_AN_ANSWER = {"X_fit_", "dual_coef_", "eigenvectors_", "X_train_", "y_train_", "alpha_", "log_marginal_likelihood_value_", 
    "stats_", "absent_", "n_iter_", "labels_", "medoid_indices_", "outliers_", "n_passes_", "feature_names_in_", "history_", "estimators_",
    "others_", "final_estimator_", "best_estimator_", "regressor_", "transformer_", "oob_prediction_", "oob_decision_function_",
    "core_sample_indices_", "negative_outlier_factor_", "sample_indices_", "probabilities_", "held_out_scores_", "embedding_",
    "dist_matrix_", "dissimilarity_matrix_", "support_", "n_support_", "kkt_gap_",
    "low_rank_", "sparse_", "loglike_",
}  # fmt: skip
VERBS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples")


@dataclass
class Table:
    """Rows to learn from, with a target and whole-number weights from 0 to 3."""

    X: Array
    y: Array | None
    w: Array
    classes: Array | None = None
    new: Array = field(default_factory=lambda: np.empty(0))  # rows to predict

    @classmethod
    def of(cls, learner: Any, n: int = 60, p: int = 4, seed: int = 0) -> Table:
        """A table such as the learner wants: numbers or labels as target, or none."""
        rng = np.random.default_rng(seed)
        group = np.arange(n) % 3
        centers = rng.normal(size=(3, p)) * 2
        X = centers[group] + rng.normal(size=(n, p)) * rng.uniform(0.5, 2, p) + 5
        X = np.abs(X) if learner.nonnegative else X
        y: Array | None = None
        classes = None
        if learner.target == "real":
            y = in_range(learner, X @ rng.normal(size=p) + rng.normal(size=n))
        if learner.target == "label":
            classes = np.array(["blue", "green", "red"])
            y = classes[group]
        w = rng.integers(0, 4, n)
        new = X[:20] + rng.normal(size=(20, p))
        return cls(X, y, w, classes, new=np.abs(new) if learner.nonnegative else new)

    def rows(self, index: Any) -> Table:
        return replace(self, X=self.X[index], y=None if self.y is None else self.y[index], w=self.w[index])

    def with_X(self, X: Array, new: Array) -> Table:
        return replace(self, X=X, new=new)


@dataclass(frozen=True)
class Place:
    """Where a learner runs: an engine, and the rows of a block of a stream (None: the table in memory)."""

    engine: Any
    rows: int | None = None

    def fit(self, model: Any, table: Table, weighted: bool = False) -> Any:
        with tenfold.engine(self.engine):
            if self.rows is None:
                return model.fit(table.X, table.y, table.w if weighted else None)
            return model.fit(list(self.blocks(table, weighted)))

    def fitted(self, model: Any, table: Table) -> Any:
        """A fresh learner fitted here, which nobody may change."""
        return self.fit(made(model), table)

    def answers(self, model: Any, table: Table) -> dict[str, Any]:
        """Those of a fresh learner fitted here."""
        return answers(self.fitted(model, table), table.new)

    def blocks(self, table: Table, weighted: bool = False) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(table.X), self.rows or len(table.X)):
            part = table.rows(slice(start, start + (self.rows or len(table.X))))
            yield (part.X, part.y, part.w) if weighted else (part.X, part.y)

    def __str__(self) -> str:
        return f"{self.engine!r}-{'memory' if self.rows is None else f'{self.rows}-row'}"


def in_range(learner: Any, y: Array) -> Array:
    """Such numbers as targets that the learner takes: counts and amounts above zero, shares from 0 to 1."""
    least, most = learner.target_range
    if np.isinf(least):
        return y
    z = (y - y.mean()) / (y.std() or 1.0)
    return least + (np.exp(z) if np.isinf(most) else (most - least) / (1 + np.exp(-z)))


def made(model: Any) -> Any:
    """A fresh learner with the same parameters; those inside it are fresh too."""
    return fresh(model)


def answers(model: Any, rows: Array) -> dict[str, Any]:
    """All that a fitted learner says: its fitted attributes, and what its verbs make of some rows."""
    inside = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    told = {
        f"{i}.{name}": value
        for i, one in enumerate(inside)
        for name, value in vars(one).items()
        if name.endswith("_") and not name.startswith("_") and name not in NOT_AN_ANSWER
    }
    told.update({verb: getattr(model, verb)(rows) for verb in VERBS if hasattr(model, verb)})
    return told


def assert_answers(found: dict[str, Any], expected: dict[str, Any], *, rtol: float) -> None:
    """Equal up to `rtol` of the largest number in each answer; `rtol=0` means the same bits."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert_close(found[name], value, rtol=rtol, what=name)


def assert_close(found: Any, expected: Any, *, rtol: float, what: str) -> None:
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), what
        for a, b in zip(found, expected, strict=True):
            assert_close(a, b, rtol=rtol, what=what)
        return
    if isinstance(expected, Estimator):  # a fitted part: what it has learned
        for name in (key for key in vars(expected) if key.endswith("_") and key not in NOT_AN_ANSWER):
            assert_close(getattr(found, name), getattr(expected, name), rtol=rtol, what=f"{what}.{name}")
        return
    a, b = _plain(found), _plain(expected)
    assert a.shape == b.shape, f"{what}: shape {a.shape}, not {b.shape}"
    if b.dtype.kind not in "fc" or rtol == 0:
        assert a.dtype == b.dtype and np.array_equal(a, b, equal_nan=b.dtype.kind in "fc"), f"{what}: {a} is not {b}"
        return
    finite = b[np.isfinite(b)]
    scale = float(np.abs(finite).max(initial=0.0))
    np.testing.assert_allclose(a, b, rtol=0, atol=rtol * max(scale, 1e-3), err_msg=what)


def _plain(value: Any) -> Array:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def _state(model: Any) -> bytes:
    return pickle.dumps(model)


# --- the laws -----------------------------------------------------------------------------------------------


def blocking(model: Any, table: Table, place: Place) -> None:
    """How the rows are cut into blocks does not matter."""
    expected = replace(place, engine=tenfold.Local(), rows=None).answers(model, table)
    for rows in (1, 7, len(table.X)):
        assert_answers(replace(place, rows=rows).answers(model, table), expected, rtol=1e-9)


def same_bits(model: Any, table: Table, place: Place) -> None:
    """The same blocks give the same bits on every engine, and twice (`round_trips` fits twice in one place)."""
    expected = replace(place, engine=tenfold.Local()).answers(model, table)
    for _ in range(2 if (getattr(place.engine, "n", None) or 1) > 2 else 1):  # many threads meet in another order each time
        assert_answers(answers(place.fit(made(model), table), table.new), expected, rtol=0)


def row_order(model: Any, table: Table, place: Place) -> None:
    """The order of the rows does not matter."""
    order = np.random.default_rng(1).permutation(len(table.X))
    expected = place.answers(model, table)
    assert_answers(answers(place.fit(made(model), table.rows(order)), table.new), expected, rtol=1e-9)


def weight_zero_is_absence(model: Any, table: Table, place: Place) -> None:
    """A row of weight 0 is absent, whatever weights mean beyond that; where all others weigh alike, they weigh nothing special."""
    present = table.w > 0
    expected = answers(place.fit(made(model), table.rows(present)), table.new)  # not of the table that all laws share
    marked = replace(table, w=present.astype(np.int64))
    assert_answers(answers(place.fit(made(model), marked, weighted=True), table.new), expected, rtol=1e-9)


def weight_is_copies(model: Any, table: Table, place: Place) -> None:
    """A row of weight k is k rows; a row of weight 0 is absent."""
    copies = table.rows(np.repeat(np.arange(len(table.X)), table.w))
    expected = answers(place.fit(made(model), copies), table.new)
    assert_answers(answers(place.fit(made(model), table, weighted=True), table.new), expected, rtol=1e-9)


def partial_fit(model: Any, table: Table, place: Place) -> None:
    """Learning part by part is learning all."""
    expected = place.answers(model, table)
    assert_answers(answers(_by_parts(made(model), table, place), table.new), expected, rtol=1e-9)


def _by_parts(model: Any, table: Table, place: Place) -> Any:
    with tenfold.engine(place.engine), warnings.catch_warnings():
        warnings.simplefilter("ignore", TenfoldWarning)  # the first few rows may well be degenerate
        for start in range(0, len(table.X), 11):
            part = table.rows(slice(start, start + 11))
            model.partial_fit(part.X, part.y, **({} if table.classes is None else {"classes": table.classes}))
    return model


def merging(model: Any, table: Table, place: Place) -> None:
    """Two learners merged are one learner of the rows of both."""
    one, other = table.rows(slice(0, 20)), table.rows(slice(20, None))
    expected = place.answers(model, table)
    both = place.fit(made(model), one)
    second = place.fit(made(model), other)
    before = _state(second)
    assert both.merge(second) is both
    assert_answers(answers(both, table.new), expected, rtol=1e-9)
    assert _state(second) == before, "merge changed the learner it took from"


def forgetting(model: Any, table: Table, place: Place) -> None:
    """Forgetting rows is never having seen them."""
    gone, kept = table.rows(slice(0, 9)), table.rows(slice(9, None))
    expected = answers(place.fit(made(model), kept), table.new)
    whole = place.fit(made(model), table)
    with tenfold.engine(place.engine):
        assert whole.forget(gone.X, gone.y) is whole
    assert_answers(answers(whole, table.new), expected, rtol=1e-8)


def pure_predictions(model: Any, table: Table, place: Place) -> None:
    """Predictions change nothing, and those of a row do not depend on the rows around it."""
    fitted, rows = place.fit(made(model), table), table.new  # one that has predicted nothing yet
    before = _state(fitted)
    expected = {verb: _plain(value) for verb, value in answers(fitted, rows).items() if verb in VERBS}
    assert expected, "a learner must say something of new rows"
    for index in (slice(None), slice(None, None, -1), slice(3, 4), np.array([7, 2, 2])):
        found = answers(fitted, rows[index])
        for verb, value in expected.items():
            assert_close(found[verb], value[index], rtol=1e-12, what=verb)
    assert _state(fitted) == before, "a prediction changed the learner"


def round_trips(model: Any, table: Table, place: Place) -> None:
    """Parameters, repr, pickle and copies carry the whole learner."""
    text = repr(model)
    spaces = (tenfold, tenfold.kernels)
    again = eval(text, {name: getattr(space, name) for space in spaces for name in space.PUBLIC if f"{name}(" in text})
    assert repr(again) == text
    fitted = place.fit(made(model), table)
    assert repr(fitted) == text, "fit changed a parameter"
    expected = answers(fitted, table.new)
    assert_answers(answers(pickle.loads(pickle.dumps(fitted)), table.new), expected, rtol=0)
    unfitted = made(fitted)
    assert not unfitted.__sklearn_is_fitted__()
    assert_answers(answers(place.fit(unfitted, table), table.new), expected, rtol=0)
    assert_answers(answers(place.fit(fitted, table), table.new), expected, rtol=0)  # a second fit forgets the first


def saved(model: Any, table: Table, place: Place) -> None:
    """A saved learner loads equal, to the bit."""
    fitted, expected = place.fitted(model, table), place.answers(model, table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tenfold"
        tenfold.save(fitted, path)
        again = tenfold.load(path)
    assert repr(again) == repr(fitted)
    assert_answers(answers(again, table.new), expected, rtol=0)


def untouched_inputs(model: Any, table: Table, place: Place) -> None:
    """Inputs are never modified: rows that cannot be written to, in memory or in a mapped file, will do."""
    before = pickle.dumps((table.X, table.y, table.w, table.new))
    expected = answers(place.fit(made(model), table, weighted=True), table.new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, table.X)
        mapped = table.with_X(np.load(path, mmap_mode="r"), table.new.copy())
        for array in (mapped.new, mapped.w, mapped.y):
            if array is not None:
                array.flags.writeable = False
        try:
            found = answers(place.fit(made(model), mapped, weighted=True), mapped.new)
        finally:
            for array in (mapped.w, mapped.y):
                if array is not None:
                    array.flags.writeable = True
    assert_answers(found, expected, rtol=0)
    columns = table.with_X(np.asfortranarray(table.X), np.asfortranarray(table.new))
    assert_answers(answers(place.fit(made(model), columns, weighted=True), columns.new), expected, rtol=0)
    assert pickle.dumps((table.X, table.y, table.w, table.new)) == before, "an input was modified"


def single_precision(model: Any, table: Table, place: Place) -> None:
    """float32 rows give nearly what the same numbers give as float64: sums are float64 either way."""
    X, new = table.X.astype(np.float32), table.new.astype(np.float32)
    double = table.with_X(X.astype(np.float64), new.astype(np.float64))
    expected = answers(place.fit(made(model), double), double.new)
    found = answers(place.fit(made(model), table.with_X(X, new)), new)
    for verb in ("predict", "transform", "predict_proba"):
        if verb in found and expected[verb].dtype == np.float64:
            assert found[verb].dtype == np.float32, f"{verb} of float32 rows must be float32"
    assert_answers(found, expected, rtol=2e-5)


def column_order(model: Any, table: Table, place: Place) -> None:
    """Columns in another order give the same predictions; answers by columns come in the new order."""
    order = np.array([2, 0, 3, 1])
    one = place.fitted(model, table)
    two = place.fit(made(model), table.with_X(table.X[:, order], table.new))
    expected, found = dict(place.answers(model, table)), answers(two, table.new[:, order])
    for verb in VERBS:
        if verb in expected:
            names = list(one.get_feature_names_out()) if verb == "transform" else [""]
            if {"x0", "x1", "x2", "x3"}.issuperset(names):  # columns of the table, or some of them
                renamed = [f"x{order[int(name[1:])]}" for name in two.get_feature_names_out()]
                assert sorted(renamed) == sorted(names)
                expected[verb] = expected[verb][:, [names.index(name) for name in renamed]]
            assert_close(found[verb], expected[verb], rtol=1e-8, what=verb)


def bounded_memory(model: Any, table: Table, place: Place) -> None:
    """A stream of any length is learned in the memory of some of its blocks."""
    short = _peak(model, place, 40, 2000)
    if short < 0.5 * _bytes(40, 2000):
        return
    # A fixed amount, as a sketch or a sample has, may be more than a short stream: then what a longer one takes beyond that tells.
    if _peak(model, place, 80, 2000) - short < 0.5 * (_bytes(80, 2000) - _bytes(40, 2000)):
        return
    assert _peak(model, place, 120, 12000) < 0.5 * _bytes(120, 12000), "half of a stream, or more, was in memory"


def _bytes(blocks: int, rows: int, p: int = 4) -> int:
    return blocks * rows * p * 8


def _peak(model: Any, place: Place, blocks: int, rows: int) -> int:
    """The most memory of a fit to a stream, in bytes."""
    whole = Table.of(model, n=rows, seed=3)

    def stream() -> Iterator[tuple[Any, ...]]:
        for i in range(blocks):
            yield whole.X + 1e-3 * i, whole.y

    with tenfold.engine(place.engine), warnings.catch_warnings():
        warnings.simplefilter("ignore", TenfoldWarning)  # passes are limited: it is memory that counts here
        short = made(model)
        limits = [key for key, value in short.get_params().items() if key.endswith("max_iter") and value]
        short.set_params(**dict.fromkeys(limits, 2))
        tracemalloc.start()
        try:
            short.fit(stream)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def path(model: Any, table: Table, place: Place) -> None:
    """All values of the path parameter from one fit are what fits of their own give."""
    source = check_fit(made(model), table.X, table.y)
    values = _path_values(model)
    with tenfold.engine(place.engine):
        together = made(model)._fit_path(source, model.path, values)
        for value, found in zip(values, together, strict=True):
            alone = place.fit(made(model).set_params(**{model.path: value}), table)
            assert_answers(answers(found, table.new), answers(alone, table.new), rtol=1e-8)
            assert found.get_params()[model.path] == value, "it does not know its own parameter"


def _path_values(model: Any) -> list[Any]:
    """Some values around the one that the learner has, in no order."""
    now = model.get_params()[model.path]
    if isinstance(now, float):
        return [2 * now, now, 0.5 * now] if now else [0.01, 0.0, 0.1]
    return [3, 1, 2]


def sparse(model: Any, table: Table, place: Place) -> None:
    """Rows as CSR are the same rows."""
    X, new = table.X * (np.abs(table.X - 5) > 1), table.new * (np.abs(table.new - 5) > 1)
    expected = answers(place.fit(made(model), table.with_X(X, new)), new)
    found = answers(place.fit(made(model), table.with_X(csr_matrix(X), new)), csr_matrix(new))
    assert_answers(found, expected, rtol=1e-8)


def refuses_sparse(model: Any, table: Table, place: Place) -> None:
    """A learner that does not take CSR says so, with the remedy."""
    with pytest.raises(TenfoldError, match=r"(?i)sparse|dense"):
        place.fit(made(model), table.with_X(csr_matrix(table.X), table.new))


def missing(model: Any, table: Table, place: Place) -> None:
    """Missing values are taken in fit and afterwards; and rows without any get numbers for answers."""
    X, new = table.X.copy(), table.new.copy()
    X[::7, 1] = new[::3, 2] = np.nan
    fitted = place.fit(made(model), table.with_X(X, new))
    whole = {verb: value for verb, value in answers(fitted, table.new).items() if verb in VERBS}
    for verb, value in whole.items():
        assert value.dtype.kind not in "f" or not np.isnan(value).any(), f"{verb} of whole rows is missing"
        assert len(getattr(fitted, verb)(new)) == len(new)


def refuses_missing(model: Any, table: Table, place: Place) -> None:
    """A learner that does not take missing values names the first one."""
    X = table.X.copy()
    X[14, 1] = np.nan
    with pytest.raises(TenfoldError, match=r"NaN.*column.*row"):
        place.fit(made(model), table.with_X(X, table.new))
    fitted = place.fit(made(model), table)
    for verb in VERBS:
        if hasattr(fitted, verb):
            with pytest.raises(TenfoldError, match="NaN"):
                getattr(fitted, verb)(X)


def categories(model: Any, table: Table, place: Place) -> None:
    """Text goes in as it is; which text stands for which category does not matter."""
    names = np.array(["red", "green", "blue"])
    group = np.arange(len(table.X)) % 3
    frames = [_with_text(table.X, names[(group + shift) % 3]) for shift in (0, 1)]
    fits = [made(model).fit(frame, table.y) for frame in frames]
    for verb in VERBS:
        if hasattr(fits[0], verb) and verb != "transform":
            one, two = (getattr(fit, verb)(frame) for fit, frame in zip(fits, frames, strict=True))
            assert len(one) == len(two) == len(table.X)


def refuses_categories(model: Any, table: Table, place: Place) -> None:
    """A learner that does not take text names the column."""
    with pytest.raises(TenfoldError, match="colour"):
        made(model).fit(_with_text(table.X, np.array(["red", "green", "blue"])[np.arange(len(table.X)) % 3]), table.y)


def _with_text(X: Array, text: Array) -> Any:
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    frame["colour"] = text
    return frame


def several_targets(model: Any, table: Table, place: Place) -> None:
    """Several targets at once are what they are one by one."""
    assert table.y is not None
    two = np.column_stack([table.y, table.y[::-1]])
    both = place.fit(made(model), replace(table, y=two)).predict(table.new)
    for j in range(2):
        alone = place.fit(made(model), replace(table, y=np.ascontiguousarray(two[:, j]))).predict(table.new)
        assert_close(both[:, j], alone, rtol=1e-7, what=f"target {j}")


def refuses_several_targets(model: Any, table: Table, place: Place) -> None:
    """A learner of one target refuses two."""
    assert table.y is not None
    with pytest.raises(TenfoldError):
        place.fit(made(model), replace(table, y=np.column_stack([table.y, table.y])))


def cross_validation(model: Any, table: Table, place: Place) -> None:
    """What cross-validation says of held-out rows is what refits say of them, however it comes by it."""
    tests = np.array_split(np.random.default_rng(5).permutation(len(table.X)), 3)
    folds = [(np.setdiff1d(np.arange(len(table.X)), test), np.sort(test)) for test in tests]
    with tenfold.engine(place.engine):
        found = tenfold.cross_val_predict(made(model), table.X, table.y, folds=folds)
    for train, test in folds:
        alone = place.fit(made(model), table.rows(train)).predict(table.X[test])
        assert_close(found[test], alone, rtol=1e-7, what="held-out predictions")


LAWS: dict[str, Callable[[Any, Table, Place], None]] = {
    law.__name__: law
    for law in (
        blocking,
        same_bits,
        row_order,
        weight_zero_is_absence,
        weight_is_copies,
        partial_fit,
        merging,
        forgetting,
        pure_predictions,
        round_trips,
        saved,
        untouched_inputs,
        single_precision,
        column_order,
        bounded_memory,
        path,
        sparse,
        refuses_sparse,
        missing,
        refuses_missing,
        categories,
        refuses_categories,
        several_targets,
        refuses_several_targets,
        cross_validation,
    )
}
OFFERED = {"partial_fit": "partial_fit", "merging": "merge", "forgetting": "forget"}
PREDICTS = ("regressor", "classifier")

# Whether a learner says of itself what a law is about.
SAYS: dict[str, Callable[[Any], bool]] = {
    "bounded_memory": lambda model: model.kind != "keeps rows",
    "path": lambda model: model.path is not None,
    "sparse": lambda model: model.sparse,
    "refuses_sparse": lambda model: not model.sparse,
    "missing": lambda model: model.missing,
    "refuses_missing": lambda model: not model.missing,
    "categories": lambda model: model.categorical,
    "refuses_categories": lambda model: not model.categorical,
    "several_targets": lambda model: model.role == "regressor" and model.multi_output,
    "refuses_several_targets": lambda model: model.role in PREDICTS and not model.multi_output,
    "cross_validation": lambda model: model.role in PREDICTS,
}


def applies(law: str, model: Any) -> bool:
    """Whether the learner offers what the law is about."""
    return SAYS[law](model) if law in SAYS else hasattr(model, OFFERED.get(law, "fit"))
