"""Watching long work: what the records hold, and how they are shown."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.core.monitor import Record

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")


def heard(*models: Any) -> list[Record]:
    records: list[Record] = []
    with tenfold.monitor(records.append):
        for model in models:
            model.fit(X, Y)
    return records


@pytest.mark.parametrize(
    ("learner", "rounds"),
    [
        (tenfold.RandomForestClassifier, "n_estimators"),
        (tenfold.AdaBoostClassifier, "n_estimators"),
        (tenfold.BaggingClassifier, "n_estimators"),
        (tenfold.HistGradientBoostingClassifier, "max_iter"),
    ],
)
def test_rounds_are_counted_out_of_all(learner: Any, rounds: str) -> None:
    records = [record for record in heard(learner(**{rounds: 7})) if record.of is not None]
    assert [record.n_pass for record in records] == [1, 2, 3, 4, 5, 6, 7]
    assert {record.of for record in records} == {7} and {record.learner for record in records} == {learner.__name__}
    model = learner(**{rounds: 3}, **({} if learner is tenfold.AdaBoostClassifier else {"warm_start": True}))
    model.fit(X, Y).set_params(**{rounds: 5})
    assert [record.of for record in heard(model) if record.of] == (
        [5] * 5 if not hasattr(model, "warm_start") else [2, 2]
    )


def test_certificates_belong_to_the_fit_that_noted_them() -> None:
    records = heard(tenfold.LogisticRegression(), tenfold.RandomForestClassifier(3))
    noted = {record.learner for record in records if record.certificate is not None}
    assert noted == {"LogisticRegression"}


@pytest.mark.parametrize("rich", [True, False])
def test_progress_goes_to_standard_error(
    rich: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    with tenfold.progress():
        tenfold.RandomForestClassifier(4).fit(X, Y)
        tenfold.LogisticRegression().fit(X, Y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "RandomForestClassifier  pass 4 of 4" in shown.err and "LogisticRegression  pass" in shown.err
    assert ("pass 1 of 4" in shown.err) != rich  # lines stay, a bar moves on
