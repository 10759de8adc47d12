"""Files and streams give what the same rows in memory give, and say what is wrong with them."""

from __future__ import annotations

import gzip
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenfold
from tenfold.core.data import block_rows
from tenfold.sources.stream import is_dask, is_stream
from tenfold.sources.tables import is_path, open_files

NAMES = [f"x{j}" for j in range(6)]
N = 3 * block_rows(6) + 1234  # blocks of 16,384 rows, and a rest


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    X = rng.standard_normal((N, 6)) * 3 + 1
    words = np.array(["maybe", "no", "yes"])[(X[:, 0] > 1).astype(int) + (X[:, 1] > 1)]
    more = {
        "w": rng.integers(0, 3, N).astype(float),
        "y": X.sum(1) + rng.standard_normal(N),
        "z": X[:, 2] ** 2,
        "word": words,
        "code": rng.integers(-2, 3, N),
        "flag": X[:, 0] > 0,
    }
    return pl.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)} | more)


@pytest.fixture(scope="module")
def folder(frame: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The numbers of the table as Parquet in small row groups, as CSV, gzipped, and in odd parts."""
    folder, frame = tmp_path_factory.mktemp("tables"), frame.drop("word", "flag")
    frame.write_parquet(folder / "all.parquet", row_group_size=5000)
    frame.write_csv(folder / "all.csv")
    (folder / "all.csv.gz").write_bytes(gzip.compress((folder / "all.csv").read_bytes(), 1))
    cuts = [0, 1, 20_000, 20_003, N]
    for i in range(4):
        frame[cuts[i] : cuts[i + 1]].write_parquet(folder / f"part{i}.parquet")
    return folder


FILES: dict[str, Callable[[Path], Any]] = {
    "parquet": lambda folder: folder / "all.parquet",
    "csv": lambda folder: str(folder / "all.csv"),
    "gz": lambda folder: folder / "all.csv.gz",
    "pattern": lambda folder: str(folder / "part*.parquet"),
    "list": lambda folder: [folder / f"part{i}.parquet" for i in range(4)],
}


def only(folder: Path, columns: list[str], frame: pl.DataFrame, kind: str) -> Any:
    """A file of the kind with these columns only."""
    target = folder / f"{kind}-{'-'.join(columns)}.{'csv' if kind == 'csv' else 'parquet'}"
    getattr(frame.select(columns), "write_csv" if kind == "csv" else "write_parquet")(target)
    return target


# --- files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", FILES)
def test_a_file_gives_the_bits_of_memory(kind: str, threads: int, folder: Path, frame: pl.DataFrame) -> None:
    X, files = frame.drop("word", "flag", "y", "w"), FILES[kind](folder)
    expected = tenfold.Ridge().fit(X, frame["y"], sample_weight=frame["w"].to_numpy())
    with tenfold.threads(threads):
        found = tenfold.Ridge().fit(files, "y", sample_weight="w")
        predicted = found.predict(files)  # target and weights are there too, and are not looked at
    assert np.array_equal(found.coef_, expected.coef_)
    assert found.intercept_ == expected.intercept_
    assert list(found.feature_names_in_) == X.columns
    assert np.array_equal(predicted, expected.predict(X))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("target", ["word", "code", "flag"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_labels_of_any_type(kind: str, target: str, weight: str | None, folder: Path, frame: pl.DataFrame) -> None:
    file = only(folder, [*NAMES, target, *([weight] if weight else [])], frame, kind)
    found = tenfold.GaussianNB().fit(file, target, sample_weight=weight)
    w = None if weight is None else frame[weight].to_numpy()
    expected = tenfold.GaussianNB().fit(frame.select(NAMES), frame[target].to_numpy(), w)
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert found.classes_.dtype.kind == expected.classes_.dtype.kind
    assert np.array_equal(found.theta_, expected.theta_)
    assert np.array_equal(found.predict(file), expected.predict(frame.select(NAMES)))


@pytest.mark.parametrize("word", ["NA", "n/a", "nan", " ? ", "", " "])
@pytest.mark.parametrize("classes", [["0", "1"], ["a", "b"], ["true", "false"]])
def test_a_missing_label_of_a_csv_is_no_class(word: str, classes: list[str], tmp_path: Path) -> None:
    labels = [*classes, *classes, word, *classes]
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    with pytest.raises(tenfold.BadInput, match=r"Input y contains NaN in row 4 of 't.csv': drop the rows without a label first"):
        tenfold.GaussianNB().fit(tmp_path / "t.csv", "y")
    known = {"0": [0, 1], "a": ["a", "b"], "true": [False, True]}[classes[0]]  # no pass looks at the labels alone
    with pytest.raises(tenfold.BadInput, match=r"(Input y contains NaN|y is missing, or a label .*) in row 4 of 't.csv'"):
        tenfold.GaussianNB().partial_fit(tmp_path / "t.csv", "y", classes=known)


def test_labels_of_another_type_than_the_classes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,1\n3,x\n")
    with pytest.raises(tenfold.BadInput, match=r"labels in column 'y' of 't.csv' \(row 2: 'x'\) are not of the same type as the classes"):
        tenfold.GaussianNB().partial_fit(tmp_path / "t.csv", "y", classes=[0, 1])


def test_words_that_a_class_may_be_called_are_classes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n1,none\n2,x\n3,none\n4,x\n")
    assert tenfold.GaussianNB().fit(tmp_path / "t.csv", "y").classes_.tolist() == ["none", "x"]


def test_a_class_without_weight_is_absent(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.0, 2, 3, 4, 5], "y": ["p", "q", "p", "q", "r"], "w": [1, 1, 1, 1, 0]})
    frame.write_csv(tmp_path / "t.csv")
    assert tenfold.GaussianNB().fit(tmp_path / "t.csv", "y", sample_weight="w").classes_.tolist() == [
        "p",
        "q",
    ]


def test_several_targets(folder: Path, frame: pl.DataFrame) -> None:
    file = only(folder, [*NAMES, "y", "z"], frame, "parquet")
    found = tenfold.Ridge().fit(file, ["y", "z"])
    expected = tenfold.Ridge().fit(frame.select(NAMES), frame.select("y", "z").to_numpy())
    assert found.coef_.shape == (2, 6)
    assert np.array_equal(found.coef_, expected.coef_)


def test_without_target_and_labels_of_rows(folder: Path, frame: pl.DataFrame) -> None:
    file = only(folder, [*NAMES, "w"], frame, "parquet")
    found = tenfold.KMeans(3, random_state=0, n_init=1).fit(file, sample_weight="w")
    expected = tenfold.KMeans(3, random_state=0, n_init=1).fit(frame.select(NAMES), sample_weight=frame["w"].to_numpy())
    assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)
    assert np.array_equal(found.labels_, expected.labels_)  # of all rows, those of weight zero too
    left_out = tenfold.PCA(2).fit(only(folder, [*NAMES, "word"], frame, "csv"), "word")  # y is not a feature
    assert left_out.n_features_in_ == 6


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ((pl.Float32, pl.Float32), np.float32),
        ((pl.Float32, pl.Float64), np.float64),
        ((pl.Int8, pl.Float32), np.float32),
        ((pl.Int64, pl.Boolean), np.float64),
        ((pl.Decimal(10, 2), pl.UInt16), np.float64),
    ],
)
def test_types_of_columns(types: tuple[Any, Any], expected: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [0, 1, 1, 0], "b": [1, 1, 0, 0], "y": [1.0, 2.0, 3.0, 4.0]})
    frame = frame.with_columns(pl.col("a").cast(types[0]), pl.col("b").cast(types[1]))
    frame.write_parquet(tmp_path / "t.parquet")
    source = open_files(tenfold.Ridge(), tmp_path / "t.parquet", "y", None, None)
    block = source.load(next(iter(source.parts())))
    assert block.X.dtype == expected
    assert block.X.tolist() == [[0, 1], [1, 1], [1, 0], [0, 0]]
    assert block.X.flags.c_contiguous


def test_blanks_where_the_learner_takes_them(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n,4\nNA,6\nNaN,8\n5,0\n")
    found = tenfold.SimpleImputer().fit(tmp_path / "t.csv")
    assert found.statistics_.tolist() == [3, 4]


def test_partial_fit_from_files(folder: Path, frame: pl.DataFrame) -> None:
    whole = tenfold.GaussianNB().fit(frame.select(NAMES), frame["word"].to_numpy())
    model = tenfold.GaussianNB()
    for i, rows in enumerate((frame[:9000], frame[9000:])):
        file = only(folder, [*NAMES, "word"], rows, f"piece{i}")
        model.partial_fit(file, "word", classes=["yes", "no", "maybe"] if i == 0 else None)
    np.testing.assert_allclose(model.theta_, whole.theta_, rtol=1e-12, atol=0)
    (folder / "strange.csv").write_text(",".join([*NAMES, "word"]) + "\n1,2,3,4,5,6,never\n")
    with pytest.raises(tenfold.BadInput, match=r"not among the classes maybe, no, yes, in row 0 of 'strange.csv'"):
        model.partial_fit(folder / "strange.csv", "word")


def test_a_name_with_brackets_is_a_name(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1.0, 2.0], "y": [1.0, 2.0]}).write_csv(tmp_path / "t[1].csv")
    assert tenfold.Ridge().fit(tmp_path / "t[1].csv", "y").n_features_in_ == 1


BAD_CSV = {
    "text": (
        "a,b,y\n1,2,3\n1,oops,4\n",
        r"column 'b' of 't.csv' holds text \(row 1: 'oops'\): code it as numbers first",
    ),
    "late text": (
        "a,b,y\n" + "1,2,3\n" * 30000 + "1,2,zz\n",
        r"column 'y' of 't.csv' holds text \(row 30000: 'zz'\)",
    ),
    "blank": ("a,b,y\n1,2,3\n,2,4\n", r"NaN in column 'a', row 1 of 't.csv'"),
    "blank target": ("a,b,y\n1,2,3\n1,2,\n", r"Input y contains NaN in row 1 of 't.csv'"),
    "infinite": ("a,b,y\n1,2,3\n1,inf,4\n", r"inf in column 'b', row 1 of 't.csv'"),
    "no rows": ("a,b,y\n", "Found 0 sample"),
    "nothing": ("", "cannot be read"),
    "long row": ("a,b,y\n1,2,3\n1,2,3,4\n", r"'t.csv', line 3: 3 fields expected as in the header, 4 found"),
    "no such column": ("a,b,c\n1,2,3\n", "there is no column 'y' in 't.csv': the columns are a, b, c"),
    "target only": ("y\n1\n2\n", "no column left to learn from"),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_csv_is_told(case: str, threads: int, tmp_path: Path) -> None:
    text, message = BAD_CSV[case]
    (tmp_path / "t.csv").write_text(text)
    with tenfold.threads(threads), pytest.raises(tenfold.TenfoldError, match=message):
        tenfold.Ridge().fit(tmp_path / "t.csv", "y")


def test_bad_parquet_is_told(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    good = pl.DataFrame({"a": [1.0, 2, 3], "b": [None, None, "x"], "y": [1.0, 2, 3]})
    good.write_parquet(file)
    with pytest.raises(tenfold.BadInput, match=r"column 'b' of 't.parquet' holds String \(row 2: 'x'\)"):
        tenfold.Ridge().fit(file, "y")
    cases = {r"row 2: 'n/a'\): code it": ["1", "2", "n/a"], r"row 1: '2'\): these are numbers stored as text": [None, "2", "3"]}
    for words, texts in cases.items():
        good.with_columns(b=pl.Series(texts)).write_parquet(file)
        with pytest.raises(tenfold.BadInput, match=words):
            tenfold.Ridge().fit(file, "y")
    whole = file.read_bytes()
    for damaged in (b"", whole[:50], whole[:-9], b"not parquet at all"):
        file.write_bytes(damaged)
        with pytest.raises(tenfold.BadFile, match="cannot be read"):
            tenfold.Ridge().fit(file, "y")


def test_weights_are_checked(tmp_path: Path) -> None:
    for w, message in (
        ([1.0, -1.0], "row 1 of 't.parquet'"),
        ([1.0, None], "row 1 of 't.parquet'"),
        ([0.0, 0.0], "Found 0 sample"),
    ):
        pl.DataFrame({"a": [1.0, 2.0], "y": [1.0, 2.0], "w": w}).write_parquet(tmp_path / "t.parquet")
        with pytest.raises(tenfold.BadInput, match=message):
            tenfold.Ridge().fit(tmp_path / "t.parquet", "y", sample_weight="w")


def test_wrong_use_is_told(folder: Path, frame: pl.DataFrame, tmp_path: Path) -> None:
    ridge, file = tenfold.Ridge(), only(folder, [*NAMES, "y"], frame, "parquet")
    cases: list[tuple[Any, Any, Any, str]] = [
        (tmp_path / "gone.csv", "y", None, "there is no file"),
        (str(tmp_path / "gone*.csv"), "y", None, "no file matches"),
        (tmp_path, "y", None, "is a folder"),
        (Path(__file__), "y", None, "names end in .parquet"),
        (file, None, None, "requires y to be passed"),
        (file, np.zeros(3), None, "y is the name of a column"),
        (file, "y", np.zeros(3), "sample_weight is the name of a column"),
        (file, "y", "y", "target and weight at once"),
        ([file, only(folder, NAMES, frame, "parquet")], "y", None, "no column 'y' in"),
        (
            [file, only(folder, [*NAMES, "z", "y"], frame, "parquet")],
            "y",
            None,
            "has a column 'z' that the first file has not",
        ),
    ]
    for X, y, w, message in cases:
        with pytest.raises(tenfold.TenfoldError, match=message):
            ridge.fit(X, y, w)
    with pytest.raises(tenfold.BadInput, match=r"Unknown label type: continuous\. Row 0 of"):
        tenfold.GaussianNB().fit(file, "y")
    with pytest.raises(tenfold.BadInput, match="predicts one column"):
        tenfold.GaussianNB().fit(file, ["x0", "x1"])
    with pytest.raises(tenfold.BadInput, match="there is no column 'x5' in"):
        ridge.fit(file, "y").predict(only(folder, NAMES[:5], frame, "parquet"))
    unnamed = tenfold.Ridge().fit(np.ones((3, 2)), np.arange(3.0))
    with pytest.raises(tenfold.BadInput, match="expecting 2 features"):
        unnamed.predict(file)


MEMORY = """
    import sys, resource
    import numpy as np, pyarrow as pa, pyarrow.parquet as pq, polars, tenfold
    path, rng = sys.argv[1], np.random.default_rng(0)
    names = [f"x{j}" for j in range(20)] + ["y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        def write(rows):
            block = rng.standard_normal((21, 32_768))
            for _ in range(rows // 32_768):
                writer.write_table(pa.table([pa.array(column) for column in block], names=names))
        write(40 * 32_768)
    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    before = peak()
    tenfold.Ridge().fit(path, "y")
    print(peak() - before)
"""


def test_a_large_file_is_read_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "large.parquet"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEMORY), str(file)],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert file.stat().st_size > 200e6
    assert float(done.stdout) < 100, done.stderr  # MB, half of the file


# --- streams ------------------------------------------------------------------------------------------------


def rows_of(frame: pl.DataFrame, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return frame.select(NAMES).to_numpy()[:n], frame["y"].to_numpy()[:n], frame["w"].to_numpy()[:n]


def cut(X: np.ndarray, *more: np.ndarray, at: list[int]) -> list[tuple[np.ndarray, ...]]:
    edges = [0, *sorted(set(at)), len(X)]
    return [tuple(a[i:j] for a in (X, *more)) for i, j in pairwise(edges)]


def test_what_is_a_stream() -> None:
    X = np.ones((3, 2))
    table, frames = pl.DataFrame({"a": [1.0]}), [pl.DataFrame({"a": [1.0]}), pd.DataFrame({"a": [1.0]})]
    streams = [
        iter([X]),
        (X for _ in "ab"),
        lambda: [X],
        [X, X],
        [(X, [1, 2, 3])],
        ((X, [1], [1]),),
        frames,
        table.lazy(),
        table.to_arrow().to_reader(),
        {1: X}.values(),
    ]
    tables = [
        X,
        [[1, 2], [3, 4]],
        [(1, 2), (3, 4)],
        ((1, 2), (3, 4)),
        [],
        [1, 2],
        *frames,
        table.to_arrow(),
        "x.csv",
        None,
        3,
        [np.ones(2), np.ones(2)],
        {"a": [1]},
        {1, 2},
        range(3),
        X[:, 0],
        [[[1, 2], [3, 4]]],
    ]
    assert [is_stream(one) for one in streams] == [True] * len(streams)
    assert [is_stream(one) for one in tables] == [False] * len(tables)
    assert not any(is_dask(one) for one in (*streams, *tables))
    assert [is_path(one) for one in ("a", Path("a"), ["a", Path("b")], [], [1], ["a", 1], X)] == [True] * 3 + [
        False
    ] * 4


@given(at=st.lists(st.integers(1, 299), max_size=12))
@settings(max_examples=30, deadline=None)
def test_blocks_of_any_size_give_the_fit_of_the_table(at: list[int], frame: pl.DataFrame) -> None:
    X, y, w = rows_of(frame)
    expected = tenfold.Ridge().fit(X, y, w)
    found = tenfold.Ridge().fit(iter(cut(X, y, w, at=at)))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-11, atol=0)


@pytest.mark.parametrize("rows", [1, 3])
def test_small_blocks(rows: int, frame: pl.DataFrame) -> None:
    X, y, w = rows_of(frame)
    blocks = cut(X, y, w, at=list(range(0, 300, rows))[1:])
    assert len(blocks) == 300 // rows
    for model in (tenfold.Ridge(), tenfold.PCA(2), tenfold.StandardScaler()):
        found, expected = type(model)(**model.get_params()).fit(blocks), model.fit(X, y, w)
        for name in ("coef_", "explained_variance_", "var_"):
            if name in vars(expected):
                np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10, atol=0)


def test_a_long_block_has_the_bits_of_the_table(frame: pl.DataFrame) -> None:
    X, y, w = rows_of(frame, N)
    expected = tenfold.Ridge().fit(X, y, w)
    for threads in (1, 2):
        with tenfold.threads(threads):
            assert np.array_equal(tenfold.Ridge().fit([(X, y, w)]).coef_, expected.coef_)


def test_every_kind_of_stream(frame: pl.DataFrame) -> None:
    X, y, w = rows_of(frame)
    expected = tenfold.Ridge().fit(X, y, w)
    blocks, table = cut(X, y, w, at=[1, 70, 250]), frame.select(*NAMES, "y", "w")[:300]
    arrow = table.to_arrow()
    for stream in (
        blocks,
        tuple(blocks),
        iter(blocks),
        lambda: blocks,
        lambda: iter(blocks),
        dict(enumerate(blocks)).values(),
    ):
        np.testing.assert_allclose(tenfold.Ridge().fit(stream).coef_, expected.coef_, rtol=1e-11, atol=0)
    for named in (
        table.lazy(),
        arrow.to_reader(77),
        [table[:10], table[10:]],
        lambda: iter([table.to_pandas()]),
        arrow.to_batches(50),
    ):
        found = tenfold.Ridge().fit(named, "y", sample_weight="w")
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-11, atol=0)
        assert list(found.feature_names_in_) == NAMES
    for plain in (table.lazy(), arrow.to_reader(77), [table[:10], table[10:]], [table.select(NAMES)]):
        np.testing.assert_allclose(found.predict(plain), expected.predict(X), rtol=1e-10, atol=0)
    assert np.array_equal(
        expected.predict(iter(blocks)), expected.predict(X)
    )  # y and w in the blocks are not looked at


def test_read_once(frame: pl.DataFrame) -> None:
    X, y, _ = rows_of(frame)
    label = (y > 0).astype(int)
    blocks = cut(X, label, at=[100, 200])
    with pytest.raises(tenfold.BadInput, match=r"must know the classes .* partial_fit\(blocks, classes="):
        tenfold.GaussianNB().fit(iter(blocks))
    known = tenfold.GaussianNB().partial_fit(iter(blocks), classes=[0, 1])
    counted = tenfold.GaussianNB().fit(lambda: iter(blocks))
    assert np.array_equal(known.theta_, counted.theta_)
    assert counted.classes_.tolist() == [0, 1]
    with pytest.raises(tenfold.ReadOnce, match=r"several passes .* a function that returns a new iterator"):
        tenfold.KMeans(2).fit(iter(blocks))
    assert tenfold.KMeans(2, random_state=0, n_init=1).fit(lambda: iter(blocks)).labels_.shape == (300,)
    piped = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge())
    with pytest.raises(tenfold.ReadOnce, match="can be read only once"):
        piped.fit(iter(blocks))


def test_a_stream_is_read_block_by_block(frame: pl.DataFrame) -> None:
    """No more blocks are taken than threads can have in hand."""
    X, y, _ = rows_of(frame)
    taken, done = 0, 0
    most = 0

    def blocks() -> Iterator[Any]:
        nonlocal taken, most
        for _ in range(50):
            taken += 1
            most = max(most, taken - done)
            yield X, y

    class Counting(tenfold.Ridge):
        def _summarize(self, block: Any) -> Any:
            nonlocal done
            stats = super()._summarize(block)
            done += 1
            return stats

    with tenfold.threads(2):
        Counting().fit(blocks())
    assert (taken, done) == (50, 50)
    assert most <= 4


BAD_BLOCKS: dict[str, tuple[Callable[[np.ndarray, np.ndarray], Any], str]] = {
    "empty": (lambda X, y: iter([]), "there is no block to read"),
    "empty list from function": (lambda X, y: lambda: [], "there is no block to read"),
    "no iterator": (lambda X, y: lambda: 3, "must return an iterator of blocks, but returned int"),
    "no target": (lambda X, y: [(X,)], "block 0: Ridge requires y"),
    "four parts": (lambda X, y: iter([(X, y, y, y)]), "block 0: a block is X, .* has 4 parts"),
    "width": (
        lambda X, y: [(X, y), (X[:, :2], y)],
        "block 1: this block has 2 columns, but the first one has 6",
    ),
    "length": (lambda X, y: [(X, y), (X, y[:3])], "block 1: Found input variables with inconsistent"),
    "targets": (lambda X, y: [(X, y), (X, np.c_[y, y])], "block 1: y has 2 columns here and 1 in the first"),
    "weights": (lambda X, y: [(X, y), (X, y, -np.ones(len(y)))], "block 1: .*sample_weight is -1 in row 0"),
    "no weight": (lambda X, y: [(X, y, 0 * y), (X, y, 0 * y)], "Found 0 sample"),
    "nan": (
        lambda X, y: [(X, y), (np.where(np.arange(len(X))[:, None] == 7, np.nan, X), y)],
        "block 1: .*NaN in column 0, row 7",
    ),
    "1-D": (lambda X, y: iter([(X[:, 0], y)]), "block 0: Expected 2D array"),
    "text": (
        lambda X, y: [(X, y), (X.astype(str).astype(object) + "!", y)],
        "block 1: could not convert string to float",
    ),
    "no rows": (lambda X, y: [(X, y), (X[:0], y[:0])], r"block 1: Found array with 0 sample\(s\)"),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", BAD_BLOCKS)
def test_bad_blocks_are_told(case: str, threads: int, frame: pl.DataFrame) -> None:
    X, y, _ = rows_of(frame)
    made, message = BAD_BLOCKS[case]
    with tenfold.threads(threads), pytest.raises(tenfold.TenfoldError, match=message):
        tenfold.Ridge().fit(made(X, y))


def test_bad_use_of_streams_is_told(frame: pl.DataFrame) -> None:
    X, y, _ = rows_of(frame)
    table = frame.select(*NAMES, "y")[:300]
    once = iter([(X, y)])
    cases: list[tuple[Any, Any, str]] = [
        ([(X, y)], y, "y comes inside of them"),
        (lambda: once, None, "must return a new iterator each time"),
        ([(table, y)], "y", "block 0: the block brings a target, and y='y' names a column"),
        (
            [table, table.rename({"x0": "q"})],
            "y",
            "block 1: column 0 is 'q' here and 'x0' in the first block",
        ),
        ([X], "y", "block 0: y='y' names a column, but X is ndarray"),
    ]
    for stream, target, message in cases:
        with pytest.raises(tenfold.TenfoldError, match=message):
            tenfold.Ridge().fit(stream, target)
    with pytest.raises(tenfold.BadInput, match="numbers in one block and text in another"):
        tenfold.GaussianNB().fit([(X, (y > 0).astype(int)), (X, np.where(y > 0, "a", "b"))])
    with pytest.raises(tenfold.BadInput, match="block 1: this block has 2 columns"):
        tenfold.Ridge().fit(X, y).predict([X, X[:, :2]])


def test_an_array_that_starts_at_an_odd_byte(frame: pl.DataFrame) -> None:
    X, y, _ = rows_of(frame)
    shifted = np.frombuffer(b"x" + X.tobytes(), offset=1, dtype=np.float64).reshape(X.shape)
    assert not shifted.flags.aligned
    model = tenfold.Ridge().fit(shifted, y)
    assert np.array_equal(model.coef_, tenfold.Ridge().fit(X, y).coef_)
    assert np.array_equal(model.predict(shifted), model.predict(X))


def test_rows_of_weight_zero_have_a_label_too(frame: pl.DataFrame) -> None:
    X, y, w = rows_of(frame)
    found = tenfold.KMeans(2, random_state=0, n_init=1).fit(lambda: iter(cut(X, y, w, at=[100])))
    assert found.labels_.shape == (300,)


def test_a_record_batch_is_a_block(frame: pl.DataFrame) -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]})
    assert tenfold.Ridge().fit(iter([batch, batch]), "y").n_features_in_ == 1
