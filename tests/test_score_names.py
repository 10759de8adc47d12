"""Scores by name: each is scikit-learn's score of the same meaning, and the same wherever a name is taken."""

from __future__ import annotations

import pickle
import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as theirs
from conftest import together
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from small_portfolio import shrink

import tenfold
from tenfold import evaluate
from tenfold import score as ours
from tenfold.core.errors import BadInput, BadParameter
from tenfold.score.functions import METRIC, SCORER, Classes, Values
from tenfold.score.record import CLASS_SCORES, LABELS, PROBABILITIES, Score
from tenfold.score.registry import BY_NAME, SCORES, find_score, known_score, score_names

RNG = np.random.default_rng(0)
N = 150
CLASSIFIER, REGRESSOR = score_names("classifier"), score_names("regressor")


def outputs(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes, class scores that know something of them, and weights; for k = 0 positive numbers of two targets."""
    rng = np.random.default_rng(k)
    w = rng.integers(1, 4, N).astype(float)
    if k == 0:
        truth = rng.gamma(2.0, size=(N, 2))
        return truth, truth * rng.uniform(0.5, 2.0, (N, 2)), w
    codes = rng.integers(0, k, N)
    return codes, rng.normal(size=(N, k)) + 1.5 * np.eye(k)[codes], w


def softmax(scores: np.ndarray) -> np.ndarray:
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def public(score: Score, library: Any, truth: Any, output: np.ndarray, w: Any, P: Any = None) -> float:
    """The public function of a score, of what it asks for, from Tenfold or scikit-learn; P are the probabilities."""
    k = output.shape[1]
    if score.role == "regressor":
        given: Any = output
    elif score.output == LABELS:
        given = output.argmax(axis=1)
    else:
        given = softmax(output) if P is None else P
        if score.output == CLASS_SCORES and k == 2:
            given = given[:, 1]
    options = {name: value for name, value in score.options.items() if k > 2 or name != "multi_class"}
    options |= {} if w is None else dict(sample_weight=w)
    return float(getattr(library, score.function)(truth, given, **options))


def fits(score: Score, k: int) -> bool:
    if score.role == "regressor" or k == 0:
        return (score.role == "regressor") == (k == 0)
    return k == 2 or "many classes" in score.tasks


CASES = [(name, k) for name in CLASSIFIER + REGRESSOR for k in (0, 2, 3) if fits(SCORES[name], k)]


@pytest.fixture
def small_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))


# --- one meaning ----------------------------------------------------------------------------------------------


# Of pairs of classes theirs has no weights of rows.
WEIGHTED = [(name, k, weighted) for name, k in CASES for weighted in (False, True)
            if not (name.startswith("roc_auc_ovo") and k > 2 and weighted)]  # fmt: skip


@together("name, k, weighted", WEIGHTED)
def test_every_score_is_that_of_scikit_learn(name: str, k: int, weighted: bool) -> None:
    score, (truth, output, w) = SCORES[name], outputs(k)
    if name in ("mean_poisson_deviance", "mean_gamma_deviance", "max_error"):  # theirs are of one target
        truth, output = truth[:, :1], output[:, :1]
    weights = w if weighted else None
    found = score.of(truth, output, weights)
    assert score.low <= found <= score.high
    assert found == pytest.approx(public(score, ours, truth, output, weights), rel=1e-9)
    if name == "max_error":
        weights = None  # theirs takes none, and they make no difference
    expected = public(score, theirs, truth, output, weights)
    assert found == pytest.approx(expected, rel=1e-9)
    assert score.utility(truth, output, w if weighted else None) == score.sign * found


@together("name", [name for name in get_scorer_names() if name in BY_NAME])
def test_scikit_learns_names_are_understood_with_their_sign(name: str) -> None:
    score = BY_NAME[name]
    if score.role == "clusterer":
        truth, output, _ = outputs(3)
        found = score.of(truth, output.argmax(axis=1), None)
        assert found == pytest.approx(
            getattr(theirs, f"{name}_score".replace("_score_score", "_score"))(truth, output.argmax(axis=1))
        )
        return
    truth, output, w = outputs(2 if score.role == "classifier" else 0)
    if score.role == "regressor":
        truth, output = truth[:, :1], output[:, :1]
    model: Any = Classes(output, None) if score.role == "classifier" else Values(output)
    weights = {} if name == "neg_max_error" else dict(sample_weight=w)
    expected = get_scorer(name)(model, output, model.targets(truth), **weights)
    assert score.utility(truth, output, w) == pytest.approx(expected, rel=1e-9)


def test_names_of_scikit_learn_that_are_missing_are_known_to_be() -> None:
    """Each name of theirs has the same meaning here, or none; a new one of theirs is looked at when it comes."""
    missing = {name for name in get_scorer_names() if name not in BY_NAME}
    assert missing == {
        "d2_absolute_error_score", "d2_brier_score", "d2_log_loss_score", "jaccard_samples",
        "f1_samples", "precision_samples", "recall_samples", "positive_likelihood_ratio", "neg_negative_likelihood_ratio",
        "top_k_accuracy",
    } & set(get_scorer_names())  # fmt: skip


def test_the_page_of_scores_is_that_of_the_table() -> None:
    tool = runpy.run_path(str(Path(__file__).parent.parent / "tools" / "scores"))
    assert tool["PLACE"].read_text(encoding="utf-8") == tool["page"](), "run `python tools/scores`"


def test_the_table_is_sound() -> None:
    for name, score in SCORES.items():
        assert name == score.name and score.low < score.high and score.label and score.title
        assert known_score(score.function) is not None and getattr(ours, score.function)
        again = pickle.loads(pickle.dumps(score))
        assert again.name == name and again.sign == score.sign
        assert (score.row_loss is None) == (not score.loss_label)
    assert len({score.label for score in SCORES.values()}) == len(SCORES)
    synonyms = {"rmse": "rmse", "AUC": "roc_auc", "Balanced Accuracy": "balanced_accuracy", "log-loss": "log_loss", "R²": "r2",
                "neg_mean_squared_error": "mse", "mean_squared_error": "mse", "roc_auc_ovr": "roc_auc", "f1_score": "f1"}  # fmt: skip
    for given, name in synonyms.items():
        assert known_score(given) is SCORES[name]
    assert known_score("neg_accuracy") is None and known_score("") is None


@together("name, k", CASES)
def test_parts_are_pooled_as_one_table(name: str, k: int) -> None:
    score, (truth, output, w) = SCORES[name], outputs(k)
    if name in ("mean_poisson_deviance", "mean_gamma_deviance"):
        truth, output = truth[:, :1], output[:, :1]
    parts = [(truth[rows], output[rows], w[rows]) for rows in np.array_split(np.arange(N), 4)]
    assert score.pooled(parts) == pytest.approx(score.of(truth, output, w), rel=1e-12)
    blocks = [score.of_block(*part) for part in parts]
    assert score.finish(sum(blocks[1:], start=blocks[0])) == pytest.approx(score.of(truth, output, w), rel=1e-12)
    assert score.averaged(parts) == pytest.approx(np.mean([score.of(*part) for part in parts]), rel=1e-12)
    rows = score.of_rows(truth, output)
    assert (rows is not None) == score.mean_of_rows
    if rows is not None:
        assert np.average(rows, weights=w) == pytest.approx(score.of(truth, output, w), rel=1e-12)
        assert score.row_loss is not None and (score.row_loss(truth, output) >= 0).all()


def test_pooling_removes_the_bias_of_small_folds() -> None:
    """Roots of small means are too small on average, and R² of small folds far too low: 20 folds of 5 rows."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(100, 1))
    value = 0.5 * truth + 0.75**0.5 * rng.normal(size=(100, 1)) * 0.5
    parts = [(truth[rows], value[rows], None) for rows in np.array_split(np.arange(100), 20)]
    assert SCORES["rmse"].pooled(parts) > SCORES["rmse"].averaged(parts)
    assert SCORES["r2"].pooled(parts) > SCORES["r2"].averaged(parts)
    assert SCORES["mse"].pooled(parts) == pytest.approx(SCORES["mse"].averaged(parts), rel=1e-12)


def test_a_fold_of_one_class() -> None:
    truth, output = np.zeros(20, dtype=np.int64), RNG.normal(size=(20, 2))
    for name in CLASSIFIER:
        if SCORES[name].every_class:
            with pytest.raises(BadInput, match="the truth holds"):
                SCORES[name].of(truth, output, None)
        else:
            assert np.isfinite(SCORES[name].of(truth, output, None)), name


# --- all scores, all places -----------------------------------------------------------------------------------


def table(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, a target of k classes named by letters (k = 0: a positive number), and weights."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(90, 3))
    w = rng.integers(1, 4, 90).astype(float)
    if k == 0:
        return X, np.exp(0.5 * X[:, 0] + 0.2 * rng.normal(size=90)), w
    cuts = np.quantile(X[:, 0], np.arange(1, k) / k)
    return X, np.array(list("abc"))[np.searchsorted(cuts, X[:, 0] + 0.7 * rng.normal(size=90))], w


def learner(k: int) -> Any:
    return (
        tenfold.GaussianNB()
        if k
        else tenfold.HistGradientBoostingRegressor(loss="poisson", max_iter=3, min_samples_leaf=5)
    )


def by_folds(name: str, k: int) -> tuple[Any, list[float]]:
    """A cross-validation by a score, and the scores of its folds by the public function."""
    X, y, w = table(k)
    score = SCORES[name]
    result = tenfold.cross_validate(learner(k), X, y, folds=3, score=name, sample_weight=w)
    codes = np.unique(y, return_inverse=True)[1] if k else y
    held = np.log(result.probabilities) if k and result.probabilities is not None else result.predictions[:, None]
    return result, [
        public(score, ours, codes[rows], held[rows], w[rows]) for rows in (result.fold[0] == fold for fold in range(3))
    ]


@together("name, k", CASES)
def test_cross_validation_by_every_score(name: str, k: int) -> None:
    result, expected = by_folds(name, k)
    np.testing.assert_allclose(result.scores[0], expected, rtol=1e-9)
    X, y, w = table(k)
    settings: dict[str, Any] = dict(folds=3, sample_weight=w, score=name)
    parameter, value = ("var_smoothing", 1e-9) if k else ("max_iter", 3)
    path = tenfold.validation_path(learner(k), X, y, parameter, [value], **settings)
    np.testing.assert_allclose(path.scores[0], expected, rtol=1e-9)
    curve = evaluate.validation_curve(learner(k), X, y, parameter, [value], **settings)
    np.testing.assert_allclose(curve.test_scores[0], expected, rtol=1e-9)
    nested = evaluate.nested_cross_validate(learner(k), X, y, {parameter: [value]}, **settings)
    np.testing.assert_allclose(nested.scores[0], expected, rtol=1e-9)
    found = evaluate.permutation_importance(learner(k), X, y, n_repeats=1, **settings)
    assert found.baseline == pytest.approx(np.mean(expected), rel=1e-9)
    assert found.score is SCORES[name]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_boosting_and_forests_by_every_score(name: str, k: int) -> None:
    X, y, w = table(k)
    score = SCORES[name]
    codes = np.unique(y, return_inverse=True)[1] if k else y
    settings: dict[str, Any] = dict(
        max_iter=3, early_stopping=True, validation_fraction=None, scoring=name, min_samples_leaf=5
    )
    model: Any = (
        tenfold.HistGradientBoostingClassifier(**settings)
        if k
        else tenfold.HistGradientBoostingRegressor(loss="poisson", **settings)
    )
    model.fit(X, y, w)
    output = np.log(model.predict_proba(X)) if k else model.predict(X)[:, None]
    assert model.train_score_[-1] == pytest.approx(score.sign * public(score, ours, codes, output, w), rel=1e-9)
    for kind in ("RandomForest", "Bagging"):
        forest: Any = getattr(tenfold, kind + ("Classifier" if k else "Regressor"))(
            n_estimators=30, oob_score=name, random_state=0
        )
        forest.fit(X, y)
        told = forest.oob_decision_function_ if k else forest.oob_prediction_[:, None]
        if name == "log_loss" and (told[np.arange(len(y)), codes] == 0).any():
            continue  # of a share of zero: the public function keeps probabilities away from it
        assert forest.oob_score_ == pytest.approx(public(score, ours, codes, told, None, told), rel=1e-9)


@pytest.mark.parametrize("name", REGRESSOR)
def test_ridge_cv_by_every_score(name: str) -> None:
    X, y, w = table(0)
    y = y + 5
    model = tenfold.RidgeCV([1.0], scoring=name, store_cv_results=True).fit(X, y, w)
    expected = public(SCORES[name], ours, y, model.cv_results_[:, :1], w)
    assert model.best_score_ == pytest.approx(SCORES[name].sign * expected, rel=1e-9)


@together("name, k", CASES)
def test_blocks_by_every_score(name: str, k: int) -> None:
    score, (truth, output, w) = SCORES[name], outputs(k)
    if name in ("mean_poisson_deviance", "mean_gamma_deviance"):
        truth, output = truth[:, :1], output[:, :1]
    given: Any = output
    if k:
        given = output.argmax(axis=1) if score.output == LABELS else softmax(output)
        if score.output == CLASS_SCORES and k == 2:
            given = given[:, 1]
    blocks = [(truth[rows], given[rows], w[rows]) for rows in np.array_split(np.arange(N), 3)]
    more = dict(labels=list(range(k))) if score.output in (PROBABILITIES, CLASS_SCORES) and k else {}
    measured = evaluate.over(blocks, name, **more)
    assert measured.metric == score.function
    assert float(measured) == pytest.approx(public(score, ours, truth, output, w), rel=1e-9)


@pytest.mark.parametrize("name", [name for name in CLASSIFIER + REGRESSOR if SCORES[name].mean_of_rows])
def test_the_bootstrap_by_every_loss_of_rows(name: str) -> None:
    k = 2 if SCORES[name].role == "classifier" else 0
    X, y, _ = table(k)
    model: Any = tenfold.GaussianNB() if k else tenfold.Ridge()
    if SCORES[name].greater_is_better:
        with pytest.raises(BadParameter, match="is no mean of losses of rows: use one of log_loss, brier, error"):
            evaluate.bootstrap_error(model, X, y, loss=name, replicates=20)
        return
    found = evaluate.bootstrap_error(model, X, y, loss=name, replicates=20)
    model.fit(X, y)
    codes = np.unique(y, return_inverse=True)[1] if k else y
    output = np.log(model.predict_proba(X)) if k else model.predict(X)[:, None]
    assert found.loss == name
    assert found.training == pytest.approx(public(SCORES[name], ours, codes, output, None), rel=1e-9)


@pytest.mark.parametrize("name", ["f1", "brier", "average_precision", "neg_log_loss", "AUC"])
def test_selection_by_other_names(name: str, small_trees: None) -> None:
    X, y, _ = table(2)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tenfold.DataWarning)
        run = tenfold.select(frame, "y", metric=name, folds=3)
    score = known_score(name)
    assert score is not None and run.estimate.metric == score.name and score.low <= run.estimate.low


# --- one message ----------------------------------------------------------------------------------------------

PLACES: dict[str, Callable[[Any], Any]] = {
    "score": lambda given: tenfold.cross_validate(tenfold.GaussianNB(), *table(3)[:2], score=given),
    "HistGradientBoostingClassifier(scoring": lambda given: tenfold.HistGradientBoostingClassifier(scoring=given).fit(
        *table(3)[:2]
    ),
    "RandomForestClassifier(oob_score": lambda given: tenfold.RandomForestClassifier(oob_score=given).fit(
        *table(3)[:2]
    ),
    "loss": lambda given: evaluate.bootstrap_error(tenfold.GaussianNB(), *table(3)[:2], loss=given),
}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_score_is_refused_alike(place: str) -> None:
    for given in ("acuracy", "rmse"):
        with pytest.raises(BadParameter) as refused:
            PLACES[place](given)
        text = str(refused.value)
        assert text.startswith(f"{place}='{given}'") and "a classifier can be judged by" in text
        assert "accuracy, log_loss, brier, balanced_accuracy" in text and f"a function of {METRIC} or {SCORER}" in text
    if place != "loss":
        with pytest.raises(BadParameter, match="a score of two classes and there are 3: use one of f1_macro, f1_micro"):
            PLACES[place]("f1")


def test_refusals_of_other_kinds() -> None:
    with pytest.raises(BadParameter, match="score=3: a regressor can be judged by r2, mse, rmse, mae"):
        find_score(3, "regressor")
    with pytest.raises(BadParameter, match="must take exactly"):
        find_score(lambda *given: 1.0, "regressor")
    with pytest.raises(BadParameter, match="must take exactly"):
        find_score(lambda truth: 1.0, "regressor")
    with pytest.raises(BadParameter, match=r"RidgeCV\(scoring='accuracy'\): a regressor can be judged by r2"):
        tenfold.RidgeCV(scoring="accuracy").fit(*table(0)[:2])


# --- functions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [METRIC, SCORER])
@pytest.mark.parametrize("k", [0, 2, 3])
def test_a_function_of_either_form_sees_labels_and_weights(form: str, k: int) -> None:
    X, y, w = table(k)

    def plain(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        return float((theirs.accuracy_score if k else theirs.r2_score)(y_true, y_pred, sample_weight=sample_weight))

    function = plain if form == METRIC else make_scorer(plain)
    settings: dict[str, Any] = dict(folds=3, sample_weight=w)
    found = tenfold.cross_validate(learner(k), X, y, score=function, **settings)
    named = tenfold.cross_validate(learner(k), X, y, **settings)
    np.testing.assert_allclose(found.scores, named.scores, rtol=1e-12)

    def seen(truth: Any, prediction: Any) -> float:
        assert set(truth) <= set(y) and len(truth) == len(prediction) and (not k or set(prediction) <= set(y))
        return 1.0

    assert tenfold.cross_validate(learner(k), X, y, folds=3, score=seen).mean == 1.0


def test_a_scorer_asks_for_probabilities_and_the_class_that_was_chosen() -> None:
    X, y, _ = table(2)
    for model in (tenfold.GaussianNB(), tenfold.NearestCentroid(metric="manhattan")):
        for name in ("roc_auc", "neg_log_loss", "accuracy"):
            one = tenfold.cross_validate(model, X, y, folds=3, score=get_scorer(name))
            other = tenfold.cross_validate(model, X, y, folds=3, score=name)
            np.testing.assert_allclose(one.scores, other.score.sign * other.scores, rtol=1e-9)


def test_a_public_function_is_the_score_of_its_name() -> None:
    X, y, _ = table(0)
    for function in (evaluate.mean_absolute_error, theirs.mean_absolute_error):
        result = tenfold.cross_validate(tenfold.Ridge(), X, y, score=function)
        assert result.score is SCORES["mae"] and result.score.sign == -1
    with pytest.raises(BadParameter, match="a regressor can be judged by"):
        tenfold.cross_validate(tenfold.Ridge(), X, y, score=evaluate.accuracy_score)


def test_a_scorer_may_not_look_at_the_rows() -> None:
    X, y, _ = table(0)
    for look in (lambda X: X[0], np.asarray, list):
        with pytest.raises(BadParameter, match="may let the model predict X, but not look at X itself"):
            tenfold.cross_validate(tenfold.Ridge(), X, y, score=lambda model, X, y, look=look: float(look(X) is None))
    with pytest.raises(
        BadParameter, match=r"score=<lambda>: a function of \(truth, prediction\) must return a number, but raised Zero"
    ):
        tenfold.cross_validate(tenfold.Ridge(), X, y, score=lambda truth, prediction: 1 / 0)


def test_a_function_is_pooled_too() -> None:
    truth, output, w = outputs(0)
    score = find_score(
        lambda truth, prediction, sample_weight=None: theirs.r2_score(truth, prediction, sample_weight=sample_weight),
        "regressor",
    )
    parts = [(truth[rows], output[rows], w[rows]) for rows in np.array_split(np.arange(N), 4)]
    assert score.pooled(parts) == pytest.approx(theirs.r2_score(truth, output, sample_weight=w), rel=1e-12)
    assert not score.merges


def test_equal_probabilities_of_many_classes_are_ties() -> None:
    """A forest of few trees says the same share of many rows: rounding must not rank them."""
    X, y, _ = table(3)
    forest = tenfold.RandomForestClassifier(n_estimators=7, max_depth=2, random_state=0)
    result = tenfold.cross_validate(forest, X, y, folds=3, score="roc_auc")
    assert result.probabilities is not None
    for fold, found in enumerate(result.scores[0]):
        train, test = result.fold[0] != fold, result.fold[0] == fold
        P = (
            tenfold.RandomForestClassifier(n_estimators=7, max_depth=2, random_state=0)
            .fit(X[train], y[train])
            .predict_proba(X[test])
        )
        assert found == pytest.approx(theirs.roc_auc_score(y[test], P, multi_class="ovr"), rel=1e-12)


def test_scores_between_0_and_1_are_compared_by_hundredths() -> None:
    X, y, _ = table(2)
    for name, share in {"accuracy": True, "roc_auc": True, "balanced_accuracy": True, "log_loss": False}.items():
        one, other = (
            tenfold.cross_validate(tenfold.GaussianNB(var_smoothing=v), X, y, folds=3, score=name) for v in (1e-9, 1.0)
        )
        band = 0.01 if share else 0.01 * max(one.mean, other.mean)
        assert evaluate.compare(one, other).band == pytest.approx(band, rel=1e-12)


@together("name, k", CASES)
def test_held_out_rows_are_judged_together(name: str, k: int) -> None:
    X, y, w = table(k)
    result = tenfold.cross_validate(learner(k), X, y, folds=3, repeats=2, score=name, sample_weight=w)
    codes = np.unique(y, return_inverse=True)[1] if k else y
    parts = [(codes if k else codes[:, None])[rows] for rows, _ in result.held_out.parts]
    held = np.concatenate([output for _, output in result.held_out.parts])
    weights = np.concatenate([w[rows] for rows, _ in result.held_out.parts])
    assert result.pooled == pytest.approx(public(SCORES[name], ours, np.concatenate(parts), held, weights), rel=1e-9)


def test_pooled_scores_of_single_rows_functions_and_streams(tmp_path: Path) -> None:
    X, y, _ = table(0)
    left = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=len(y), score="r2")
    assert left.pooled == pytest.approx(theirs.r2_score(y, left.predictions), rel=1e-12)
    result = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=4, score=lambda truth, prediction: float(len(truth)))
    assert result.pooled == len(y)
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(BadInput, match=r"outputs of a stream.* are not kept"):
        _ = tenfold.cross_validate(tenfold.Ridge(), tmp_path / "rows.parquet", "y", folds=3).pooled


def test_a_score_that_refuses_the_predictions_of_one_learner_leaves_the_others(small_trees: None) -> None:
    """Straight lines through counts fall below zero, where the Poisson deviance has no value."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": np.exp(1.5 * x[:, 0] + 0.1 * rng.normal(size=120))})
    run = tenfold.select(frame, "y", task="number", metric="mean_poisson_deviance", folds=3)
    assert run.estimate.metric == "mean_poisson_deviance" and run.estimate.low >= 0
    failed = [row["model"] for row in run.leaderboard if row["against"] == "failed"]
    assert any("egression" in name or "idge" in name for name in failed), run.leaderboard
    with pytest.raises(BadInput, match="y_true must be at least 0"):
        tenfold.select(
            frame.with_columns(y=pl.col("y") - 5), "y", task="number", metric="mean_poisson_deviance", folds=3
        )
