"""What a search is to the outside: the gate of its learner, the verbs of the best model, the table of what was tried."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Estimator, map_rows
from tenfold.base.member import OfEstimator
from tenfold.base.routing import refuse_unrouted, routed, routing_enabled
from tenfold.base.scored import rows_and_truth
from tenfold.base.sklearn_api import same
from tenfold.compose.search.parameters import Setting
from tenfold.compose.search.results import results_table
from tenfold.compose.search.sharing import with_setting
from tenfold.core.data import Array
from tenfold.core.errors import NotFitted
from tenfold.core.learned import learned
from tenfold.core.params import group, param
from tenfold.score.record import Score, judged_output

NO_REFIT = "was searched with refit=False: there is no model of all rows; set refit=True, or fit best_params_ yourself"


def _model_has(verb: str) -> Callable[[Any], bool]:
    return lambda search: hasattr(vars(search).get("best_estimator_", search.estimator), verb)


@group
class Chosen(OfEstimator, Estimator):
    """Abstract: the best of several settings of `estimator`."""

    best_estimator_: Any = learned("learner", "the best setting, fitted to all rows; absent with refit=False", optional=True)
    best_index_: int = learned("int>=0", "number of the best setting in cv_results_", optional=True)
    best_score_: float = learned("float", "mean score of the best setting on the folds it was chosen by", optional=True)
    best_score_corrected_: float = learned("float", "score to expect of it on new rows: the choice is accounted for", optional=True)
    best_score_range_: Array = learned("float(2)", "95 % range of best_score_corrected_", optional=True)
    n_splits_: int = learned("int", "number of splits")
    multimetric_: bool = learned("bool", "whether there are several scores")
    _settings: list[Setting] = learned("[setting](s)", "all settings")
    _score_names: Array = learned("text(m)", "names of the scores")
    _test_scores: Array = learned("real(m,s,f)", "of each score, setting and split")
    _train_scores: Array | None = learned("real(m,s,f)|none", "the same on the rows of training")
    _times: Array = learned("float(2,s,f)", "seconds for fits and for scores")
    _refit_time: float = learned("float", "seconds for the fit to all rows")
    _by_verbs: bool = learned("bool", "that the ordinary route was taken", optional=True)

    estimator: Any = param(doc="the learner whose parameters are searched, Tenfold's or anybody's")

    kind: ClassVar[str] = "keeps rows"
    folds_by_content: ClassVar[bool] = False  # what a number as `cv` means: folds of neighbouring rows, or by what the rows hold
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "folds are made by a hash of the rows, which reads the columns in their order",
        "several_targets": "one setting is chosen for all targets together",
    }

    def _judge(self) -> Score:
        """The score that chooses."""
        raise NotImplementedError

    def _deciding(self) -> str:
        """Its name."""
        raise NotImplementedError

    # --- what the gate asks is what the learner says ---

    def _columns_used(self) -> Array | None:
        best = vars(self).get("best_estimator_")
        return best._columns_used() if isinstance(best, Estimator) else None

    @property
    def role(self) -> str:
        return str(self._member.role)

    @property
    def least_rows(self) -> int:
        return -(-5 * int(self._member.least_rows) // 4)  # a training set is at least four fifths of them

    # --- what the best model does ---

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """The score that has chosen, of the best model on these rows; greater is better. `params` are handed to the scorer by
        scikit-learn's metadata routing.
        """
        refuse_unrouted(self, "score", params)
        best = self._model()
        if "_by_verbs" in vars(self) or params:
            return self._score_by_verbs(X, y, params if sample_weight is None else {**params, "sample_weight": sample_weight})
        judge = self._judge()
        X, y = rows_and_truth(self, X, y)
        rows = check.check_predict(best, X)
        output = map_rows(best._outputs, rows)
        classes = vars(self).get("classes_")
        if classes is not None and not np.isin(y, classes).all():  # labels that no model can say
            return self._score_by_verbs(X, y, {} if sample_weight is None else {"sample_weight": sample_weight})
        truth = check.real_target(y, len(output)) if classes is None else _codes(y, classes)
        check.check_length("y", len(truth), len(output))
        w = check.as_weights(sample_weight, len(truth))
        return judge.utility(truth, judged_output(judge, output, classes), np.ones(len(truth)) if w is None else w, classes)

    def _score_by_verbs(self, X: Any, y: Any, params: dict[str, Any]) -> float:
        """The score that the scorer itself finds for the best model."""
        scorer = self.scorer_
        if routing_enabled():
            params = routed(self, "score", params).scorer["score"]
        if isinstance(scorer, dict):
            scorer = scorer[self.refit if isinstance(self.refit, str) else next(iter(scorer))]
        said = scorer(self._model(), *((X,) if y is None else (X, y)), **params)
        found: float = said[self.refit if isinstance(self.refit, str) else next(iter(said))] if isinstance(said, dict) else said
        return found

    # --- what was found ---

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The table of all settings: a column of values for each key, as pandas.DataFrame takes it."""
        check.check_fitted(self)
        names = [f"{name}" for name in self._score_names]
        return results_table(
            self._settings, names, self._test_scores, self._train_scores, self._times, self._columns()
        )

    def _columns(self) -> dict[str, Array]:
        """Further columns of `cv_results_`."""
        return {}

    @property
    def best_params_(self) -> Setting:
        """The parameters of the best setting."""
        check.check_fitted(self)
        return dict(self._settings[self.best_index_])

    @property
    def refit_time_(self) -> float:
        """Seconds for the fit of the best setting to all rows."""
        check.check_fitted(self)
        return float(self._refit_time)

    def _model(self) -> Any:
        """The best setting, fitted to all rows."""
        check.check_fitted(self)
        if "best_estimator_" not in vars(self):
            raise NotFitted(f"this {type(self).__name__} {NO_REFIT}")
        return vars(self)["best_estimator_"]

    def _objection(self) -> str | None:
        self._member  # noqa: B018  refuses what is no learner
        known = vars(self)
        if known.get("best_index_", 0) >= len(self._settings) or not self._settings:
            return "there is no best setting"
        best = known.get("best_estimator_")
        if best is not None and (best.role != self.role or not same(vars(best).get("classes_", None), known.get("classes_"))):
            return "the best model is none of its learner"
        return None

    def _at_choice(self) -> Estimator:
        chosen: Estimator = with_setting(self._member, self.best_params_)
        return chosen

    def _explained(self) -> tuple[list[Any], float, Any, str] | None:
        explained: tuple[list[Any], float, Any, str] | None = self._model()._explained()
        return explained

    # --- verbs: those of the best model ---

    @available(_model_has("predict"))
    def predict(self, X: Any) -> Any:
        """What the best model predicts for each row."""
        return self._model().predict(X)

    @available(_model_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`."""
        return self._model().predict_proba(X)

    @available(_model_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of `predict_proba`."""
        return self._model().predict_log_proba(X)

    @available(_model_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Scores of the classes; for two classes, how much the second one leads."""
        return self._model().decision_function(X)

    @available(_model_has("transform"))
    def transform(self, X: Any) -> Any:
        """The rows as the best model transforms them."""
        return self._model().transform(X)

    @available(_model_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """The score that the best model gives each row, such as a log density."""
        return self._model().score_samples(X)

    @available(_model_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """The rows as they were before `transform`."""
        return self._model().inverse_transform(X)

    def _predict(self, X: Any) -> Any:
        return self._model()._predict(X)

    def _scores(self, X: Any) -> Any:
        return self._model()._scores(X)

    def _choice(self, X: Any) -> Any:
        return self._model()._choice(X)

    def _outputs(self, X: Any) -> Any:
        return self._model()._outputs(X)

    def _probabilities(self, X: Any) -> Any:
        return self._model()._probabilities(X)

    def _log_probabilities(self, X: Any) -> Any:
        return self._model()._log_probabilities(X)

    def _decisions(self, X: Any) -> Any:
        return self._model()._decisions(X)

    @available(_model_has("_transform"))
    def _transform(self, X: Any) -> Any:
        return self._model()._transform(X)

    # --- words and pictures ---

    def __str__(self) -> str:
        return "\n".join([repr(self), *self._summary()])

    def _summary(self) -> Iterator[str]:
        """What the search has found, in two lines."""
        if "best_index_" not in vars(self):
            return
        setting = ", ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in self.best_params_.items())
        n = len(self._settings)
        yield f"best of {n} setting{'s' * (n > 1)} on {self.n_splits_} splits: {setting or 'the defaults'}"
        if "best_score_" in vars(self):
            words = f"score {self.best_score_:.4g} on the folds it was chosen by"
            if "best_score_corrected_" in vars(self):
                low, high = self.best_score_range_
                words += f"; {self.best_score_corrected_:.4g} ({low:.4g} to {high:.4g}) for new rows"
                words += "" if "_by_verbs" in vars(self) or self._judge().mean_of_rows else ", of all held-out rows together"
            yield words

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _compared(self) -> tuple[list[Setting], Array, int]:
        """Settings that were tried on the same rows, their scores (settings, splits), and which of them is the best."""
        check.check_fitted(self)
        place = list(self._score_names).index(self._deciding())
        return self._settings, self._test_scores[place], int(vars(self).get("best_index_", 0))

    def plot(self, ax: Any = None, parameters: Any = None) -> Any:
        """Scores along one parameter, or over two as a map; `parameters` names them where more vary. Returns the axes."""
        from tenfold.draw.search import draw_search

        return draw_search(self, ax, parameters)


def _codes(y: Array, classes: Array) -> Array:
    """The number of the class of each row, all of which are known."""
    place = {label: code for code, label in enumerate(classes.tolist())}
    return np.array([place[label] for label in y.reshape(-1).tolist()], dtype=np.int64)
