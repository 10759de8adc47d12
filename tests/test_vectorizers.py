"""Texts as rows: equal to scikit-learn's, on every route, and bad documents refused by their row."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction import text as theirs

import tenfold
from tenfold.core.errors import BadInput, BadParameter, BadType, CannotForget, DataWarning, Degenerate, TenfoldError
from tenfold.text import tfidf

rng = np.random.default_rng(0)
PROSE = "spam Ham the and offer Größe naïve привет a e-mail 2024 3.5 İstanbul x_1 שלום"
WORDS = np.array(PROSE.split())
TEXTS = [" ".join(rng.choice(WORDS, int(rng.integers(0, 12)))) + str(rng.choice(["", "!", ".\n\n", " 💥 "])) for _ in range(120)]
LABELS = np.array(["spam" if "spam" in one else "ham" for one in TEXTS])
OURS = {name: getattr(tenfold, name) for name in ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer")}
SHARED: list[dict[str, Any]] = [
    {}, {"lowercase": False}, {"strip_accents": "unicode"}, {"strip_accents": "ascii"}, {"ngram_range": (1, 3)}, {"ngram_range": (2, 2)},
    {"analyzer": "char", "ngram_range": (1, 4)}, {"analyzer": "char_wb", "ngram_range": (2, 5)}, {"analyzer": str.split}, {"binary": True},
    {"stop_words": ["the", "and"]}, {"token_pattern": r"(?u)\b\w+\b"}, {"token_pattern": r"[a-z]+"},
    {"tokenizer": str.split, "token_pattern": None}, {"preprocessor": str.upper}, {"analyzer": list},
    {"stop_words": ["the"], "ngram_range": (1, 2)},
]  # fmt: skip
OWN: dict[str, list[dict[str, Any]]] = {
    "CountVectorizer": [
        {"min_df": 5}, {"max_df": 0.3}, {"min_df": 0.1, "max_df": 60}, {"max_features": 4}, {"vocabulary": ["spam", "offer", "ham"]},
        {"vocabulary": {"spam": 1, "ham": 0, "zebra": 2}}, {"dtype": np.float32}, {"max_features": 3, "binary": True},
    ],
    "TfidfVectorizer": [
        {"norm": "l1"}, {"norm": None}, {"use_idf": False}, {"smooth_idf": False}, {"sublinear_tf": True}, {"min_df": 3},
        {"dtype": np.float32}, {"vocabulary": ["spam", "offer", "ham"]},
    ],
    "HashingVectorizer": [
        {"n_features": 7}, {"dtype": np.int64}, {"norm": "l1"}, {"norm": None}, {"alternate_sign": False},
        {"n_features": 5, "binary": True},
    ],
}  # fmt: skip
CASES = [(name, setting) for name in OURS for setting in SHARED + OWN[name]]


def ids(case: Any) -> str:
    return f"{case[0]}-{case[1]}"


@pytest.mark.parametrize("case", CASES, ids=ids)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_equal_to_scikit_learn(case: tuple[str, dict[str, Any]]) -> None:
    name, setting = case
    ours, reference = OURS[name](**setting), getattr(theirs, name)(**setting)
    found, expected = ours.fit_transform(TEXTS), reference.fit_transform(TEXTS)
    expected.sort_indices()
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    tight = 1e-6 if found.dtype == np.float32 else 1e-14
    np.testing.assert_allclose(found.data, expected.data, rtol=tight, atol=0)
    new = ["spam and zebra", "", "HAM ham", TEXTS[3]]
    np.testing.assert_allclose(ours.transform(new).toarray(), reference.transform(new).toarray(), rtol=tight, atol=0)
    if name != "HashingVectorizer":
        assert ours.vocabulary_ == {term: int(j) for term, j in reference.vocabulary_.items()}
        assert ours.get_feature_names_out().tolist() == reference.get_feature_names_out().tolist()
        assert [set(one) for one in ours.inverse_transform(found)] == [set(one) for one in reference.inverse_transform(expected)]


def test_tfidf_of_counts_is_that_of_scikit_learn() -> None:
    counts = tenfold.CountVectorizer().fit_transform(TEXTS)
    for setting in ({}, {"norm": "l1"}, {"norm": None, "sublinear_tf": True}, {"use_idf": False}, {"smooth_idf": False}):
        for X in (counts, counts.toarray().astype(np.float64), counts.tocsc().astype(np.float32)):
            ours, reference = tenfold.TfidfTransformer(**setting).fit(X), theirs.TfidfTransformer(**setting).fit(X)
            np.testing.assert_allclose(ours.transform(X).toarray(), reference.transform(X).toarray(), rtol=1e-6, atol=0)
    with pytest.warns(Degenerate, match="no row has column 1"):
        tenfold.TfidfTransformer(smooth_idf=False).fit([[1.0, 0.0]])


# --- every route ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [tuple, np.array, lambda x: np.array(x, dtype=object), pandas.Series, polars.Series, iter, lambda x: pandas.DataFrame({"text": x}),
     lambda x: polars.DataFrame({"text": x}), lambda x: np.array(x)[:, None], lambda x: [one.encode() for one in x],
     lambda x: (one for one in x), lambda x: polars.Series(x).to_arrow()],
    ids=["tuple", "array", "objects", "pandas", "polars", "iterator", "frame", "polars frame", "column", "bytes", "generator", "arrow"],
)  # fmt: skip
def test_containers(given: Any) -> None:
    for name in OURS:
        expected, found = OURS[name]().fit_transform(TEXTS), OURS[name]().fit_transform(given(TEXTS))
        assert (expected != found).nnz == 0
        assert (OURS[name]().fit(TEXTS).transform(given(TEXTS)) != expected).nnz == 0


def blocks(size: int) -> Iterator[list[str]]:
    for start in range(0, len(TEXTS), size):
        yield TEXTS[start : start + size]


@pytest.mark.parametrize("engine", [tenfold.Local(), tenfold.Threads(3)], ids=["local", "threads"])
@pytest.mark.parametrize("size", [1, 7, 50])
def test_streams_are_one_list(size: int, engine: Any) -> None:
    for name in OURS:
        expected = OURS[name](min_df=2).fit(TEXTS) if name != "HashingVectorizer" else OURS[name]()
        with tenfold.engine(engine):
            for stream in (list(blocks(size)), lambda: blocks(size), [(np.array(one), None) for one in blocks(size)], blocks(size)):
                model = OURS[name](**({} if name == "HashingVectorizer" else {"min_df": 2})).fit(stream)
                assert (model.transform(TEXTS) != expected.transform(TEXTS)).nnz == 0
            assert (model.transform(lambda: blocks(size)) != expected.transform(TEXTS)).nnz == 0
        if name == "TfidfVectorizer":
            np.testing.assert_array_equal(model.idf_, expected.idf_)


def test_a_column_of_dask() -> None:
    frame = pytest.importorskip("dask.dataframe").from_pandas(pandas.DataFrame({"text": TEXTS}), npartitions=4)
    for name in OURS:
        expected = OURS[name]().fit(TEXTS)
        model = OURS[name]().fit(frame["text"])
        assert (model.transform(frame["text"]) != expected.transform(TEXTS)).nnz == 0


@pytest.mark.parametrize("kind", [tenfold.CountVectorizer, tenfold.TfidfVectorizer])
def test_learning_on_merging_and_forgetting(kind: Any) -> None:
    expected = kind(min_df=3).fit(TEXTS)
    parts = kind(min_df=3)
    for one in blocks(17):
        parts.partial_fit(one)
    merged = kind(min_df=3).fit(TEXTS[:50]).merge(kind(min_df=3).fit(TEXTS[50:]))
    for model in (parts, merged):
        assert model.vocabulary_ == expected.vocabulary_ and (model.transform(TEXTS) != expected.transform(TEXTS)).nnz == 0
    left = kind(min_df=3).fit(TEXTS).forget(TEXTS[:30])
    again = kind(min_df=3).fit(TEXTS[30:])
    assert left.vocabulary_ == again.vocabulary_
    np.testing.assert_allclose(left.transform(TEXTS).toarray(), again.transform(TEXTS).toarray(), rtol=1e-12, atol=0)
    with pytest.raises(CannotForget, match="more documents"):
        left.forget(["never seen before"])


def test_weights_are_copies() -> None:
    w = rng.integers(0, 3, len(TEXTS))
    copies = np.repeat(np.array(TEXTS, dtype=object), w)
    weighted, repeated = tenfold.TfidfVectorizer(min_df=2).fit(TEXTS, sample_weight=w), tenfold.TfidfVectorizer(min_df=2).fit(copies)
    assert weighted.vocabulary_ == repeated.vocabulary_
    np.testing.assert_allclose(weighted.idf_, repeated.idf_, rtol=1e-12)
    rows = tenfold.TfidfVectorizer(min_df=2).fit_transform(TEXTS, sample_weight=w)
    assert rows.shape[0] == len(TEXTS)


@pytest.mark.parametrize("name", OURS)
def test_saved_pickled_and_copied(name: str, tmp_path: Path) -> None:
    for setting in ({}, {"ngram_range": (1, 2), "stop_words": {"the", "and"}, "dtype": np.float32}):
        model = OURS[name](**setting).fit(TEXTS)
        tenfold.save(model, tmp_path / "m")
        for again in (tenfold.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
            assert (again.transform(TEXTS) != model.transform(TEXTS)).nnz == 0
    odd = tenfold.CountVectorizer(analyzer="char").fit(["a\0", "\ud800 ä", "\U0001f4a5"])
    tenfold.save(odd, tmp_path / "odd", resumable=True)
    assert tenfold.load(tmp_path / "odd").vocabulary_ == odd.vocabulary_ and "\ud800" in odd.vocabulary_
    assert tenfold.load(tmp_path / "odd").partial_fit(["b"]).vocabulary_ == odd.partial_fit(["b"]).vocabulary_
    given = tenfold.CountVectorizer(vocabulary=[f"w{i}" for i in range(3000)]).fit(["w1 w2"])
    tenfold.save(given, tmp_path / "given")
    assert tenfold.load(tmp_path / "given").vocabulary_ == given.vocabulary_
    with pytest.raises(TenfoldError, match="analyzer is a"):
        tenfold.save(OURS[name](analyzer=str.split).fit(TEXTS), tmp_path / "f")


def test_pipelines_and_cross_validation_learn_of_training_rows_only() -> None:
    seen: list[int] = []

    class Watched(tenfold.TfidfVectorizer):
        def fit_transform(self, raw_documents: Any, y: Any = None, sample_weight: Any = None) -> Any:
            seen.append(len(raw_documents))
            return super().fit_transform(raw_documents, y, sample_weight)

    model = tenfold.make_pipeline(tenfold.TfidfVectorizer(), tenfold.LogisticRegression())
    result = tenfold.cross_validate(model, TEXTS, LABELS, folds=5)
    assert result.mean > 0.9 and result.scores.shape[-1] == 5
    tenfold.cross_validate(tenfold.make_pipeline(Watched(), tenfold.LogisticRegression()), TEXTS, LABELS, folds=5)
    assert seen and max(seen) == 96
    fitted = model.fit(TEXTS, LABELS)
    assert set(fitted.predict(["spam spam", "the"]).tolist()) <= {"spam", "ham"}
    search = tenfold.GridSearchCV(model, {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)]}, cv=3).fit(TEXTS, LABELS)
    assert search.best_score_ > 0.9


def test_a_saved_pipeline_of_texts(tmp_path: Path) -> None:
    for first in (tenfold.TfidfVectorizer(), tenfold.HashingVectorizer(n_features=64), tenfold.CountVectorizer()):
        model = tenfold.make_pipeline(first, tenfold.LogisticRegression()).fit(TEXTS, LABELS)
        tenfold.save(model, tmp_path / "m")
        assert (tenfold.load(tmp_path / "m").predict(TEXTS) == model.predict(TEXTS)).all()


def test_a_column_of_a_frame() -> None:
    frame = pandas.DataFrame({"text": TEXTS, "size": [float(len(one)) for one in TEXTS]})
    columns = tenfold.ColumnTransformer([("words", tenfold.TfidfVectorizer(), "text"), ("size", tenfold.StandardScaler(), ["size"])])
    for table in (frame, polars.DataFrame(frame)):
        made = columns.fit(table).transform(table)
        assert made.shape == (len(TEXTS), len(tenfold.TfidfVectorizer().fit(TEXTS).vocabulary_) + 1)
        assert "words__spam" in columns.get_feature_names_out()
    model = tenfold.make_pipeline(columns, tenfold.LogisticRegression())
    assert tenfold.cross_validate(model, frame, LABELS, folds=4).mean > 0.9


# --- cleaning --------------------------------------------------------------------------------------------------------


def test_cleaning() -> None:
    text = "<p class='x'>The 25 cats&nbsp;ate 1,000.50 of 3rd-rate fish<br/></p>"
    assert tenfold.CountVectorizer().build_analyzer()(text)[0] == "class"
    stripped = tenfold.CountVectorizer(strip_html=True).fit([text])
    assert stripped.get_feature_names_out().tolist() == ["000", "25", "3rd", "50", "ate", "cats", "fish", "of", "rate", "the"]
    clean = tenfold.CountVectorizer(strip_html=True, drop_numbers=True, stop_words="english").fit([text])
    assert clean.get_feature_names_out().tolist() == ["3rd", "ate", "cats", "fish", "rate"]


def test_native_and_python_take_texts_apart_alike() -> None:
    """What native code counts is what the functions of a document say, which can be asked for one by one."""
    for setting in SHARED:
        model = tenfold.CountVectorizer(**setting)
        analyze, found = model.build_analyzer(), model.fit_transform(TEXTS)
        for row, text in zip(found, TEXTS, strict=True):
            terms = analyze(text)
            assert {one: n for one, n in zip(model.get_feature_names_out()[row.indices], row.data, strict=True)} == {
                one: 1 if model.binary else terms.count(one) for one in terms
            }


# --- what cannot be --------------------------------------------------------------------------------------------------

BAD: list[tuple[Any, str]] = [
    (["a text", None], "row 1 is missing"),
    (["a text", float("nan")], "row 1 is missing"),
    (pandas.Series(["a text", "b text", None]), "row 2 is missing"),
    (polars.Series(["a text", None]), "row 1 is missing"),
    (["a text", 3], "row 1 is a int"),
    (np.array([1.0, 2.0]), "row 0 is a float"),
    ([[["a text"]], ["b"]], "row 0 is a list"),
    ("one text", "string object received"),
    (b"bytes", "string object received"),
    (3, "one a row"),
    (pandas.DataFrame({"a": ["x"], "b": ["y"]}), r"shape \(1, 2\)"),
    ([["a text"], ["b text", None]], "row 2 is missing"),
]


@pytest.mark.parametrize(("documents", "message"), BAD, ids=[one[1] for one in BAD])
def test_bad_documents_are_refused_by_their_row(documents: Any, message: str) -> None:
    for name in OURS:
        for verb in ("fit", "transform"):
            model = OURS[name]() if verb == "fit" and name != "HashingVectorizer" else OURS[name]().fit(["a text"])
            with pytest.raises(BadInput, match=message):
                getattr(model, verb)(documents) if name != "HashingVectorizer" else model.transform(documents)


@pytest.mark.parametrize("kind", [tenfold.CountVectorizer, tenfold.TfidfVectorizer])
def test_empty_vocabularies(kind: Any) -> None:
    for documents in ([], iter([]), ["", " "], ["a b"]):
        with pytest.raises(BadInput, match=r"no document|empty vocabulary"):
            kind().fit(documents)
        with pytest.raises(BadInput, match=r"no document|empty vocabulary"):
            kind().fit_transform(documents if isinstance(documents, list) else iter([]))
    with pytest.raises(BadInput, match="After pruning"):
        kind(min_df=2).fit(["one text", "two words"])
    assert kind().fit(["one text"]).transform([]).shape == (0, 2)
    assert kind().fit(["one text"]).transform(["", "unseen"]).nnz == 0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"ngram_range": (2, 1)}, "lower boundary larger"), ({"ngram_range": (0, 1)}, "at least 1"),
        ({"ngram_range": 2}, "two whole numbers"), ({"analyzer": "sentence"}, "must be 'word'"),
        ({"stop_words": "german"}, "built-in stop list"), ({"stop_words": 3}, "list of words"),
        ({"strip_accents": "some"}, "strip_accents"),
        ({"preprocessor": 1}, "function or None"), ({"tokenizer": "x"}, "function or None"),
        ({"token_pattern": "("}, "no regular expression"),
        ({"token_pattern": "(a)(b)"}, "More than 1 capturing group"), ({"dtype": "colour"}, "type of numbers"),
        ({"input": "web"}, "one of"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters(setting: dict[str, Any], message: str) -> None:
    for name in OURS:
        with pytest.raises(BadParameter, match=message):
            OURS[name](**setting).fit_transform(["some text"])


def test_bad_limits_and_vocabularies() -> None:
    for setting, message in (
        ({"max_df": 1.5}, "share of at most 1.0"), ({"min_df": -1}, ">= 0"), ({"max_df": 1, "min_df": 2}, "max_df corresponds"),
        ({"vocabulary": "abc"}, "list of terms"), ({"vocabulary": [1, 2]}, "terms must be texts"),
        ({"vocabulary": ["a", "a"]}, "Duplicate term"),
    ):  # fmt: skip
        with pytest.raises(BadParameter, match=message):
            tenfold.CountVectorizer(**setting).fit(["some text", "some more"])
    with pytest.raises(BadType, match="analyzer gives 1"):
        tenfold.CountVectorizer(analyzer=lambda doc: [1, 2]).fit(["a"])
    with pytest.raises(BadType, match="let preprocessor give a text"):
        tenfold.CountVectorizer(preprocessor=lambda doc: 3).fit(["a"])
    with pytest.warns(DataWarning, match="inconsistent"):
        tenfold.CountVectorizer(stop_words=["you've"]).fit(["you"])


def test_odd_texts() -> None:
    odd = ["\0nul\0", "\ud800lone\udfff", "e\u0301te\u0301", "שלום עולם", "مرحبا بالعالم", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "a" * 200_000, "ǅ ßß ﬁﬁ"]
    odd.append("\r\n\t\x0b\x1c\x85\u2028")
    for setting in ({}, {"analyzer": "char_wb", "ngram_range": (1, 3)}, {"ngram_range": (1, 2)}):
        ours, reference = tenfold.CountVectorizer(**setting), theirs.CountVectorizer(**setting)
        found, expected = ours.fit_transform(odd), reference.fit_transform(odd)
        assert ours.vocabulary_ == reference.vocabulary_ and (found != expected).nnz == 0


def test_files_of_texts(tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.txt" for i in range(3)]
    for path, text in zip(paths, TEXTS, strict=False):
        path.write_text(text, encoding="utf-8")
    expected = tenfold.CountVectorizer().fit_transform(TEXTS[:3])
    assert (tenfold.CountVectorizer(input="filename").fit_transform(paths) != expected).nnz == 0
    assert (tenfold.CountVectorizer(input="file").fit_transform([io.StringIO(one) for one in TEXTS[:3]]) != expected).nnz == 0
    with pytest.raises(UnicodeDecodeError):
        tenfold.CountVectorizer(encoding="ascii").fit(["ä".encode()])
    assert tenfold.CountVectorizer(encoding="ascii", decode_error="ignore").fit(["äab".encode()]).vocabulary_ == {"ab": 0}


@pytest.mark.parametrize("norm,sublinear", [("l1", False), ("l2", True), (None, True)])
def test_weights_are_the_same_a_few_values_at_a_time(norm: Any, sublinear: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are empty, and rows longer than what is weighed at a time; counts of the user stay as they are."""
    rng = np.random.default_rng(0)
    X = sp.random(200, 50, density=0.1, format="csr", random_state=rng, data_rvs=lambda n: rng.integers(1, 9, n).astype(float))
    before = X.copy()
    made = [tenfold.TfidfTransformer(norm=norm, sublinear_tf=sublinear).fit_transform(X)]
    monkeypatch.setattr(tfidf, "AT_ONCE", 3)
    made.append(tenfold.TfidfTransformer(norm=norm, sublinear_tf=sublinear).fit_transform(X))
    assert np.array_equal(made[0].data, made[1].data) and (np.diff(X.indptr) == 0).any() and (np.diff(X.indptr) > 3).any()
    assert np.array_equal(X.data, before.data)
    peer = theirs.TfidfTransformer(norm=norm, sublinear_tf=sublinear).fit_transform(X)
    assert np.allclose(made[1].toarray(), peer.toarray(), rtol=1e-12, atol=0)
