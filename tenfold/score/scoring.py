"""What users give as `scoring`: names of scorers, scorers of functions, several of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold.score as package
from tenfold.core.errors import BadParameter, BadType
from tenfold.score.record import CLASS_SCORES, PROBABILITIES, Score
from tenfold.score.registry import SCORES, is_public, known_score
from tenfold.score.scorer import ModelScorer, Scorer, Scorers

RESPONSES = ("predict", "predict_proba", "predict_log_proba", "decision_function")
RANKED = ("decision_function", "predict_proba")
OF_ROWS = ("f1", "jaccard", "precision", "recall")  # have a mean over rows of sets of labels too, "f1_samples"
OUTPUTS = {PROBABILITIES: "predict_proba", CLASS_SCORES: RANKED}  # what a score of these asks for; others: "predict"


def make_scorer(
    score_func: Callable[..., Any], *, response_method: Any = "predict", greater_is_better: bool = True, **kwargs: Any
) -> Scorer:
    """A scorer of a function of (truth, prediction): called as scorer(model, X, y, sample_weight=...), greater is better.

    response_method: the method of the model whose response the function takes, "predict", "predict_proba" or
    "decision_function"; of several, the first that the model has. Of two classes the last two give one column, of the
    positive class. greater_is_better: False for a loss, which is then negated. kwargs go to the function.

    >>> import numpy as np
    >>> from tenfold import LogisticRegression
    >>> from tenfold.evaluate import fbeta_score, make_scorer
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> make_scorer(fbeta_score, beta=2)(LogisticRegression().fit(X, y), X, y)
    1.0
    """
    if not callable(score_func):
        raise BadType(f"score_func={score_func!r}: must be a function of (truth, prediction)")
    methods = [response_method] if isinstance(response_method, str) else response_method
    if not isinstance(methods, (list, tuple)) or not methods or not set(methods) <= set(RESPONSES):
        raise BadParameter(f"response_method={response_method!r}: must be one of {', '.join(RESPONSES)}, or several of them")
    name = "" if kwargs else _registered(score_func, response_method, greater_is_better)
    return Scorer(score_func, 1 if greater_is_better else -1, kwargs, response_method, name)


def _registered(function: Callable[..., Any], response_method: Any, greater_is_better: bool) -> str:
    """The name of the score that a scorer without parameters is, so that blocks and folds may be merged; "" for none."""
    score = known_score(getattr(function, "__name__", "")) if is_public(function) else None
    if score is None or score.greater_is_better != greater_is_better:
        return ""
    return score.name if response_method == _method(score) else ""


def _method(score: Score) -> Any:
    return OUTPUTS.get(score.output, "predict")


def get_scorer(scoring: Any) -> Any:
    """The scorer of a name, one of `get_scorer_names()` or any other name of a score; a function is given back as it is.

    Errors are negated, whether their name says "neg_" or not.

    >>> from tenfold.evaluate import get_scorer
    >>> get_scorer("neg_mean_squared_error")
    make_scorer(mean_squared_error, greater_is_better=False, response_method='predict')
    """
    if not isinstance(scoring, str):
        if callable(scoring):
            return scoring
        raise BadType(f"scoring={scoring!r}: must be a name, or a function of (model, X, y)")
    of_rows = scoring.removesuffix("_samples")
    if of_rows != scoring and of_rows in OF_ROWS:
        return Scorer(getattr(package, f"{of_rows}_score"), 1, dict(average="samples", zero_division=0), "predict")
    score = known_score(scoring)
    if score is None or not score.supervised:
        raise BadParameter(f"{scoring!r} is not a valid scoring value: it must be one of {', '.join(get_scorer_names())}")
    method = "predict_proba" if "_ov" in scoring else _method(score)  # of three classes, scores must be probabilities
    function = getattr(package, score.function)
    return Scorer(function, int(score.sign), dict(score.options), method, score.name)


def get_scorer_names() -> list[str]:
    """All names of scorers, in scikit-learn's words; `get_scorer` also takes Tenfold's shorter ones.

    >>> from tenfold.evaluate import get_scorer_names
    >>> get_scorer_names()[:3]
    ['accuracy', 'adjusted_mutual_info_score', 'adjusted_rand_score']
    """
    other = {"roc_auc_ovr", *(f"{name}_samples" for name in OF_ROWS)}
    return sorted(other | {_usual_name(score) for score in SCORES.values() if score.supervised})


def _usual_name(score: Score) -> str:
    """scikit-learn's name of a score: errors by their function and negated; groupings by their function."""
    if score.name == "brier":
        return "neg_brier_score"
    if not score.greater_is_better:
        return f"neg_{score.function}"
    return score.function if score.role == "clusterer" else score.name


def check_scoring(
    estimator: Any = None, scoring: Any = None, *, allow_none: bool = False, raise_exc: bool = True
) -> Any:
    """The scorer of what users give as `scoring`: a name, a function of (model, X, y), several of them, or None for the
    model's own `score`.

    A list of names or a dictionary {name: scorer} gives one scorer with a dictionary of scores; raise_exc=False puts the
    text of an error where a score failed. allow_none: None where the model has no `score`, instead of an error.
    """
    if isinstance(scoring, str):
        return get_scorer(scoring)
    if isinstance(scoring, (list, tuple, set, dict)):
        return Scorers(several_scorers(scoring, estimator), raise_exc)
    if callable(scoring):
        if is_public(scoring):
            raise BadParameter(
                f"scoring value {scoring!r} looks like it is a metric function rather than a scorer: a scorer takes the "
                "model first; make one with make_scorer"
            )
        return scoring
    if scoring is not None:
        raise BadParameter(f"scoring={scoring!r}: must be a name, a function of (model, X, y), several of them, or None")
    if hasattr(estimator, "score"):
        return ModelScorer(estimator)
    if allow_none:
        return None
    raise BadType(
        "If no scoring is specified, the estimator passed should have a 'score' method. "
        f"The estimator {estimator!r} does not."
    )


def several_scorers(scoring: Any, estimator: Any = None) -> dict[str, Any]:
    """{name: scorer} of a list of names or a dictionary."""
    if isinstance(scoring, dict):
        if not scoring:
            raise BadParameter("An empty dict was passed as scoring: give at least one score")
        if not all(isinstance(name, str) for name in scoring):
            raise BadParameter(f"Non-string types were found in the keys of the given dict: scoring={scoring!r}")
        return {name: check_scoring(estimator, one) for name, one in scoring.items()}
    wanted = f"The list/tuple elements must be unique strings of predefined scorers, and not scoring={scoring!r}"
    names = list(scoring)
    if not names:
        raise BadParameter(f"{wanted}. Empty list was given")
    if any(callable(name) for name in names):
        raise BadParameter(
            f"{wanted}. One or more of the elements were callables: use a dict of score name mapped to the scorer callable"
        )
    if not all(isinstance(name, str) for name in names):
        raise BadParameter(f"{wanted}. Non-string types were found in the given list")
    if len(set(names)) < len(names):
        raise BadParameter(f"{wanted}. Duplicate elements were found in the given list")
    return {name: get_scorer(name) for name in names}
