"""How rows are split: the keywords that functions which cross-validate have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral
from typing import Any

from tenfold.core.errors import BadParameter
from tenfold.evaluate.split.folds import check_repeats
from tenfold.evaluate.split.splitters import KFold, Pairs, Splitter, StratifiedKFold
from tenfold.evaluate.split.strata import STRATA, target_kind

KINDS = ("k-fold", "reversed", "corrected")
NO_EFFECT = ("n_jobs", "verbose", "pre_dispatch")  # of scikit-learn's words: threads and progress have their own
RETURNS = ("return_train_score", "return_estimator", "return_indices", "return_times")
THEIRS = frozenset(("scoring", "params", "fit_params", "error_score", "train_sizes", "param_name", *RETURNS, *NO_EFFECT))


class Unsaid:
    """Stands for a keyword that was not given, where None means something."""

    def __repr__(self) -> str:
        return "unsaid"


UNSAID = Unsaid()


@dataclass(frozen=True)
class Splitting:
    """How rows are split: what functions that cross-validate have in common, declared once (see `takes_splitting`)."""

    folds: Any = 10  # a number, a splitter, or pairs (train, test) of row numbers
    repeats: int = 1
    stratify: Any = "auto"
    groups: Any = None
    random_state: Any = 0
    kind: str = "k-fold"
    cv: Any = UNSAID  # scikit-learn's word for folds: a number (None: 5) is of folds of neighbouring rows, with classes spread evenly

    @property
    def said(self) -> Any:
        """What was asked for in Tenfold's words: a number of folds of files and streams is the same in either."""
        return self.folds if self.cv is UNSAID else 5 if self.cv is None else self.cv

    def check(self) -> None:
        """What does not depend on the rows."""
        check_repeats(self.repeats)
        if self.stratify not in ("auto", True, False):
            raise BadParameter(f"stratify={self.stratify!r}: must be 'auto', True or False")
        if isinstance(self.groups, str) and self.groups != "duplicates":
            raise BadParameter(f"groups={self.groups!r}: must be one entry for each row, or 'duplicates'")
        if self.kind not in KINDS:
            raise BadParameter(f"kind={self.kind!r}: must be one of {', '.join(KINDS)}")


def takes_splitting(*but: str) -> Callable[[Callable[..., Any]], Any]:
    """A function with a parameter `splitting` gets the fields of Splitting as keywords in its place, `but` for some.

    Here scikit-learn's words are translated: `estimator` is the model, `cv` says the splits, and where others of its words are used
    without splits these are scikit-learn's 5 folds; n_jobs, verbose and pre_dispatch have no effect.
    """
    offered = [field for field in fields(Splitting) if field.name not in but]

    def decorate(function: Callable[..., Any]) -> Any:
        @wraps(function)
        def with_keywords(*args: Any, **given: Any) -> Any:
            chosen = {field.name: given.pop(field.name) for field in offered if field.name in given}
            if "cv" in chosen and "folds" in chosen:
                raise BadParameter("folds= and cv= both say how rows are split: give one of them")
            if chosen.keys().isdisjoint(("cv", "folds", "repeats", "kind")) and not THEIRS.isdisjoint(given):
                chosen["cv"] = None
            if hasattr(chosen.get("cv"), "__next__"):
                chosen["cv"] = list(chosen["cv"])  # it may be asked twice
            if "estimator" in given:
                args = (given.pop("estimator"), *args)
            for name in NO_EFFECT:
                given.pop(name, None)
            if "fit_params" in given:  # what `params` was called before
                given["params"] = given.pop("fit_params")
            return function(*args, splitting=Splitting(**chosen), **given)

        own = signature(function)
        keywords = [Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type) for f in offered]
        before = [one for one in own.parameters.values() if one.kind is not Parameter.KEYWORD_ONLY]
        after = [
            one for one in own.parameters.values() if one.kind is Parameter.KEYWORD_ONLY and one.name != "splitting"
        ]
        idle = [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation="Any") for name in NO_EFFECT]
        vars(with_keywords)["__signature__"] = own.replace(parameters=[*before, *keywords, *after, *idle])
        return with_keywords

    return decorate


class Given(Splitter):
    """Pairs (train, test) of row numbers that the user has given."""

    def __init__(self, cv: Iterable[Any]) -> None:
        self.cv = list(cv)

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Pairs:
        """The pairs."""
        yield from self.cv

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs there are."""
        return len(self.cv)

    def __repr__(self) -> str:
        return f"Given({self.cv!r})"


def check_cv(
    cv: Any = 5, y: Any = None, *, classifier: bool = False, shuffle: bool = False, random_state: Any = None
) -> Any:
    """The splitter that scikit-learn's `cv` stands for: a number of folds (None is 5) of neighbouring rows, with the classes of y
    spread evenly where a classifier is asked; a splitter as it is; pairs (train, test) of row numbers.

    >>> from tenfold.evaluate import check_cv
    >>> check_cv(3, [0, 1, 0, 1], classifier=True)
    StratifiedKFold(n_splits=3, random_state=None, shuffle=False)
    """
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral):
        strata = classifier and y is not None and target_kind(y) in STRATA
        return (StratifiedKFold if strata else KFold)(int(cv), shuffle=shuffle, random_state=random_state)
    if hasattr(cv, "split") and not isinstance(cv, str):
        return cv
    if not isinstance(cv, Iterable) or isinstance(cv, str) or getattr(cv, "ndim", 1) == 0:
        raise BadParameter(
            "Expected `cv` as an integer, a cross-validation object (from sklearn.model_selection or tenfold.evaluate), or an "
            f"iterable yielding (train, test) splits as arrays of indices. Got {cv}."
        )
    return Given(cv)
