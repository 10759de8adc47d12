"""The estimator: every public verb, written once. Learners add the underscore verbs, which are mathematics.

    Estimator     _learn(source): a generator that yields summaries and returns the fitted attributes
    OnePass       _summarize(block) and _solve(stats): fit, partial_fit, merge, forget and cheap cross-validation follow (`base.one_pass`)

What a learner says of itself is in `base.traits`, what a fitted one does with rows in `base.roles`: Regressor, Classifier, Clusterer,
Transformer, Density, Detector. Each class is abstract or final, and none is deeper than two. What scikit-learn expects (`get_params`, tags,
`set_output`) is in `base.sklearn_api`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from tenfold.base import check
from tenfold.base.available import Available
from tenfold.base.by_rows import log_softmax, map_rows, softmax
from tenfold.base.density import Density
from tenfold.base.roles import Classifier, Clusterer, Detector, Regressor, RowClusterer, Transformer
from tenfold.base.sklearn_api import SklearnApi, fresh
from tenfold.base.sums import Sums
from tenfold.core.data import Array, Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import NotFitted, TooLarge, not_fitted, too_large
from tenfold.core.learned import in_single, learned, learned_by
from tenfold.core.learning import Learner, drive
from tenfold.core.monitor import pass_on_interrupt
from tenfold.core.params import domains
from tenfold.core.threads import single_blas

__all__ = [
    "Classifier", "Clusterer", "Density", "Detector", "Estimator", "Regressor", "RowClusterer", "Transformer", "log_softmax",
    "map_rows", "softmax",
]  # fmt: skip

Result = TypeVar("Result")


class Estimator(SklearnApi):
    """Abstract: a learner of any number of passes."""

    # What the gate has found out; a step of a pipeline also knows it of the target.
    n_features_in_: int = learned("int:p", "number of columns")
    feature_names_in_: Array = learned("text(p)", "names of the columns, where they have some", optional=True)
    classes_: Array = learned("label(K)", "the classes, in rising order", optional=True)
    _flat: bool = learned("bool", "whether the target is one column", optional=True)
    absent_: dict[str, str] = learned("names", "why some fitted attributes are not there", optional=True)
    categories_: Any = learned("[levels](p)", "the categories of each column, None for columns of numbers", optional=True)
    _output: str = learned("str", "the container of transformed rows", optional=True)

    _before: ClassVar[dict[str, Any]] = {}  # what a warm start goes on with, during the fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows: an array, frame, sparse matrix, path to CSV or Parquet, Dask collection, or blocks of rows."""
        return self._fit(check.check_fit(self, X, y, sample_weight))

    def _fit(self, source: Source, start: Any = None) -> Self:
        """Fit to rows that have passed the gate; `start` is what `_solution` of a fit to nearly the same rows says."""
        before, apart = self._warm(source), self._apart()
        if before:
            vars(apart)["_before"] = before
        try:
            learn = apart._learn if start is None else partial(apart._learn_from, start=start)
            with single_blas:
                vars(apart).update(apart._driven(learn, source))
                apart._finish(source)
            if source.single:
                vars(apart).update(in_single(type(self), vars(apart)))
        except BaseException:
            self._forget_fit()
            raise
        self._publish(apart)
        pass_on_interrupt()
        return self

    def _apart(self) -> Self:
        """This learner without its fit, to be fitted where nobody else sees it: fits in several threads do not meet."""
        apart = object.__new__(type(self))
        known = vars(self).copy()  # at once: another thread may end a fit meanwhile
        kept = {name: value for name, value in known.items() if not is_fitted(name) and name not in OF_LAST_FIT}
        vars(apart).update(kept)
        return apart

    def _publish(self, apart: Self) -> None:
        """Take over what was fitted apart, whole; of several fits the last wins. Parameters stay as they are."""
        mine, params, declared = vars(self), domains(self), learned_by(self)
        found = {name: value for name, value in vars(apart).items() if name not in params and name != "_before"}
        for name in declared:
            if name in mine and name not in found:
                mine.pop(name, None)
        mine.update(found)

    def _driven(self, learn: Callable[[Source], Learner[Result]], source: Source) -> Result:
        """What a generator of this learner returns, driven where the rows are; the facts of the gate are known to it."""
        vars(self).update(source.facts)
        try:
            with single_blas:
                return drive(learn(source), source, current_engine(source), type(self).__name__)
        except MemoryError as error:
            if isinstance(error, TooLarge):
                raise
            raise too_large(type(self).__name__, source.n_rows, source.n_features, error) from error

    # --- what a learner says of itself; evaluation, composition and selection ask nothing else ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        """Yields what it wants to know of the rows (`core.learning`); returns the fitted attributes."""
        raise NotImplementedError

    def _learn_from(self, source: Source, start: Any) -> Learner[dict[str, Any]]:
        """As `_learn`, from a `_solution` that may be near. Where it ends must not depend on it."""
        return self._learn(source)

    def _warm(self, source: Source) -> dict[str, Any]:
        """What this fit goes on with from the one before, as `_before`; empty for a fresh start (`warm_start` is off)."""
        return {}

    def _solution(self) -> Any:
        """What a fit to nearly the same rows may start from; None for learners that start anew."""
        return None

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """One fitted learner for each value of a parameter."""
        return [fresh(self).set_params(**{name: value})._fit(source) for value in values]

    def _fit_values(self, source: Source, name: str, values: list[Any], start: Any = None) -> list[Self]:
        """As `_fit_path`, for any parameter, each fit from the solution for the value before."""
        models: list[Self] = []
        for value in values:
            models.append(fresh(self).set_params(**{name: value})._fit(source, start))
            start = models[-1]._solution()
        return models

    def _from_sums(self, source: Source) -> Sums | None:
        """What merged sums over rows like these replace a fit by, for a learner that knows the facts of the gate; None: fit again."""
        return None

    def _coded_rows(self, table: Any) -> Array:
        """The rows of a table as numbers (n, p), by a learner that accepts "table"."""
        raise NotImplementedError

    def _look(self, table: Any) -> dict[Any, Any]:
        """What functions of the user say of a table in memory as it was given, before the gate makes numbers of it: the columns that each
        of them chooses. Learners inside find it in `source.looked`."""
        return {}

    def _source(self, table: Any, y: Any, sample_weight: Any, classes: Any) -> Source:
        """The same with targets and weights, to fit on."""
        raise NotImplementedError

    def _left_out(self, source: Source) -> Callable[[Any], Any] | None:
        """For a fitted learner whose leave-one-out has a closed form: the outputs of the rows of a block, each by the fit to all other
        rows of the source it was fitted on; NaN where only a refit is exact. None for all others."""
        return None

    def _outputs_along(self, models: list[Any], X: Any) -> list[Array]:
        """The outputs of the models of one path, of which this is the first, for the same rows: what they have in common is done once."""
        return [np.asarray(model._outputs(X), dtype=np.float64) for model in models]

    def _left_out_along(self, models: list[Any], source: Source) -> Iterator[Array] | None:
        """The outputs of all rows of the source that models of one path were fitted on, each by the fit to all others, model by model;
        None where `_left_out` tells them, or only refits."""
        return None

    def _folds_along(self, models: list[Any], source: Source, parts: list[Array]) -> Iterator[list[Array]] | None:
        """The same where the rows of each part are left out together: the outputs of the rows of each part, model by model."""
        return None

    def _left_out_coefficients(self, source: Source) -> Callable[[Any], Any] | None:
        """The coefficients, intercept last, of the fit without each row of a block, as `_left_out`."""
        return None

    def _explained(self) -> tuple[list[Any], float, Any, str] | None:
        """What exact attributions explain: scale * (sums over these trees, outputs side by side) + offset, and its unit."""
        return None

    def _outline(self, place: Any) -> Any:
        """For a picture of a tree: what the node at a place says and asks, its class and purity, and its branches. None for all others."""
        return None

    def _categories_out(self) -> list[Array | None] | None:
        """Of a transformer whose new columns may hold categories: those of each, None for numbers. None: all hold numbers."""
        return None

    def _transform(self, X: Any) -> Any:
        """Clean rows in their new form, of a learner that transforms."""
        raise NotImplementedError

    def _undressed(self, X: Any) -> Any:
        """What `transform` returns of clean rows, in no container: categories by name where some are left."""
        return self._transform(X)

    def _sparse_row(self) -> tuple[float, int] | None:
        """Of a fitted transformer that makes sparse rows of dense ones: how many values of a row are not zero, and how many there are."""
        return None

    def _columns_used(self) -> Array | None:
        """The columns that a fitted learner finds by their names in a frame, in any order and among others; None: all those of fit,
        in their order."""
        return None

    def _distances(self, X: Any) -> Any:
        """How far rows lie from a fitted shape (a circle, an implicit curve); None for learners that predict a target."""
        return None

    def _at_choice(self) -> Estimator | None:
        """Unfitted, with the parameters that the fit has chosen; None for a learner that chooses none."""
        return None

    def _finish(self, source: Source) -> None:
        """After the fit: fill what has the shape of the rows."""

    def _fitted_copy(self, fitted: dict[str, Any], **changed: Any) -> Self:
        """The one way to make a fitted learner without a fit: with these parameters changed and these fitted attributes. What the gate
        found out (columns, classes) is that of this one."""
        other: Self = fresh(self).set_params(**changed)
        vars(other).update({key: fact for key, fact in vars(self).items() if key in FACTS}, **fitted)
        return other

    def _fitted_state(self, **changed: Any) -> dict[str, Any]:
        """All that the fit has left, with some of it changed."""
        return {key: value for key, value in vars(self).items() if key in learned_by(self) and key != "_output"} | changed

    def _saved_params(self) -> dict[str, Any]:
        """The parameters as a file keeps them."""
        return {key: getattr(self, key) for key in domains(self)}

    def _objection(self) -> str | None:
        """Why the fitted attributes, each of its form, do not belong together; None where they do. Asked of models from files."""
        return None

    def _forget_fit(self) -> None:
        mine = vars(self)
        for name in learned_by(self):
            if name in mine and name != "_output":
                mine.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        if is_fitted(name):
            if "n_features_in_" not in vars(self):
                raise not_fitted(type(self).__name__)
            raise NotFitted(
                vars(self).get("absent_", {}).get(name, f"{type(self).__name__} has no fitted attribute {name!r}")
            )
        kind = type(self).__name__
        # As `inspect.getattr_static` would find it, thirty times as fast: `hasattr` comes here, and is asked many times in a fit.
        method = next((vars(cls)[name] for cls in type(self).__mro__ if name in vars(cls)), None)
        if isinstance(method, Available):
            why = method.objection(self)
            raise AttributeError(f"This {kind!r} has no attribute {name!r}: as it is set up, it cannot offer it") from why
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")


# What a fit must not find of the one before: weights are set only where there are some.
OF_LAST_FIT = ("_flat", "_row_weights", "_weights")
FACTS = ("n_features_in_", "feature_names_in_", "classes_", "categories_", "_flat")


@lru_cache(maxsize=4096)  # every fit asks it of all attributes
def is_fitted(name: str) -> bool:
    """Whether this is the name of a fitted attribute."""
    return name.endswith("_") and not name.startswith("_")


def gate_of(name: str, target: str, **traits: Any) -> Estimator:
    """A learner that only the gate sees: what a function of this name takes."""
    made: Estimator = type(name, (Estimator,), dict(target=target, sparse=True) | traits)()
    return made
