"""Columns of texts: their words counted, what they say learned from training rows alone, and models that read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import MultinomialNB
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadInput, BadParameter
from tenfold.prepare.coder import TableCoder
from tenfold.prepare.indicators import folded, unfolded
from tenfold.prepare.tokens import cleaned, counts_of, is_prose, learned_counts, weighed, words
from tenfold.selection.job import Job
from tenfold.selection.monitor.drift import drift
from tenfold.selection.race.text_folds import Counted, Texts, _bayes, _lines, _logistic
from tenfold.selection.race.text_score import TextScore
from tenfold.selection.run import Run, run_of
from tenfold.selection.settings import Settings

NEUTRAL = ["the", "a", "of", "table", "went", "house", "green", "walks", "today", "river", "stone", "between", "light", "paper"]
SAD, GLAD = ["broken", "refund", "terrible", "late"], ["lovely", "perfect", "great", "thanks"]


def texts_of(mood: Any, seed: int = 0, share: float = 0.2, length: int = 12) -> pl.Series:
    """Sentences of neutral words, among them some that fit the mood of each row: below 0, above 0, or none at 0."""
    rng = np.random.default_rng(seed)
    made = []
    for one in np.asarray(mood, dtype=float):
        count = int(rng.integers(length // 2, 2 * length))
        line = list(rng.choice(NEUTRAL, count))
        for place in np.flatnonzero(rng.random(count) < share * min(abs(one), 2.0)):
            line[place] = str(rng.choice(SAD if one < 0 else GLAD))
        made.append(" ".join(line).capitalize() + ".")
    return pl.Series("remark", made)


def table(n: int = 300, seed: int = 0) -> pl.DataFrame:
    """A text that tells half of the truth, and three numbers, one of which tells the other half."""
    rng = np.random.default_rng(seed)
    mood, x = rng.normal(size=n), rng.normal(size=(n, 3))
    total = 2 * mood + 1.5 * x[:, 0] + rng.normal(size=n) * 0.5
    level = np.where(total < -1, "bad", np.where(total < 1, "fair", "good"))
    return pl.DataFrame(
        dict(remark=texts_of(mood, seed), a=x[:, 0], b=x[:, 1], c=x[:, 2], answer=np.where(total > 0, "yes", "no"), level=level)
        | dict(total=total)
    )


def test_words_of_texts() -> None:
    found = words(cleaned(pl.Series(["Don't PAY <b>£500</b>&nbsp;now!", "漢字 and ไท", "naïve café  12", ""])))
    by_row = [found.filter(pl.col("row") == row)["word"].to_list() for row in range(4)]
    assert by_row[0][:6] == ["don't", "pay", "£", "(3-digit-number)", "now", "!"] and "pay £" in by_row[0]
    assert by_row[1][:5] == ["漢", "字", "and", "ไ", "ท"] and "漢 字" in by_row[1]
    assert by_row[2] == ["naïve", "café", "(2-digit-number)", "naïve café", "café (2-digit-number)"] and by_row[3] == []


def test_prose_is_told_from_codes() -> None:
    codes = ["AB-1234-XY", "550e8400-e29b-41d4-a716-446655440000", "AB 12 CD", "B 27 14 99 C", "london"]
    assert not any(is_prose(pl.Series([code] * 9)) for code in codes)
    prose = ["Braund, Mr. Owen Harris", "the parcel came late", "これは日本語の文です", "Пришла посылка с браком", "<p>all well here</p>"]
    assert all(is_prose(pl.Series([text] * 9)) for text in prose)
    assert not is_prose(pl.Series("empty", [None, None], dtype=pl.String))


def test_counts_and_weights_are_those_of_scikit_learn() -> None:
    texts = cleaned(table(200)["remark"])
    known, counts = learned_counts(texts)
    peer = CountVectorizer(token_pattern=r"[a-z]+|\.", ngram_range=(1, 2), min_df=5).fit(texts.to_list())
    assert set(known) == set(peer.vocabulary_)
    order = [peer.vocabulary_[word] for word in known]
    assert np.array_equal(counts.toarray(), peer.transform(texts.to_list()).toarray()[:, order])
    assert np.array_equal(counts_of(texts, known).toarray(), counts.toarray())
    tfidf = TfidfVectorizer(token_pattern=r"[a-z]+|\.", ngram_range=(1, 2), min_df=5, sublinear_tf=True).fit(texts.to_list())
    idf = 1 + np.log((1 + counts.shape[0]) / (1 + np.bincount(counts.indices)))
    assert np.allclose(weighed(counts, idf).toarray(), tfidf.transform(texts.to_list()).toarray()[:, order], rtol=0, atol=1e-14)


def test_long_tables_are_counted_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = cleaned(table(100)["remark"])
    known, counts = learned_counts(texts)
    monkeypatch.setattr("tenfold.prepare.tokens.AT_ONCE", 500)
    again, same = learned_counts(texts)
    assert again == known and (same != counts).nnz == 0


def test_readings_are_those_of_scikit_learn() -> None:
    rows = table(200)
    _, counts = learned_counts(cleaned(rows["remark"]))
    Z = weighed(counts, 1 + np.log(201 / (1 + np.bincount(counts.indices))))
    y, w, three = (rows["answer"] == "yes").to_numpy().astype(int), np.random.default_rng(0).random(200), rows["level"].to_numpy()
    known = np.ones(Z.shape[1], dtype=bool)
    peer = MultinomialNB(alpha=0.1).fit(Z, y, w).feature_log_prob_
    assert np.allclose(_bayes(Z, y, w, 2, known)[:, 0], peer[1] - peer[0], rtol=1e-10, atol=0)
    codes = np.unique(three, return_inverse=True)[1]
    peer = MultinomialNB(alpha=0.1).fit(Z, codes).feature_log_prob_
    assert np.allclose(_bayes(Z, codes, np.ones(200), 3, known), (peer - peer.mean(axis=0)).T, rtol=1e-10, atol=1e-14)
    near = LogisticRegression(C=10.0, tol=1e-8, max_iter=1000).fit(Z, y, w).coef_[0]
    assert np.corrcoef(near, _logistic(Z, y, w, 2)[:, 0])[0, 1] > 0.99  # few steps are taken
    number = rows["total"].to_numpy()
    near = Ridge(alpha=1.0).fit(Z.toarray(), number, w).coef_
    assert np.corrcoef(near, _lines(Z, number, w)[0])[0, 1] > 0.999
    centred = Z.toarray() - np.average(Z.toarray(), axis=0, weights=w)
    assert np.allclose(_lines(Z, number, w)[1], centred.T @ (w * (number - np.average(number, weights=w))) / w.sum(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("target", ["answer", "level", "total"])
def test_held_out_scores_know_nothing_of_held_out_rows(target: str) -> None:
    """A leak planted in every way: neither targets nor texts of held-out rows change what is said of others, to the bit."""
    rows = table(150)
    labels, codes = np.unique(rows[target].to_numpy(), return_inverse=True) if target != "total" else (np.empty(0), rows[target].to_numpy())
    fold = np.random.default_rng(1).integers(0, 5, 150)
    train, held = np.flatnonzero(fold != 2), np.flatnonzero(fold == 2)
    before = Texts([Counted.of(rows["remark"], labels, ())], codes, len(labels), fold).at(train)
    other = codes.copy()
    other[held] = np.roll(codes[held], 1) if len(labels) else -codes[held]
    again = Texts([Counted.of(rows["remark"], labels, ())], other, len(labels), fold).at(train)
    assert np.array_equal(before, again)
    told = rows["remark"].to_numpy().copy()
    told[held[1:]] = [f"secret{k} word of row {k}" for k in range(len(held) - 1)]
    hidden = Texts([Counted.of(pl.Series("remark", told), labels, ())], codes, len(labels), fold).at(train)
    known = np.r_[train, held[:1]]
    # Other words are counted, and none of them is kept; a few steps of a solver over tables of other widths part in their last bits.
    assert np.allclose(before[known], hidden[known], rtol=0, atol=1e-6)


def test_a_score_of_a_training_row_does_not_know_its_target() -> None:
    """Texts without any meaning that share a word with few others: learned by heart they say everything, to other rows nothing."""
    n = 400
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    own = [f"{'abcdefghij'[k // 40]}{'klmnopqrst'[k // 4 % 10]}x" for k in range(n)]
    pairs = pl.Series("remark", [f"{' '.join(rng.choice(NEUTRAL, 8))} {word}" for word in own])
    scores = Texts([Counted.of(pairs, (0, 1), ())], y, 2, rng.permutation(n) % 5)
    everything = scores._read(scores.columns[0], np.arange(n))
    by_heart = weighed(scores.columns[0].counts, everything.idf) @ everything.weights[:, 0]
    assert roc_auc_score(y, by_heart) > 0.8
    assert 0.4 < roc_auc_score(y, scores.at(np.arange(n))[:, 0]) < 0.6


def test_rows_that_are_never_left_out() -> None:
    """Folds in time: what comes later is not looked at, and the first rows are scored by halves."""
    rows = table(200)
    codes = (rows["answer"] == "yes").to_numpy().astype(int)
    fold = np.repeat([-1, 0, 1, 2], 50)
    train = np.flatnonzero(fold < 1)
    before = Texts([Counted.of(rows["remark"], (0, 1), ())], codes, 2, fold).at(train)
    other = np.where(fold >= 1, 1 - codes, codes)
    assert np.array_equal(before, Texts([Counted.of(rows["remark"], (0, 1), ())], other, 2, fold).at(train))
    first = Texts([Counted.of(rows["remark"], (0, 1), ())], codes, 2, fold).at(np.flatnonzero(fold < 0))
    assert roc_auc_score(codes[fold >= 0], first[fold >= 0, 0]) > 0.55


def quickly(rows: pl.DataFrame, target: str, **more: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        return tenfold.select(rows, target, effort="quick", folds=3, **more)


@pytest.fixture(scope="module", params=["answer", "level", "total"])
def run(request: pytest.FixtureRequest) -> tuple[Any, pl.DataFrame, str]:
    target: str = request.param
    others = [name for name in ("answer", "level", "total") if name != target]
    rows = table(300).drop(others)
    return quickly(rows, target), rows, target


def test_text_and_numbers_together(run: tuple[Any, pl.DataFrame, str], tmp_path: Path) -> None:
    found, rows, target = run
    new = table(300, seed=1).select(rows.columns)
    model = found.model
    assert model.columns == ["a", "b", "c", "remark"] and found.signal
    blind = rows.with_columns(remark=pl.lit("nothing to say here"))
    assert found.estimate.value < 0.9 * quickly(blind, target).estimate.value
    said = model.predict(new)
    found.save(tmp_path / "run")
    loaded = tenfold.load(tmp_path / "run")
    assert np.array_equal(loaded.predict(new), said)
    turned = loaded.predict(new.reverse())[::-1]  # products of matrices may round a row by its place
    assert np.allclose(turned, said, rtol=1e-9, atol=1e-12) if said.dtype.kind == "f" else np.array_equal(turned, said)
    new.write_csv(tmp_path / "new.csv")
    assert np.array_equal(loaded.predict(tmp_path / "new.csv"), said)
    odd = new.head(4).with_columns(pl.Series("remark", [None, "", "perfect " * 100_000, "Ω 漢字"]))
    answers = model.predict_proba(odd) if model.role == "classifier" else model.predict(odd)[:, None]
    assert np.isfinite(answers).all()
    with pytest.raises(BadParameter, match="there is no column 'remark'"):
        model.predict(new.drop("remark"))


def test_what_words_say(run: tuple[Any, pl.DataFrame, str], tmp_path: Path) -> None:
    from tenfold.selection.explain.reasons import effect, movers, reasons
    from tenfold.table.reading import read_table

    found, rows, target = run
    what = {"answer": "yes", "level": "good", "total": None}[target]
    raw = read_table(rows)
    heard = dict(effect(found.model, raw, "remark", what).points)
    glad, sad = ([heard[repr(word)] for word in some if repr(word) in heard] for some in (GLAD, SAD))
    assert glad and min(glad) > max(sad, default=0.0) and all(word.split()[0].strip("'.") in GLAD + SAD + NEUTRAL for word in heard)
    assert {name for name, _ in movers(found.model, raw)[:2]} == {"a", "remark"}
    row = int(np.argmax(rows["remark"].str.count_matches("|".join(GLAD)).to_numpy()))
    why = reasons(found.model, raw, row, what)
    assert {name for name, *_ in why.columns} == {"a", "b", "c", "remark"}
    assert dict(why.words["remark"])[why.words["remark"][0][0]] > 0 and why.words["remark"][0][0] in GLAD


def test_an_altered_row_beside_what_words_say(
    run: tuple[Any, pl.DataFrame, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tenfold.app.commands import run as command

    found, rows, _ = run
    found.save(tmp_path / "r.tenfold")
    rows.write_csv(tmp_path / "t.csv")
    assert command(["explain", str(tmp_path / "r.tenfold"), str(tmp_path / "t.csv"), "--row", "3", "--set", "a=500"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("         unlike the training table: a above ") and lines[-2].startswith("WHAT IF  a = 500: ")


def test_a_model_that_reads_texts_is_fitted_anew(run: tuple[Any, pl.DataFrame, str]) -> None:
    found, rows, target = run
    other, new = table(200, seed=3).select(rows.columns), table(200, seed=4).select(rows.columns)
    again = clone(found.model).fit(other, target)
    assert again.score(new, target) > (0.3 if target == "total" else np.unique(new[target], return_counts=True)[1].max() / 200)
    with pytest.raises(BadInput, match="learns from whole tables"):
        tenfold.cross_validate(found.model, rows, target)


def test_noise_is_no_signal() -> None:
    rng = np.random.default_rng(5)
    noise = pl.DataFrame(dict(remark=texts_of(np.zeros(200), 5), y=rng.choice(["yes", "no"], 200)))
    found = quickly(noise, "y")
    assert not found.signal and found.others["accuracy"].low < 0.55
    codes = pl.DataFrame(dict(code=[f"AB-{k:05d}-{k % 7}X" for k in range(60)], y=rng.choice(["yes", "no"], 60)))
    with pytest.raises(BadInput, match=r"left out: 'code' \(id\)"):
        tenfold.select(codes, "y")


def test_what_the_listener_is_told() -> None:
    told: dict[str, Any] = {}
    rows = table(120).select("remark", "a", "answer")
    quickly(rows, "answer", listen=lambda event, **facts: told.update({event: facts}))
    column = told["columns"]["columns"][0]
    assert column["kind"] == "text" and column["undo"] == "drop" and "pairs of words" in column["note"]
    assert told["plan"]["width"] == 2
    without = quickly(rows, "answer", drop=["remark"])
    assert without.model.columns == ["a"] and not without.model.texts


def test_scores_without_words() -> None:
    """A training set without a word in enough rows, one class alone, constant lengths: zeros, and no warning."""
    column = pl.Series("remark", ["one two three"] * 3 + ["four five six"] * 3)
    scores = Texts([Counted.of(column, (0, 1), ())], np.array([0, 1, 0, 1, 0, 1]), 2, np.array([0, 1, 2, 0, 1, 2]))
    assert np.allclose(scores.at(np.arange(4)), scores.at(np.arange(4))[0], rtol=1e-9, atol=0)
    alone = Texts([Counted.of(pl.Series("r", ["a b c"] * 30), (0, 1, 2), ())], np.repeat([0, 0, 1], 10), 3, np.repeat([0, 1, 2], 10))
    assert np.isfinite(alone.at(np.arange(20))).all()
    score: TextScore = alone.fitted()[0]
    assert score.names_.tolist() == ["r: 1", "r: 2"] and np.isfinite(score.scores(pl.Series(["", "a b c"]))).all()


def named(rows: pl.DataFrame, learner: Any) -> Run:
    job = Job(lambda event, **facts: None, False, Settings(folds=3), named=lambda role: learner)
    return run_of(job.run(rows, "answer"))


def test_one_learner_of_a_table_with_texts(tmp_path: Path) -> None:
    rows = table(200).drop("level", "total")
    found = named(rows, tenfold.LogisticRegression())
    assert found.signal and found.model.columns == ["a", "b", "c", "remark"]
    assert found.estimate is not None and found.estimate.value < 0.55
    trees = named(rows, tenfold.HistGradientBoostingClassifier(max_iter=20))
    assert trees.signal and trees.model.predict(rows.tail(3)).tolist() == trees.model.predict(rows)[-3:].tolist()


def test_texts_that_became_longer_are_drift(run: tuple[Any, pl.DataFrame, str]) -> None:
    found, rows, _ = run
    assert not any(one.drifted for one in drift(found.sketch, table(200, seed=8).select(rows.columns)))
    longer = rows.with_columns(remark=pl.concat_str(pl.col("remark"), pl.col("remark"), separator=" "))
    first = drift(found.sketch, longer)[0]
    assert first.name == "remark" and first.drifted and "characters" in first.how and "characters" in str(first.new)
    holes = rows.with_columns(remark=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise("remark"))
    assert any("missing" in str(one.new) for one in drift(found.sketch, holes))


@pytest.mark.parametrize("driven", ["week", "year"])
def test_dates_whose_cycles_drive_the_target(driven: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2021-01-01") + rng.integers(0, 1000, 300)
    weekend = ((days.astype(np.int64) + 3) % 7 >= 5).astype(float)  # 1970-01-01 was a Thursday
    season = np.sin(2 * np.pi * days.astype(np.int64) / 365.2425)
    y = 2 * (weekend if driven == "week" else season) + 0.2 * rng.normal(size=300)
    rows = pl.DataFrame(dict(day=days.astype(str), y=y))
    found = quickly(rows, "y")
    assert found.estimate.value < (0.5 if driven == "week" else 0.4)
    found.save(tmp_path / "run")
    assert np.array_equal(tenfold.load(tmp_path / "run").predict(rows), found.model.predict(rows))
    missing = found.model.predict(pl.DataFrame(dict(day=[None, "2022-05-01"])))
    assert np.isfinite(missing).all()


def test_cycles_of_dates_are_columns_and_fold_into_one_number() -> None:
    days = pl.Series("day", [*np.arange(18_600.0, 19_400.0), None], dtype=pl.Float64)
    frame = pl.DataFrame([days, pl.Series("x", np.arange(801.0))])
    coder = TableCoder(cycles=True).fit(frame, forms={"day": "%Y-%m-%d"})
    X = coder.transform(frame)
    assert coder.names_out()[1:4] == ["day in the year, sine", "day in the year, cosine", "day on Tuesday"] and X.shape == (801, 10)
    told = np.datetime64("1970-01-01") + np.arange(18_600, 19_400)
    weekdays = np.array([one.weekday() for one in told.tolist()])
    assert np.array_equal(X[:800, 3:9], weekdays[:, None] == np.arange(1, 7)) and not X[800, 1:9].any()
    assert np.array_equal(unfolded(coder, folded(coder, X)), X, equal_nan=True)
    assert coder.frame(frame).columns == ["day", "x"]
    assert TableCoder().fit(frame, forms={"day": "%Y-%m-%d"}).names_out() == ["day", "x"]
    week = frame.head(10)
    assert TableCoder(cycles=True).fit(week, forms={"day": "%Y-%m-%d"}).names_out() == ["day", "x"]
