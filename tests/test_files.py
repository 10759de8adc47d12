"""Saved models: what is saved comes back to the bit, what is damaged is refused, and nothing runs code."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from conftest import of_each
from golden.make import rows_for
from golden.make import table as golden_table
from laws import in_range
from mutants import make, without_code
from small_portfolio import shrink

import tenfold
from tenfold.base.estimator import Estimator
from tenfold.core.errors import BadFile, BadParameter, NotFitted
from tenfold.prepare.coder import TableCoder
from tenfold.saved import archive, kinds, statistics
from tenfold.saved.decoder import VERSION, Decoder
from tenfold.saved.encoder import Encoder

HERE = Path(__file__).parent
VERBS = ("predict", "predict_proba", "decision_function", "transform")
# Further settings that change which attributes a learner has.
MORE: dict[str, list[dict[str, Any]]] = {
    "LinearRegression": [{"positive": True}],
    "LinearDiscriminantAnalysis": [{"solver": "lsqr"}, {"solver": "eigen", "shrinkage": 0.1}],
    "QuadraticDiscriminantAnalysis": [{"store_covariance": True}],
    "StandardScaler": [{"with_std": False}, {"with_mean": False, "with_std": False}],
    "SimpleImputer": [{"strategy": "constant", "fill_value": 3.0}],
}


@cache
def public_learners() -> dict[str, Any]:
    public = {name: getattr(tenfold, name) for name in tenfold.PUBLIC if name[0].isupper()}
    return {name: cls for name, cls in public.items() if isinstance(cls, type) and issubclass(cls, Estimator)}


def settings_of(name: str) -> list[dict[str, Any]]:
    cls = public_learners()[name]
    return [cls._small_example(), *cls._examples()[1:], *MORE.get(name, [])]


def rows(seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(60, 4))


def given(name: str, seed: int = 0) -> Any:
    """Rows as the learner takes them: numbers, or texts that are written of them."""
    if name == "Pipeline" or public_learners()[name].accepts != "documents":
        return np.abs(rows(seed)) if name != "Pipeline" and public_learners()[name].nonnegative is True else rows(seed)
    return [" ".join(f"{'minus' if one < 0 else 'plus'} {abs(one):.1f}" for one in row) for row in rows(seed)]


def plain(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else value


def learner_of(name: str, which: int) -> Any:
    return _pipeline() if name == "Pipeline" else public_learners()[name](**settings_of(name)[which])


def targets(name: str, which: int = 0) -> list[Any]:
    """Targets that make attributes of different shapes: one and two columns, two and three classes."""
    score, learner = rows() @ [1.0, -2.0, 0.5, 0.0], learner_of(name, which)
    if learner.target == "real":
        score = in_range(learner, score)
        return [score, np.column_stack([score, score**2]) if learner.multi_output else score**2]
    return [np.where(score > 0, "up", "down").astype(object), np.digitize(score, [-1, 1])]


def cases_of(name: str) -> list[tuple[str, int, int]]:
    """Each setting of a learner with each of its targets."""
    return [(name, which, shape) for which in range(len(settings_of(name))) for shape in (0, 1)]


@cache
def fitted(name: str, which: int, shape: int) -> Any:
    """A learner in one of its settings, fitted to one of its targets; one that chooses among others among few."""
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch, 5, (5,))
        return learner_of(name, which).fit(given(name), targets(name, which)[shape])


def _pipeline() -> Any:
    inner = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.PCA(3))
    weights = {"up": 2.0, "down": 1.0, 0: 1.5, 1: 1.0, 2: 1.0}
    last = tenfold.LogisticRegression(class_weight=weights)
    return tenfold.make_pipeline(tenfold.SimpleImputer(), inner, last)


def assert_equal(a: Any, b: Any, name: str = "") -> None:
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, name
        if a.flags.c_contiguous or a.flags.f_contiguous:  # views come back as whole arrays
            assert a.flags.f_contiguous == b.flags.f_contiguous, name
        np.testing.assert_array_equal(a, b, err_msg=name)
    elif isinstance(a, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b), name
        for one, other in zip(a, b, strict=True):
            assert_equal(one, other, name)
    elif hasattr(a, "get_params"):
        assert type(a) is type(b), name
    elif type(a).__name__ == "Seen":  # what a pipeline remembers of its steps
        assert_equal(a.given, b.given, name)
    elif statistics.statistic_number(a) is not None:
        for field, value in statistics.fields_of(a).items():
            assert_equal(value, getattr(b, field), field)
    else:
        assert a == b or (a != a and b != b), name


def has_statistics(value: Any) -> bool:
    """Whether a learner, or one that it holds, keeps statistics."""
    if isinstance(value, (list, tuple)):
        return any(map(has_statistics, value))
    return hasattr(value, "get_params") and ("stats_" in vars(value) or any(map(has_statistics, vars(value).values())))


@pytest.mark.parametrize("name", public_learners())
def test_round_trip_of_every_learner(name: str, tmp_path: Path) -> None:
    of_each(cases_of(name), lambda case: check_round_trips(case, tmp_path))


def check_round_trips(case: tuple[str, int, int], tmp_path: Path) -> None:
    model, new = fitted(*case), given(case[0], 1)
    answers = {verb: plain(getattr(model, verb)(new)) for verb in VERBS if hasattr(model, verb)}
    for resumable in (False, True) if has_statistics(model) else (False,):
        check_round_trip(model, resumable, new, answers, tmp_path)
    if not has_statistics(model):
        with pytest.raises(BadParameter, match="keeps no statistics"):
            tenfold.save(model, tmp_path / "none.tenfold", resumable=True)
        assert not (tmp_path / "none.tenfold").exists()


def check_round_trip(model: Any, resumable: bool, new: Any, answers: dict[str, Any], tmp_path: Path) -> None:
    path, again = tmp_path / "m.tenfold", tmp_path / "again.tenfold"
    tenfold.save(model, path, resumable=resumable)
    loaded, twice = tenfold.load(path), tenfold.load(path)
    for verb, answer in answers.items():
        np.testing.assert_array_equal(plain(getattr(loaded, verb)(new)), answer)
        np.testing.assert_array_equal(plain(getattr(twice, verb)(new)), answer)
    dropped = set() if resumable else {"stats_"}
    assert set(vars(loaded)) == set(vars(model)) - dropped
    for name in vars(loaded):
        assert_equal(getattr(model, name), getattr(loaded, name), name)
    tenfold.save(loaded, again, resumable=resumable)
    assert again.read_bytes() == path.read_bytes()


def test_every_public_learner_has_a_number() -> None:
    assert set(public_learners()) <= set(kinds.NUMBER_OF_LEARNER)
    assert len(kinds.NUMBER_OF_LEARNER) == len(kinds.LEARNERS)


def test_names_classes_and_layout_come_back(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(rows(), columns=["Länge", "b", "c", "日本"])
    model = tenfold.LogisticRegression().fit(frame, rows()[:, 0] > 0)
    model.coef_ = np.asfortranarray(np.vstack([model.coef_] * 1))
    tenfold.save(model, tmp_path / "m")
    loaded = tenfold.load(str(tmp_path / "m"))
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    assert loaded.feature_names_in_.dtype == object
    assert loaded.classes_.dtype == bool
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    contents = tenfold.inspect(os.fsencode(tmp_path / "m"))
    assert (contents.kind, contents.n_features) == ("LogisticRegression", 4)
    assert contents.columns == list(frame.columns)


def test_resumable_files_go_on_where_they_were(tmp_path: Path) -> None:
    X, y = rows(), rows() @ [1.0, 2, 3, 4]
    model = tenfold.Ridge().fit(X[:30], y[:30])
    tenfold.save(model, tmp_path / "lean")
    tenfold.save(model, tmp_path / "full", resumable=True)
    assert not tenfold.inspect(tmp_path / "lean").resumable and tenfold.inspect(tmp_path / "full").resumable
    with pytest.raises(NotFitted, match="resumable=True"):
        tenfold.load(tmp_path / "lean").merge(model)
    resumed = tenfold.load(tmp_path / "full").partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(resumed.coef_, model.partial_fit(X[30:], y[30:]).coef_)


# Knots end at the least and the largest value of a column, scalers know extremes, categories are values: single ones, no rows.
SINGLE_VALUES = (
    "SplineTransformer", "OneHotEncoder", "OrdinalEncoder", "MinMaxScaler", "MaxAbsScaler", "DecimalScaler", "LogTransformer",
    "RobustScaler", "RankTransformer", "QuantileTransformer", "KBinsDiscretizer", "TargetEncoder", "Histogram", "HistogramNB",
    "MixedNB", "OutlierDetector", "CopulaDensity",
)  # fmt: skip


@pytest.mark.parametrize("name", public_learners())
def test_a_file_holds_no_training_rows_unless_it_says_so(name: str, tmp_path: Path) -> None:
    """A value of the training table is looked for in the bytes of the file."""
    of_each(cases_of(name), lambda case: check_training_rows(case, tmp_path))


def check_training_rows(case: tuple[str, int, int], tmp_path: Path) -> None:
    model = fitted(*case)
    resumable = hasattr(model, "stats_")
    tenfold.save(model, tmp_path / "lean")
    assert tenfold.inspect(tmp_path / "lean").holds_training_rows == (
        case[0] in ("KernelDensity", "KernelRegressor", "KernelRidge", "GaussianProcessRegressor", "Nystroem", "KernelPCA")
        or case[0] in ("Isomap", "LocallyLinearEmbedding", "ClassicalMDS", "MDS", "TSNE")
        or case[0] in ("GaussianProcessClassifier", "SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM")
        or case[0] == "SparseGaussianProcessRegressor"
        or case[0] in ("KMedoids", "DBSCAN", "HDBSCAN", "KNNImputer", "RankTransformer")
        or case[0] in ("CountVectorizer", "TfidfVectorizer")
        or (case[0] == "AgglomerativeClustering" and hasattr(model, "rows_"))
        or ("Neighbor" in case[0] and case[0] not in ("NeighborhoodComponentsAnalysis", "LargeMarginNearestNeighbor"))
        or case[0] == "LocalOutlierFactor"
    )
    if case[0] in SINGLE_VALUES or model.accepts == "documents":  # words, not numbers
        return
    tenfold.save(model, tmp_path / "full", resumable=resumable)
    data = (tmp_path / "full").read_bytes()
    found = any(value.tobytes() in data for value in rows().ravel())
    assert found == tenfold.inspect(tmp_path / "full").holds_training_rows


def test_rows_that_a_model_must_keep_are_told(tmp_path: Path) -> None:
    """With fewer rows than columns a PCA that can go on keeps the rows; one that cannot does not."""
    wide = np.random.default_rng(0).normal(size=(8, 20))
    model = tenfold.PCA(2).fit(wide[:5])
    for resumable in (False, True):
        tenfold.save(model, tmp_path / "m", resumable=resumable)
        assert tenfold.inspect(tmp_path / "m").holds_training_rows == resumable
    resumed = tenfold.load(tmp_path / "m").partial_fit(wide[5:])
    np.testing.assert_array_equal(resumed.components_, model.partial_fit(wide[5:]).components_)


def test_inspect_tells_what_is_inside(tmp_path: Path) -> None:
    model = _pipeline().fit(rows(), targets("Pipeline")[0])
    tenfold.save(model, tmp_path / "m")
    contents = tenfold.inspect(tmp_path / "m")
    assert contents.kind == "Pipeline" and contents.format_version == 1
    assert contents.parts == ["SimpleImputer", "StandardScaler", "PCA", "Pipeline", "LogisticRegression"]
    assert contents.size == (tmp_path / "m").stat().st_size
    assert contents.written_by == tenfold.__version__ and len(contents.sha256) == 64
    assert all(set(one) == {"dtype", "fortran", "shape", "sha256"} for one in contents.arrays)


def test_arrays_open_in_numpy(tmp_path: Path) -> None:
    model = tenfold.Ridge().fit(rows(), rows()[:, 0])
    tenfold.save(model, tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as archive, archive.open("0.npy") as file:
        np.testing.assert_array_equal(np.lib.format.read_array(file, allow_pickle=False), model.coef_)


# --- what cannot be saved ---


def test_what_cannot_be_saved_is_refused_in_words(tmp_path: Path) -> None:
    path, X = tmp_path / "m", rows()

    class Mine(tenfold.Ridge):  # type: ignore[misc, name-defined]
        pass

    with pytest.raises(NotFitted, match="not fitted"):
        tenfold.save(tenfold.Ridge(), path)
    with pytest.raises(BadFile, match="a Mine cannot be saved"):
        tenfold.save(Mine().fit(X, X[:, 0]), path)
    with pytest.raises(BadFile, match="a dict cannot be saved"):
        tenfold.save({}, path)
    started = tenfold.KMeans(2, init=lambda X, k, random_state: X[:k]).fit(X)
    with pytest.raises(BadFile, match=r"KMeans\.init is a function, which a file cannot hold"):
        tenfold.save(started, path)
    broken = tenfold.Ridge().fit(X, X[:, 0])
    broken.coef_ = broken.coef_[:2]
    with pytest.raises(BadFile, match="coef_ is not"):
        tenfold.save(broken, path)
    many = tenfold.Ridge(random_state=None).fit(X, X[:, 0]).set_params(solver="x" * 1_000_001)
    with pytest.raises(BadFile, match="over 1,000,000 bytes"):
        tenfold.save(many, path)
    assert list(tmp_path.iterdir()) == []


# --- writing whole or not at all ---


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, X = tmp_path / "m.tenfold", rows()
    tenfold.save(tenfold.Ridge().fit(X, X[:, 0]), path)
    before, other = path.read_bytes(), tenfold.Ridge(alpha=9.0).fit(X, X[:, 0])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))  # the disk is full after 500 bytes
    try:
        with pytest.raises(BadFile, match=r"m.tenfold: cannot be written \(File too large\)"):
            tenfold.save(other, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for name, error, told in (
        ("fsync", OSError(28, "No space left on device"), BadFile),
        ("replace", PermissionError(13, "Permission denied"), BadFile),
        ("fsync", KeyboardInterrupt(), KeyboardInterrupt),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, _raiser(error))
            with pytest.raises(told):
                tenfold.save(other, path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    tenfold.save(other, path)
    assert tenfold.load(path).alpha == 9.0 and list(tmp_path.iterdir()) == [path]


def _raiser(error: BaseException) -> Any:
    def fail(*_: Any) -> None:
        raise error

    return fail


def test_paths_that_cannot_be_used(tmp_path: Path) -> None:
    model = tenfold.Ridge().fit(rows(), rows()[:, 0])
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "missing" / "m", tmp_path / "file" / "m", tmp_path / "folder"):
        with pytest.raises(BadFile, match=f"{path}: cannot be written"):
            tenfold.save(model, path)
    for path, reason in (
        (tmp_path / "none", "No such file"),
        (tmp_path / "folder", "not a file"),
        (Path("/dev/zero"), "not a file"),
        (tmp_path / "file", "not a saved model"),
    ):
        with pytest.raises(BadFile, match=f"{path}: .*{reason}"):
            tenfold.load(path)
        with pytest.raises(BadFile, match=f"{path}: .*{reason}"):
            tenfold.inspect(path)


# --- mutants ---


def test_mutants_are_refused_or_load_equal(tmp_path: Path) -> None:
    """Over 1,000 damaged and forged files, in one child process without anything that could run code."""
    X, label = rows(), targets("GaussianNB")[0]
    qda = tenfold.QuadraticDiscriminantAnalysis().fit(X, label)
    models = {
        "ridge": tenfold.Ridge().fit(X, X[:, 0]),
        "qda": qda,
        "pipeline": _pipeline().fit(X, label),
        "kmeans": tenfold.KMeans(3, random_state=0).fit(X),
    }
    np.save(tmp_path / "rows.npy", X)
    seeds = []
    for name, model in models.items():
        path = tmp_path / f"{name}.good.tenfold"
        tenfold.save(model, path, resumable=name in ("ridge", "qda"))
        seeds.append((name, path.read_bytes()))
    made = make(tmp_path, seeds)
    assert made >= 1000
    command = [sys.executable, HERE / "mutants.py", tmp_path]
    child = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert child.returncode == 0, child.stderr[-2000:]
    found = json.loads(child.stdout)
    assert found["problems"] == [] and found["events"] == []
    assert found["tried"] == made and found["refused"] > 0.8 * made and found["slowest"] < 1
    assert not (tmp_path / "canary").exists()


def test_newer_versions_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Encoder.__init__

    def newer(self: Encoder, *given: Any) -> None:
        begin(self, *given)
        self.version = VERSION + 1

    monkeypatch.setattr(Encoder, "__init__", newer)
    tenfold.save(tenfold.Ridge().fit(rows(), rows()[:, 0]), tmp_path / "m")
    with pytest.raises(BadFile, match=f"format version {VERSION + 1}, newer than {VERSION}: update Tenfold"):
        tenfold.load(tmp_path / "m")


def test_columns_without_levels_are_counted(tmp_path: Path) -> None:
    """A table of many columns of numbers has a small header; few columns are written as version 1 has them."""
    for columns, version in ((99, 1), (8_000, 2)):
        frame = polars.DataFrame(np.arange(3.0 * columns).reshape(3, columns), schema=[f"x{i}" for i in range(columns)])
        coder = TableCoder().fit(frame)
        tenfold.save(coder, tmp_path / "m")
        assert tenfold.inspect(tmp_path / "m").format_version == version
        loaded = tenfold.load(tmp_path / "m")
        assert [one.shape for one in loaded.levels_] == [(0,)] * columns and {one.dtype for one in loaded.levels_} == {np.dtype(object)}
        np.testing.assert_array_equal(loaded.transform(frame), coder.transform(frame))


@pytest.mark.parametrize("count", [0, -1, 2**62, 100_001, True, 1.5, "3", None])
def test_counts_of_columns_without_levels_are_bounded(count: Any, tmp_path: Path) -> None:
    path = tmp_path / "m"
    tenfold.save(TableCoder().fit(polars.DataFrame(np.ones((3, 200)), schema=[f"x{i}" for i in range(200)])), path)
    with archive.opened(str(path)) as opened:
        decoder = Decoder(opened)
        with pytest.raises(BadFile):
            decoder.decoded([{"empty_texts": count}])
        assert len(decoder.decoded([{"empty_texts": 60_000}])) == 60_000
        with pytest.raises(BadFile, match="more than 100,000"):
            decoder.decoded([{"empty_texts": 60_000}])


# --- old files ---

FIRST: dict[str, Any] = json.loads((HERE / "golden" / "v1.json").read_text())
KINDS: dict[str, Any] = json.loads((HERE / "golden" / "v1-kinds.json").read_text())


def assert_says(model: Any, verb: str, rows: Any, wanted: Any) -> None:
    found = getattr(model, verb)(rows)
    found = found.toarray() if hasattr(found, "toarray") else found
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    else:
        assert found.tolist() == wanted


@pytest.mark.parametrize("file", [*FIRST, *KINDS])
def test_golden_files_load_for_ever(file: str) -> None:
    model = tenfold.load(HERE / "golden" / file)  # without_code needs what a load imports to be there already
    with without_code():
        model = tenfold.load(HERE / "golden" / file)
    if file in FIRST:
        assert_says(model, "predict", golden_table()[0], FIRST[file])
    for verb, wanted in KINDS.get(file, {}).items():
        assert_says(model, verb, rows_for(type(model).__name__), wanted)


def test_there_is_a_golden_file_for_every_kind() -> None:
    assert {*FIRST, *KINDS} == {path.name for path in HERE.glob("golden/*.tenfold")}
    missing = {f"v1-{name}.tenfold" for name in kinds.NUMBER_OF_LEARNER} - set(KINDS)
    assert not missing, "run python tests/golden/make.py"
