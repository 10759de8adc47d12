"""The metric of a run: by the names of Tenfold's scores, and by those that others use."""

from __future__ import annotations

from tenfold.core.errors import BadParameter
from tenfold.score.registry import SCORES, Score

DEFAULT = {"classifier": "log_loss", "regressor": "rmse"}
SYNONYMS = {
    "auc": "roc_auc",
    "roc": "roc_auc",
    "acc": "accuracy",
    "logloss": "log_loss",
    "cross_entropy": "log_loss",
    "brier_score": "brier",
    "mean_squared_error": "mse",
    "root_mean_squared_error": "rmse",
    "mean_absolute_error": "mae",
    "r_squared": "r2",
    "r²": "r2",
    "rsquared": "r2",
}


def find_metric(asked: str | None, role: str) -> Score:
    """The score to judge by. Upper case, hyphens, blanks and the prefix neg_ make no difference."""
    if asked is None:
        return SCORES[DEFAULT[role]]
    name = asked.strip().lower().replace("-", "_").replace(" ", "_").removeprefix("neg_")
    name = SYNONYMS.get(name, name)
    fitting = [known for known, score in SCORES.items() if score.role == role]
    if name in fitting:
        return SCORES[name]
    what = "classes" if role == "classifier" else "a number"
    if name in SCORES:
        raise BadParameter(
            f"metric={asked!r}: is not for {what}, which is the task here: choose one of {', '.join(fitting)}"
        )
    raise BadParameter(f"metric={asked!r}: is not known: choose one of {', '.join(fitting)}")
