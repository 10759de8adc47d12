"""What a learner says of itself, on one page: the gate, evaluation, composition and the tests ask nothing else.

A learner sets them on its class. One made of other learners may have properties instead: they say what those say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class Traits:
    """Abstract: defaults of what a learner says of itself."""

    if TYPE_CHECKING:  # to a type checker they can be read, and may be set on a class or be properties

        @property
        def role(self) -> str: ...
        @property
        def kind(self) -> str: ...
        @property
        def opens(self) -> bool: ...
        @property
        def target(self) -> str: ...
        @property
        def accepts(self) -> str: ...
        @property
        def sparse(self) -> bool: ...
        @property
        def lean(self) -> bool: ...
        @property
        def lean_fit(self) -> bool: ...
        @property
        def missing(self) -> bool: ...
        @property
        def nonnegative(self) -> bool: ...
        @property
        def double(self) -> bool: ...
        @property
        def categorical(self) -> bool: ...
        @property
        def categorical_features(self) -> Any: ...
        @property
        def given_categories(self) -> Any: ...
        @property
        def unseen(self) -> str: ...
        @property
        def fills(self) -> bool: ...
        @property
        def codes(self) -> bool: ...
        @property
        def by_column(self) -> bool: ...
        @property
        def by_ends(self) -> bool: ...
        @property
        def passes_gaps(self) -> bool: ...
        @property
        def by_verbs(self) -> bool: ...
        @property
        def invertible(self) -> bool: ...
        @property
        def multi_output(self) -> bool: ...
        @property
        def flattens(self) -> bool: ...
        @property
        def own_score(self) -> bool: ...
        @property
        def target_range(self) -> tuple[float, float]: ...
        @property
        def least_rows(self) -> int: ...
        @property
        def least_classes(self) -> int: ...
        @property
        def path(self) -> str | None: ...
        @property
        def summary_reads(self) -> tuple[str, ...] | None: ...
        @property
        def stateless(self) -> bool: ...
        @property
        def exempt(self) -> dict[str, str]: ...
        @property
        def frozen(self) -> bool: ...
    else:
        # --- what it does, and how ---
        role = ""  # what it does with rows: set by the classes of `base.roles`
        kind = "many passes"  # or "one pass", "keeps rows", "sequential"
        path = None  # a parameter all of whose values come from one fit
        summary_reads = None  # of a one-pass learner: the parameters that `_summarize` looks at; None: any of them
        stateless = False  # what it does to rows depends on its parameters and the columns alone, not on the rows of the fit

        # --- what it takes ---
        accepts = "rows"  # of fixed width; other kinds of input are in `gate.inputs`
        opens = False  # files by itself, whatever their size: `blocks(path, y)` are rows for the learner behind it
        target = "none"  # or "real", "label"
        sparse = False  # takes CSR
        lean = False  # and what it says of such rows needs none of them dense
        lean_fit = False  # nor does its fit
        missing = False  # takes NaN
        nonnegative = False  # takes no values below zero: counts, and numbers of categories
        double = False  # computes with float64 alone: float32 values need not be small enough to be squared as such
        categorical = False  # takes text, categories and truth values, as codes; needs `missing` too
        categorical_features = "from_dtype"  # which columns hold categories: as their types say, or as the user says
        given_categories = None  # the categories of each column where the user has given them
        unseen = "missing"  # what the gate makes of categories that fit has not seen: missing values, "mark" them, "refuse" them
        multi_output = False  # takes several targets
        flattens = False  # and a target (n, 1) is to it the one of (n,), as in scikit-learn where that is so
        target_range = (float("-inf"), float("inf"))  # between which numbers of the target must lie
        least_rows = 1
        least_classes = 2

        # --- what it leaves to the learner behind it in a pipeline ---
        fills = False  # no missing values
        codes = False  # categories as numbers
        by_column = False  # z = (x − shift) / scale column by column, or some columns, fitted from the sums of `base.columns` alone
        by_ends = False  # of one `by_column`: from the least and the largest values too
        passes_gaps = False  # missing values of some columns, though others are filled

        by_verbs = False  # pipelines ask it by its verbs: `fit_transform` is not `transform`, or it wants the table as it was given

        # --- the rest ---
        own_score = False  # its `score` is neither R² nor accuracy: cross-validation and searches that name no score ask it
        invertible = False  # a transformer with `_inverse`, which brings transformed rows back
        exempt = {}  # laws of tests/laws.py that do not hold, each with the reason
        frozen = False  # a fitted part that is a setting of a learner: copies of that keep it as it is

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        """Parameters in which the tests try it: `tol` is tight, as many digits are compared."""
        return [{}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        """Parameters for a table of a few rows, and for a small file."""
        return cls._examples()[0]
