"""Real messages: TF-IDF before a linear model and naive Bayes, ten folds, as good as scikit-learn's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.naive_bayes
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

import tenfold

TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
pytestmark = pytest.mark.skipif(not TABLES.exists(), reason="shared tables are not here")


def messages() -> tuple[Any, Any]:
    import polars

    frame = polars.read_csv(TABLES / "sms_spam.csv.gz")
    return frame["text"].to_list(), (frame["target"] == "spam").to_numpy().astype(np.int64)


@pytest.mark.parametrize(
    ("last", "reference"),
    [
        (tenfold.LogisticRegression(), sklearn.linear_model.LogisticRegression(tol=1e-8, max_iter=1000)),
        (tenfold.MultinomialNB(), sklearn.naive_bayes.MultinomialNB()),
    ],
    ids=["logistic", "naive Bayes"],
)
def test_ten_folds_are_as_good_as_scikit_learn(last: Any, reference: Any) -> None:
    texts, spam = messages()
    fold = np.arange(len(spam)) % 10
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(10)]
    model = tenfold.make_pipeline(tenfold.TfidfVectorizer(), last)
    ours = tenfold.cross_validate(model, texts, spam, folds=folds, scoring="roc_auc")
    assert ours.mean > 0.98
    for k in (0, 5):
        train, test = folds[k]
        theirs = make_pipeline(TfidfVectorizer(), reference).fit([texts[i] for i in train], spam[train])
        expected = roc_auc_score(spam[test], theirs.predict_proba([texts[i] for i in test])[:, 1])
        assert np.ravel(ours.scores)[k] >= expected - 1e-6


def test_the_example_of_messages(capsys: pytest.CaptureFixture[str]) -> None:
    place = Path(__file__).resolve().parents[1] / "examples" / "messages.py"
    space: dict[str, Any] = {"__name__": "messages"}
    exec(compile(place.read_text(encoding="utf-8"), str(place), "exec"), space)
    found = space["main"]([str(TABLES / "sms_spam.csv.gz")])
    assert min(found.values()) > 0.98 and "spam: " in capsys.readouterr().out
