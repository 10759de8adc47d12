"""Bayes' rule over any density: one density for each class, and decisions from posteriors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.by_rows import first_largest
from tenfold.base.estimator import Classifier, Density, Estimator, map_rows
from tenfold.base.foreign import ByVerbs, learner_of, objection_to, role_given
from tenfold.base.member import OfMember
from tenfold.base.sklearn_api import fresh
from tenfold.compose.class_densities import Class, class_rows, classes_apart
from tenfold.compose.class_statistics import ByClassStatistics
from tenfold.compose.fitting import COLUMN_FACTS
from tenfold.compose.named import kind_of
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator
from tenfold.density.gaussian import GaussianDensity
from tenfold.evaluate.decide.risk import REJECT, minimum_risk
from tenfold.generative.classes import given_priors, log_priors


@estimator
class BayesClassifier(OfMember, Classifier, ByClassStatistics):
    """BayesClassifier: a density for each class, turned round by Bayes' rule.

    Model       P(k | x) = πₖ pₖ(x) / Σⱼ πⱼ pⱼ(x),  pₖ the density of the rows of class k
    Objective   that of the densities, class by class; πₖ is the share of class k in the weight, or given.
                A decision has the least expected cost:  argmin_a Σₖ cost[k, a] P(k | x)
    Algorithm   the densities are fitted side by side: one reading of the rows serves all classes. Posteriors by log-sum-exp
    Cost        that of the densities, each on the rows of its class; cross-validation merges statistics where they need one pass
    Fails when  the densities fit badly (posteriors are then too extreme); a class has fewer rows than its density needs (warns, or
                refuses, with the name of the class). Where all densities are zero the posteriors are the priors (warns)
    Reference   Duda, Hart & Stork 2001, §2; rejection: Chow 1970

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X, y = np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]), ["a", "a", "a", "b", "b", "b"]
    >>> model = tenfold.BayesClassifier(tenfold.GaussianDensity()).fit(X, y)
    >>> model.predict([[2.5], [8.5]]).tolist(), model.densities_["b"].mean_.tolist()
    (['a', 'b'], [8.0])
    >>> careful = tenfold.BayesClassifier(cost=[[0, 1], [1000, 0]], reject=0.9).fit(X, y)  # an overlooked "b" is dear
    >>> careful.predict([[2.5], [4.5], [8.5]]).tolist()
    ['a', 'rejected', 'b']
    """

    estimators_: list[Any] = learned("[learner](t)", "the fitted densities, of those classes that have rows, in their order")
    class_count_: Array = learned("float(K)", "weight of the rows of each class")
    class_prior_: Array = learned("float(K)", "probability of each class")

    density: Any = param(
        default=None, doc="the density that is fitted to each class; a dict {class: density} for different ones; None: GaussianDensity()"
    )
    _: KW_ONLY
    priors: Any = param(
        default=None, doc="prior probability of each class, by place or {class: number}; 'uniform'; None: its share of the rows"
    )
    cost: Any = param(
        default=None, doc="cost[k, a] of predicting the a-th class where the k-th is true; None: 1 for every error"
    )
    reject: float | None = param(
        default=None, at_least=0, doc="cost of leaving a row undecided: predict says so where every decision is expected to cost more"
    )

    least_classes: ClassVar[int] = 1
    has_decisions: ClassVar[bool] = False

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.density.mixture import GaussianMixture

        mixture = GaussianMixture(covariance_type="diag", random_state=0)
        return [{}, {"density": mixture, "priors": "uniform"}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"density": GaussianDensity(reg_covar=1e-2)}

    # --- the densities, and what they take ---

    def _given(self) -> list[Any]:
        """The densities, looked at."""
        given = self.density
        if isinstance(given, dict):
            if not given:
                raise BadParameter("BayesClassifier(density={}): give a density for each class")
            return [_density(one, f"density[{label!r}]") for label, one in given.items()]
        return [GaussianDensity() if given is None else _density(given, "density")]

    def _by_class(self) -> list[Any]:
        """The density of each class."""
        found = self._given()
        if not isinstance(self.density, dict):
            return found * len(self.classes_)
        return self._in_order("density", dict(zip(self.density, found, strict=True)))

    def _in_order(self, name: str, given: dict[Any, Any]) -> list[Any]:
        """What a parameter has given by label, in the order of the classes."""
        labels = self.classes_.tolist()
        lost = [label for label in labels if label not in given] + [label for label in given if label not in labels]
        if lost:
            raise BadParameter(f"BayesClassifier({name}): must name the classes of y, {check.short(labels)}: {lost[0]!r} is not in both")
        return [given[label] for label in labels]

    @property
    def _member(self) -> Any:
        """The density that takes least: what it does not take, the classifier does not."""
        return min(self._given(), key=lambda one: (one.missing, one.categorical))

    @property
    def sparse(self) -> bool:
        return all(one.sparse for one in self._given())

    @property
    def nonnegative(self) -> bool:
        return any(one.nonnegative for one in self._given())

    @property
    def kind(self) -> str:
        kinds = [one.kind for one in self._given()]
        return "one pass" if set(kinds) == {"one pass"} else kind_of(kinds)

    # --- fitting ---

    def _classes(self, source: Source) -> list[Class]:
        return [Class(k, label, one, class_rows(source, k)) for k, (label, one) in enumerate(self._labelled())]

    def _unfitted(self) -> list[Class]:
        facts = {key: fact for key, fact in vars(self).items() if key in COLUMN_FACTS}
        return [Class(k, label, one._fitted_copy(facts), None) for k, (label, one) in enumerate(self._labelled())]

    def _labelled(self) -> list[tuple[Any, Any]]:
        """The labels, each with a fresh density."""
        return [(label, fresh(one)) for label, one in zip(self.classes_.tolist(), self._by_class(), strict=True)]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._priors(np.ones(len(self.classes_))), self._costs(), self._rejected()  # looked at before the work
        fitted, weight, rows = yield from classes_apart(self._classes(source))
        few = np.flatnonzero(rows == 1)
        if len(few):
            more = f", and {len(few) - 1} more" if len(few) > 1 else ""
            warn(
                f"BayesClassifier: class {self.classes_.tolist()[few[0]]!r} has one row{more}: nothing is known of its spread; give more "
                "rows of it, or leave it out",
                DataWarning,
                stacklevel=2,
            )
        return self._fitted_attributes(fitted, weight)

    def _fitted_attributes(self, fitted: list[Any], weight: Array) -> dict[str, Any]:
        return dict(estimators_=fitted, class_count_=weight, class_prior_=self._priors(weight))

    # --- what was given for decisions ---

    def _priors(self, weight: Array) -> Array:
        """(K): they sum to one; of a class without rows as given, though it is never predicted."""
        given = self.priors
        if given is None:
            return np.asarray(weight / weight.sum())
        if isinstance(given, str):
            if given != "uniform":
                raise BadParameter(f"BayesClassifier(priors={given!r}): must be 'uniform', a number for each class, or None")
            return np.full(len(weight), 1 / len(weight))
        given = self._in_order("priors", given) if isinstance(given, dict) else given
        return given_priors("BayesClassifier", given, weight, renormalise=False)

    def _costs(self) -> Array | None:
        """(K, K), or None where decisions are those of the largest posterior."""
        K = len(self.classes_)
        if self.cost is None:
            return None if self.reject is None else 1 - np.eye(K)
        here = f"BayesClassifier(cost={check.short(self.cost)})"
        try:
            found = np.asarray(self.cost, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadParameter(f"{here}: must be a matrix of numbers, a row for each class and a column for each decision") from None
        if found.shape != (K, K) or not np.isfinite(found).all():
            raise BadParameter(f"{here}: must be finite numbers, {K} rows and {K} columns for the {K} classes of y")
        return found

    def _rejected(self) -> Any:
        """What `predict` says of a row that is left undecided: a class by this name is refused."""
        answer = "rejected" if self.classes_.dtype.kind in "OUS" else REJECT
        if self.reject is not None and answer in self.classes_.tolist():
            here = f"BayesClassifier(reject={self.reject!r})"
            raise BadParameter(f"{here}: {answer!r} is what rejected rows get, and a class of y: rename the class")
        return answer

    # --- what it says of rows ---

    @property
    def densities_(self) -> dict[Any, Any]:
        """The fitted density of each class that has rows."""
        check.check_fitted(self)
        labels = [label for label, weight in zip(self.classes_.tolist(), self.class_count_, strict=True) if weight > 0]
        return dict(zip(labels, self.estimators_, strict=True))

    def _joint(self, X: Any) -> Array:
        """(rows, classes): log πₖ + log pₖ(x)."""
        found = np.full((X.shape[0], len(self.classes_)), -np.inf)
        for k, one in zip(np.flatnonzero(self.class_count_ > 0), self.estimators_, strict=True):
            found[:, k] = learner_of(one)._log_density(X)
        if np.isposinf(found).any():  # rows of mass without volume: these classes alone count
            infinite = np.isposinf(found)
            found = np.where(infinite.any(axis=1, keepdims=True), np.where(infinite, 0.0, -np.inf), found)
        return found + log_priors(self.class_prior_, self.class_count_)

    def _scores(self, X: Any) -> Array:
        found = self._joint(X)
        nowhere = np.isneginf(found.max(axis=1))
        if nowhere.any():
            warn(
                "BayesClassifier: the density of every class is zero at some rows: they get the prior probabilities of the classes; "
                "smooth the densities, or look at score_samples, which is -inf there",
                DataWarning,
                stacklevel=2,
            )
            found[nowhere] = log_priors(self.class_prior_, self.class_count_)
        return found

    def _choice(self, X: Any) -> Array | None:
        """By least expected cost; other learners and scores get the best of the classes for a row that is rejected."""
        return None if self.cost is None else minimum_risk(self._probabilities(X).astype(np.float64), self._costs())

    def predict(self, X: Any) -> Array:
        """The class of each row: the most probable one, or by `cost` the one of least expected cost. With `reject` rows for which even
        that is above it are left undecided: "rejected" among texts, −1 among numbers."""
        return map_rows(self._decide, check.check_predict(self, X), lean=self.lean)

    def _decide(self, X: Any) -> Array:
        costs = self._costs()
        if costs is None:
            return np.asarray(self.classes_[first_largest(self._scores(X))])
        action = minimum_risk(self._probabilities(X).astype(np.float64), costs, self.reject)
        answer, out = self._rejected(), action == REJECT
        labels = self.classes_[action]
        if not out.any():
            return np.asarray(labels)
        return np.where(out, np.array(answer, dtype=object if self.classes_.dtype == object else None), labels)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(k, x) of each row and class."""
        return map_rows(self._joint, check.check_predict(self, X))

    def score_samples(self, X: Any) -> Array:
        """log Σₖ πₖ pₖ(x), the log density of all classes together: low for outliers."""
        return map_rows(self._log_density, check.check_predict(self, X))

    def _log_density(self, X: Any) -> Array:
        joint = self._joint(X)
        top = joint.max(axis=1, initial=-np.inf)
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(safe + np.log(np.exp(joint - safe[:, None]).sum(axis=1)))

    @available(lambda model: all(one.has_samples for one in model._given()))
    def sample(self, n_samples: int = 1, label: Any = None, random_state: Any = None) -> tuple[Array, Array]:
        """New rows and their classes: of the class `label`, or of classes drawn by their priors."""
        check.check_fitted(self)
        if not isinstance(n_samples, (int, np.integer)) or isinstance(n_samples, bool) or n_samples < 1:
            raise BadParameter(f"sample(n_samples={n_samples!r}): must be a whole number of at least 1")
        rng, known = generator(random_state), list(self.densities_)
        if label is None:
            share = self.class_prior_[self.class_count_ > 0]
            counts = rng.multinomial(int(n_samples), share / share.sum())
        elif label in known:
            counts = np.where([one == label for one in known], int(n_samples), 0)
        else:
            raise BadInput(f"sample(label={label!r}): must be one of the classes {check.short(known)}")
        drawn = [one._draw(int(n), rng) for one, n in zip(self.estimators_, counts, strict=True) if n]
        return np.concatenate(drawn), np.repeat(self.classes_[self.class_count_ > 0], counts)

    def _objection(self) -> str | None:
        if len(self.estimators_) != int((self.class_count_ > 0).sum()):
            return "there is not a density for each class with rows"
        if any(one.role != "density_estimator" for one in self.estimators_):
            return "one of the estimators_ is no density"
        return None


def _density(given: Any, name: str) -> Any:
    """A density, ours or anybody's, as one of ours."""
    if isinstance(given, Density) and isinstance(given, Estimator):
        return learner_of(given)
    reason = objection_to(given, "score_samples")
    if reason is None and isinstance(given, Estimator) and given.role == "density_estimator":
        reason = "has steps before its density, which would be of other columns: put them before the BayesClassifier"
    elif reason is None and role_given(given) not in (None, "density_estimator"):
        reason = f"is a {type(given).__name__}, a {role_given(given)}, and a density is needed"
    if reason is not None:
        raise BadParameter(f"BayesClassifier({name}): {reason}")
    return ByVerbs(given, as_role="density_estimator")
