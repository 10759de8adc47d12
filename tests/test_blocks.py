"""Every score over blocks equals the score of all rows, exactly or within the bound it tells; and scores by
name are those scores.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold import evaluate as ours
from tenfold.core.errors import BadInput, BadParameter
from tenfold.score.blocks import FOLDS
from tenfold.score.registry import BY_NAME, SCORES, find_score

N = 400
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 3, N)
P3 = RNG.dirichlet(np.ones(3), N)
LABELS = np.array(["x", "y", "z"])
ROWS: dict[str, tuple[Any, Any]] = {
    "labels": (LABELS[CODES], LABELS[np.where(RNG.random(N) < 0.5, CODES, RNG.integers(0, 3, N))]),
    "binary": (CODES == 1, RNG.random(N) < 0.5),
    "scores": ((CODES == 1).astype(int), RNG.normal(size=N) + (CODES == 1)),
    "probabilities": (CODES, P3),
    "values": (RNG.normal(size=(N, 2)), RNG.normal(size=(N, 2))),
    "counts": (RNG.poisson(2, N), RNG.uniform(0.5, 3, N)),
    "sizes": (RNG.gamma(2.0, size=N), RNG.uniform(0.5, 3, N)),
    "lists": (RNG.integers(0, 3, (N, 5)), RNG.integers(0, 3, (N, 5))),
    "points": (RNG.normal(size=(N, 2)), CODES),
}
MACRO = {"average": "macro"}
GIVEN: list[tuple[str, str, dict[str, Any]]] = [
    ("accuracy_score", "labels", {}),
    ("zero_one_loss", "labels", {"normalize": False}),
    ("adjusted_rand_score", "labels", {}),
    ("mutual_info_score", "labels", {}),
    ("normalized_mutual_info_score", "labels", {"average_method": "max"}),
    ("balanced_accuracy_score", "labels", {"adjusted": True}),
    ("confusion_matrix", "labels", {"normalize": "true"}),
    ("f1_score", "labels", MACRO),
    ("fbeta_score", "labels", {"beta": 2.0, **MACRO}),
    ("f_alpha_score", "labels", {"alpha": 0.3, **MACRO}),
    ("precision_score", "labels", {"labels": ["z", "x"], **MACRO}),
    ("recall_score", "labels", {"average": None}),
    ("recall_score", "binary", {"pos_label": True}),
    ("specificity_score", "labels", {"average": "weighted"}),
    ("roc_auc_score", "scores", {}),
    ("roc_auc_score", "probabilities", {"multi_class": "ovo"}),
    ("roc_auc_score", "probabilities", {"multi_class": "ovr", "average": "micro"}),
    ("roc_auc_score", "probabilities", {"multi_class": "ovr", "average": None}),
    ("average_precision_score", "scores", {}),
    ("average_precision_score", "probabilities", {"average": "weighted"}),
    ("roc_curve", "scores", {"drop_intermediate": False}),
    ("precision_recall_curve", "scores", {"pos_label": 0}),
    ("precision_recall_fscore_support", "labels", {"beta": 0.5}),
    ("log_loss", "probabilities", {"labels": [0, 1, 2]}),
    ("brier_score_loss", "probabilities", {"labels": [0, 1, 2]}),
    ("calibration_error", "probabilities", {"labels": [0, 1, 2], "n_bins": 7, "norm": "l2"}),
    ("dcg_score", "lists", {"k": 3}),
    ("ndcg_score", "lists", {}),
    ("r2_score", "values", {"multioutput": "raw_values"}),
    ("mean_squared_error", "values", {}),
    ("root_mean_squared_error", "values", {}),
    ("mean_absolute_error", "values", {}),
    ("median_absolute_error", "values", {}),
    ("mean_pinball_loss", "values", {"alpha": 0.2}),
    ("mean_poisson_deviance", "counts", {}),
    ("explained_variance_score", "values", {"multioutput": "raw_values"}),
    ("max_error", "values", {}),
    ("mean_absolute_percentage_error", "values", {"multioutput": "raw_values"}),
    ("mean_squared_log_error", "counts", {}),
    ("root_mean_squared_log_error", "counts", {}),
    ("mean_gamma_deviance", "sizes", {}),
    ("jaccard_score", "labels", MACRO),
    ("matthews_corrcoef", "labels", {}),
    ("cohen_kappa_score", "labels", {"weights": "linear"}),
    ("hamming_loss", "labels", {}),
    ("rand_score", "labels", {}),
    ("homogeneity_score", "labels", {}),
    ("completeness_score", "labels", {}),
    ("v_measure_score", "labels", {"beta": 0.5}),
    ("fowlkes_mallows_score", "labels", {}),
    ("adjusted_mutual_info_score", "labels", {"average_method": "min"}),
    ("silhouette_score", "points", {"metric": "cityblock"}),
    ("calinski_harabasz_score", "points", {}),
    ("davies_bouldin_score", "points", {}),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "rows", "given"), GIVEN)
def test_blocks_give_the_score_of_all_rows(name: str, rows: str, given: dict[str, Any], weighted: bool) -> None:
    truth, predicted = ROWS[rows]
    w = np.random.default_rng(1).integers(0, 4, N) * 1.0 if weighted else np.ones(N)
    cuts = [0, 1, 1, 40, 41, 250, N]  # among them single rows, and none
    blocks = [(truth[a:b], predicted[a:b], w[a:b]) for a, b in pairwise(cuts)]
    got = ours.over(iter(blocks if weighted else [block[:2] for block in blocks]), name, **given)
    kept = w > 0
    expected = getattr(ours, name)(truth[kept], predicted[kept], sample_weight=w[kept] if weighted else None, **given)
    assert got.metric == name and np.all(np.asarray(got.bound) == 0)
    for mine, whole in (
        zip(got.value, expected, strict=True) if isinstance(expected, tuple) else [(got.value, expected)]
    ):
        np.testing.assert_allclose(mine, whole, rtol=1e-12, atol=1e-14)


def test_every_score_is_tried() -> None:
    assert {name for name, _, _ in GIVEN} | {"classification_report"} == set(FOLDS)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "median_absolute_error"])
def test_a_small_sketch_tells_its_bound_and_exact_has_none(name: str) -> None:
    truth, predicted = ROWS["scores"]
    blocks = [(truth[i::7], predicted[i::7]) for i in range(7)]
    exact, rough = ours.over(blocks, name, exact=True), ours.over(blocks, name, most=20)
    assert exact.bound == 0 < rough.bound
    assert 0 < abs(float(rough) - float(exact)) <= rough.bound
    np.testing.assert_allclose(exact.value, getattr(ours, BY_NAME[name].function)(truth, predicted), rtol=1e-13)


def test_the_curve_of_a_sketch_has_fewer_points_but_exact_ones() -> None:
    truth, predicted = ROWS["scores"]
    rough, exact = (
        ours.over([(truth, predicted)], "roc_curve", most=20),
        ours.roc_curve(truth, predicted, drop_intermediate=False),
    )
    points = set(zip(exact[0].tolist(), exact[1].tolist(), strict=True))
    assert 5 < len(rough.value[0]) <= 21
    assert set(zip(rough.value[0].tolist(), rough.value[1].tolist(), strict=True)) <= points


def test_a_report_over_blocks() -> None:
    truth, predicted = ROWS["labels"]
    got = ours.over([(truth[:100], predicted[:100]), (truth[100:], predicted[100:])], "classification_report").value
    assert str(got) == str(ours.classification_report(truth, predicted))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.over([], "accuracy"), BadInput, "no row"),
        (lambda: ours.over([([1], [1], [0])], "accuracy"), BadInput, "no row"),
        (lambda: ours.over([([1], [1])], "acuracy"), BadParameter, "metric='acuracy': must be one of accuracy_score"),
        (lambda: ours.over([1, 2], "accuracy"), BadInput, "each block must be"),
        (
            lambda: ours.over([([0], [1]), (["a"], ["b"])], "accuracy"),
            BadInput,
            "labels 0 and 'a' are of different types",
        ),
        (lambda: ours.over([ROWS["scores"]], "roc_auc", max_fpr=0.5, most=20), BadParameter, "use exact=True"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        call()


# --- scores by name ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_scores_by_name_are_the_public_ones(k: int) -> None:
    rng = np.random.default_rng(2)
    scores, w = rng.normal(size=(200, k)) * 3, rng.uniform(0.5, 2, 200)
    codes = rng.integers(0, k, 200)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    best = P.argmax(axis=1)
    area = ours.roc_auc_score(codes, P, sample_weight=w, multi_class="ovr")
    for name, expected in {
        "accuracy": ours.accuracy_score(codes, best, sample_weight=w),
        "balanced_accuracy": ours.balanced_accuracy_score(codes, best, sample_weight=w),
        "f1_macro": ours.f1_score(codes, best, sample_weight=w, average="macro"),
        "log_loss": ours.log_loss(codes, P, sample_weight=w),
        "brier": ours.brier_score_loss(codes, P, sample_weight=w),
        "roc_auc": area,
    }.items():
        np.testing.assert_allclose(SCORES[name].of(codes, scores, w), expected, rtol=1e-12)
    truth, value = ROWS["values"]
    w = rng.uniform(0.5, 2, N)
    for name, expected in {
        "r2": ours.r2_score(truth, value, sample_weight=w),
        "mse": ours.mean_squared_error(truth, value, sample_weight=w),
        "rmse": ours.root_mean_squared_error(truth, value, sample_weight=w),
        "mae": ours.mean_absolute_error(truth, value, sample_weight=w),
    }.items():
        np.testing.assert_allclose(SCORES[name].of(truth, value, w), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["balanced_accuracy", "f1_macro", "roc_auc"])
def test_new_scores_in_a_cross_validation(name: str) -> None:
    X = np.random.default_rng(3).normal(size=(120, 3))
    y = LABELS[(X[:, 0] > 0.5).astype(int) + (X[:, 0] > -0.5)]
    result = tenfold.cross_validate(tenfold.GaussianNB(), X, y, folds=4, score=name)
    assert 0.7 < result.mean <= 1
    with pytest.raises(BadParameter, match="can be judged by r2, mse, rmse, mae"):
        find_score(name, "regressor")
