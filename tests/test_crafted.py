"""Crafted files, with right checksums: refused at once and in words, or a model that can do everything."""

from __future__ import annotations

import itertools
import os
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crafted import Crafted, Edit, edits
from golden.make import HERE, rows_for, table

import tenfold
from tenfold.app.commands import run
from tenfold.core.errors import BadFile, TenfoldError
from tenfold.evaluate import attributions

FILES = sorted(path.name for path in HERE.glob("v1-[A-Z]*.tenfold"))
BY_ROWS = (
    "predict", "predict_proba", "decision_function", "transform", "apply", "decision_path", "predict_quantiles",
    "predict_interval",
)  # fmt: skip
IN_WORDS = ("get_depth", "get_n_leaves", "export_text", "rules", "__repr__")
VALUES = ("feature_importances_", "estimators_", "calibrated_classifiers_", "drop_idx_", "infrequent_categories_")
LITTLE = 64 << 20  # bytes


def saved(model: Any, tmp_path: Path) -> Crafted:
    tenfold.save(model, tmp_path / "sound")
    return Crafted.of((tmp_path / "sound").read_bytes())


def written(file: Crafted, edit: Edit | None, tmp_path: Path) -> Path:
    path = tmp_path / "crafted"
    path.write_bytes(file.bytes() if edit is None else file.edited(edit))
    return path


def loaded(file: Crafted, edit: Edit | None, tmp_path: Path) -> Any:
    return tenfold.load(written(file, edit, tmp_path))


def use(model: Any, rows: Any, able: set[str] | None = None) -> set[str]:
    """Do all that the model can, or what is in `able`; returns what could be done without any error."""
    deeds: dict[str, Any] = {verb: lambda verb=verb: getattr(model, verb)(rows) for verb in BY_ROWS}
    deeds |= {name: lambda name=name: getattr(model, name)() for name in IN_WORDS}
    deeds |= {name: lambda name=name: getattr(model, name) for name in VALUES}
    deeds["staged_predict"] = lambda: list(model.staged_predict(rows))
    deeds["attributions"] = lambda: attributions(model, rows)
    if hasattr(model, "_names_out"):
        deeds["get_feature_names_out"] = lambda: model.get_feature_names_out()
    done = set()
    for name, deed in deeds.items():
        try:
            if able is None or name in able:
                deed()
                done.add(name)
        except BadFile:
            raise
        except TenfoldError:  # rows that such a model does not take
            pass
        except Exception:
            if able is not None:
                raise
    return done


@pytest.mark.parametrize("name", FILES)
def test_a_field_that_is_edited_is_refused_or_does_no_harm(name: str, tmp_path: Path) -> None:
    """A sample of all ways to spoil one field (with `TENFOLD_EXHAUSTIVE=1` each): the file is refused with little memory, or the model
    does what it did before."""
    file, rows = Crafted.of((HERE / name).read_bytes()), rows_for(name.split("-")[1].split(".")[0])
    warnings.simplefilter("ignore")
    able = use(loaded(file, None, tmp_path), rows)
    ways = list(edits(file))
    step = 1 if os.environ.get("TENFOLD_EXHAUSTIVE") else max(1, len(ways) // 10)
    for what, edit in itertools.islice(ways, len(name) % step, None, step):
        path = written(file, edit, tmp_path)
        tracemalloc.start()
        try:
            use(tenfold.load(path), rows, able)
        except BadFile as refusal:
            assert "crafted: " in str(refusal) and "\n" not in str(refusal), what
        except Exception as failure:
            raise AssertionError(f"{what}: {type(failure).__name__}: {failure}") from failure
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak < LITTLE, what


def sized(**fitted: Any) -> Edit:
    def edit(file: Crafted) -> None:
        file.model["fitted"].update(fitted)

    return edit


@pytest.mark.parametrize("size", [2**21, 2**28, 2**31 - 1, 2**62])
@pytest.mark.parametrize(
    "model",
    [
        tenfold.AnscombeTransformer(),
        tenfold.FunctionTransformer(),
        tenfold.make_pipeline(tenfold.FunctionTransformer(), tenfold.Ridge()),
        tenfold.HistGradientBoostingRegressor(max_iter=2),
        tenfold.DecisionTreeRegressor(max_depth=2),
        tenfold.PolynomialFeatures(2),
        tenfold.SplineTransformer(),
        tenfold.BaggingRegressor(tenfold.Ridge(), 2),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, int) else hex(one),
)
def test_sizes_are_bounded_by_what_is_there(model: Any, size: int, tmp_path: Path) -> None:
    X, y, _ = table()
    file = saved(model.fit(np.abs(X), y), tmp_path)
    names = {"n_features_in_", "n_output_features_", "n_features_out_"} & file.model["fitted"].keys()
    tracemalloc.start()
    try:
        for name in sorted(names):
            with pytest.raises(BadFile):
                loaded(file, sized(**{name: size}), tmp_path)
        assert tracemalloc.get_traced_memory()[1] < LITTLE // 8
    finally:
        tracemalloc.stop()


def test_parameters_that_make_columns_are_bounded_too(tmp_path: Path) -> None:
    file = saved(tenfold.PolynomialFeatures(2).fit(table()[0]), tmp_path)
    for degree in (3, 2**14, 2**15, 2**31, 2**62, {"tuple": [2**15, 2**15]}):
        with pytest.raises(BadFile):
            loaded(file, lambda file, degree=degree: file.model["params"].update(degree=degree), tmp_path)  # type: ignore[misc]
    encoder = saved(tenfold.OneHotEncoder().fit([["red"], ["blue"], ["green"]]), tmp_path)
    for levels in ([0, 1, 2**28, -1], [0, 1, 2**62, -1], [0, 0, 2, -1], [0, 1, 2], [-5, 0, 1, -1], [0, 1, 2, 3, 4]):
        wrong = np.array(levels, dtype=np.int64)
        if levels[0] == -5:
            wrong[1:] = [1, 2, 3]
        with pytest.raises(BadFile, match="levels of column 0"):
            loaded(encoder, lambda file, wrong=wrong: put(file, levels_=wrong), tmp_path)  # type: ignore[misc]


def put(file: Crafted, **arrays: Any) -> None:
    """Replace arrays by name, those of the outermost object that has them; of a list of arrays the first."""
    for name, array in arrays.items():
        file.arrays[file.array(name)] = array


# --- trees ---


def chain(depth: int, shared: bool = False) -> dict[str, Any]:
    """The nodes of a tree in which every left child is a leaf and every right one is split; or all children are shared."""
    n = 2 * depth + 1
    left, right = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    inner = np.arange(0, n - 1, 2)
    left[inner], right[inner] = inner + 1, inner + 2
    if shared:
        left[inner], right[inner] = inner + 2, inner + 2
    feature = np.where(left < 0, -2, 0).astype(np.int32)
    return dict(
        first=np.array([0, n]), children_left=left, children_right=right, feature=feature, threshold=np.arange(n) / n,
        missing_go_to_left=np.zeros(n, np.uint8), subset=np.full(n, -1), value=np.zeros((n, 1)), impurity=np.zeros(n),
        gain=np.ones(n), n_node_samples=np.ones(n, np.int64), weighted_n_node_samples=np.ones(n),
    )  # fmt: skip


def test_trees_whose_nodes_share_children_are_refused(tmp_path: Path) -> None:
    """Each node has one parent: otherwise 100 nodes have 2^50 ways down, and depths, paths, attributions and texts never end."""
    X, y, _ = table()
    file = saved(tenfold.DecisionTreeRegressor(max_depth=2).fit(X, y), tmp_path)
    with pytest.raises(BadFile, match="node 1 has not one parent"):
        loaded(file, lambda file: put(file, **chain(50, shared=True)), tmp_path)
    for child in (0, 2, 3, -2, 2**31 - 1):  # a cycle, itself, another's child, none, nowhere
        crafted = chain(4)
        crafted["children_right"][2] = child
        with pytest.raises(BadFile, match=r"parent|later nodes"):
            loaded(file, lambda file, crafted=crafted: put(file, **crafted), tmp_path)  # type: ignore[misc]
    orphan = chain(3)
    orphan["children_left"][4] = orphan["children_right"][4] = -1
    orphan["feature"][4] = -2
    with pytest.raises(BadFile, match="has not one parent"):
        loaded(file, lambda file: put(file, **orphan), tmp_path)


def test_trees_deeper_than_pythons_stack_can_do_everything(tmp_path: Path) -> None:
    X, y, _ = table()
    file = saved(tenfold.DecisionTreeRegressor(max_depth=2).fit(X, y), tmp_path)
    model = loaded(file, lambda file: put(file, **chain(1500)), tmp_path)
    assert model.get_depth() == 1500 and model.get_n_leaves() == 1501
    assert use(model, X[:4]) >= {"predict", "decision_path", "export_text", "rules", "attributions"}
    assert len(model.rules()) == 1501 and model.export_text(max_depth=3).count("\n") == 6


def test_splits_by_categories_need_categories(tmp_path: Path) -> None:
    X, y, _ = table()
    file = saved(tenfold.DecisionTreeRegressor(max_depth=2).fit(X, y), tmp_path)

    def edit(file: Crafted) -> None:
        subset = np.full(len(file.arrays[file.array("subset")]), -1)
        subset[0] = 0
        put(file, subset=subset, bits=np.array([1, 1], dtype=np.uint64))

    with pytest.raises(BadFile, match=r"categories of column \d, which has none"):
        loaded(file, edit, tmp_path)


# --- learners made of learners ---


def test_members_must_suit_the_whole(tmp_path: Path) -> None:
    X, _, label = table()
    boosted = saved(tenfold.AdaBoostClassifier(tenfold.GaussianNB(), n_estimators=2).fit(X, label), tmp_path)
    with pytest.raises(BadFile, match="knows other classes than 0 to 1"):
        loaded(boosted, lambda file: put(file, classes_=np.array(["high", "low"])), tmp_path)
    file = saved(tenfold.BaggingClassifier(tenfold.GaussianNB(), 2, random_state=0).fit(X, label), tmp_path)
    with pytest.raises(BadFile, match="another number of columns"):
        loaded(file, lambda file: put(file, estimators_features_=np.array([0, 1])), tmp_path)
    calibrated = tenfold.CalibratedClassifierCV(tenfold.GaussianNB(), cv=3).fit(X, label)
    with pytest.raises(BadFile, match="not a map for each member"):
        loaded(saved(calibrated, tmp_path), lambda file: file.model["params"].update(method="temperature"), tmp_path)


def test_texts_must_be_texts(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(table()[0], columns=["a", "b", "c"])
    file = saved(tenfold.StandardScaler().fit(frame), tmp_path)
    with pytest.raises(BadFile, match="where there must be texts"):
        loaded(file, lambda file: put(file, feature_names_in_=np.zeros(3)), tmp_path)


@pytest.mark.parametrize("names", [np.arange(3.0), np.array([["a", "b", "c"]]), "abc", 3, ["a", "b", "c"], {"map": []}])
def test_column_names_are_texts_to_inspect_too(names: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pandas

    file = saved(tenfold.StandardScaler().fit(pandas.DataFrame(table()[0], columns=["a", "b", "c"])), tmp_path)
    record = dict(file.model["fitted"]["feature_names_in_"])

    def edit(file: Crafted) -> None:
        if isinstance(names, np.ndarray):
            file.arrays[record["array"]] = names
            record.pop("texts") if names.dtype.kind == "f" else None
        file.model["fitted"]["feature_names_in_"] = record if isinstance(names, np.ndarray) else names

    path = written(file, edit, tmp_path)
    with pytest.raises(BadFile, match="feature_names_in_ is not text"):
        tenfold.inspect(path)
    assert run(["inspect", str(path)]) == 3 and "feature_names_in_ is not text" in capsys.readouterr().err


def test_counts_and_weights_are_those_of_what_is_there(tmp_path: Path) -> None:
    X, _, label = table()
    two = np.where(label == "high", "high", "low")
    logistic = saved(tenfold.LogisticRegression().fit(X, two), tmp_path)
    with pytest.raises(BadFile, match="coef_ is not"):
        loaded(logistic, lambda file: put(file, classes_=np.array(["high"])), tmp_path)
    pca = saved(tenfold.PCA(2).fit(X), tmp_path)
    with pytest.raises(BadFile, match="number of components"):
        loaded(pca, sized(n_components_=2**28), tmp_path)
    members = [("nb", tenfold.GaussianNB()), ("other", tenfold.GaussianNB())]
    voting = saved(tenfold.VotingClassifier(members, weights=[1, 2]).fit(X, label), tmp_path)
    for weights in ([[], 2], [1], [1, -2], ["x", 2]):
        with pytest.raises(BadFile):
            loaded(voting, lambda file, weights=weights: file.model["params"].update(weights=weights), tmp_path)  # type: ignore[misc]


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_nodes_of_endless_weight_have_words(tmp_path: Path) -> None:
    X, _, label = table()
    file = saved(tenfold.DecisionTreeClassifier(max_depth=1).fit(X, label), tmp_path)
    value = np.full(file.arrays[file.array("value")].shape, 1e308)
    assert "inf" in loaded(file, lambda file: put(file, value=value), tmp_path).export_text()


@pytest.mark.parametrize("name", ["KernelRidge", "KernelPCA", "Nystroem", "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_a_kernel_must_be_one_that_takes_the_rows(name: str, tmp_path: Path) -> None:
    X, _, label = table()
    y = label == "high"
    more = {"n_components": 5} if name == "Nystroem" else {}
    file = saved(getattr(tenfold, name)(kernel="rbf", gamma=0.1, **more).fit(X, y), tmp_path)
    for kernel in ("", "x", "\0", 3, "periodic"):
        with pytest.raises(BadFile, match=r"the kernel '.*' is n"):
            loaded(file, lambda file, kernel=kernel: file.model["params"].update(kernel=kernel), tmp_path)  # type: ignore[misc]
    scales = tenfold.kernels.Matern([1.0, 2.0, 3.0])
    file = saved(getattr(tenfold, name)(kernel=scales, **more).fit(X, y), tmp_path)
    assert loaded(file, None, tmp_path).kernel == scales

    def edit(file: Crafted) -> None:
        file.model["params"]["kernel"]["of"]["length_scale"] = [1.0, 2.0]

    with pytest.raises(BadFile, match="the kernel does not take the rows"):
        loaded(file, edit, tmp_path)
