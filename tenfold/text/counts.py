"""Documents as counts of their terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from tenfold import _text
from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, BadParameter, DataWarning, not_fitted, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.stats import Rows, merge
from tenfold.text.analysis import Analysis
from tenfold.text.reading import documents_of
from tenfold.text.vocabulary import Counted, Vocabulary, chosen, decoded, in_order, list_objection

FEW = 1000  # terms that a file holds as a parameter


class Texts(Transformer, Analysis):
    """Abstract: a transformer of documents, each of which becomes a sparse row."""

    accepts: ClassVar[str] = "documents"
    by_verbs: ClassVar[bool] = True  # a pipeline hands on documents as they are

    @available(lambda model: False)
    def set_output(self, *, transform: str | None = None) -> Self:
        """Not there, as in scikit-learn: rows of so many columns are sparse."""
        return self

    def _takes_anything(self) -> bool:
        """Whether documents may be anything, as a function of the user, or a file, makes texts of them."""
        own = type(self).build_preprocessor is not Analysis.build_preprocessor or type(self).build_analyzer is not Analysis.build_analyzer
        return own or self.preprocessor is not None or callable(self.analyzer) or self.input != "content"

    def _opened(self, X: Any, sample_weight: Any = None) -> Source:
        """The gate for documents."""
        check.check_params(self)
        self._check_analysis()
        return documents_of(self, X, sample_weight, may_be_none=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


@group
class Counting(Texts, OnePass):
    """Abstract: learns which terms there are."""

    _letters: Array = learned("byte(c)", "the terms one after another, in the order of their texts, as UTF-8", rows=True)
    _ends: Array = learned("int(m)", "where each term ends")
    _columns: Array = learned("int(m)<m", "the column of each term")
    stats_: Any = learned("Vocabulary(v)", "documents and counts of all terms: for partial_fit, merge and forget", optional=True)

    _: KW_ONLY
    max_df: int | float = param(default=1.0, at_least=0, doc="terms in more documents are left out: a share (1.0: none) or a number (1)")
    min_df: int | float = param(default=1, at_least=0, doc="terms in fewer documents are left out: a share (0.1) or a number (10)")
    max_features: int | None = param(default=None, at_least=1, doc="keep the terms that occur most, so many")
    vocabulary: Any = param(default=None, doc="the terms, in order or with their columns; None: those of the documents")
    binary: bool = param(default=False, doc="whether a document has a term, not how often")

    summary_reads: ClassVar[tuple[str, ...] | None] = None

    # --- fit ---

    def fit(self, raw_documents: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the terms of documents: texts in a list, an array or a column, or blocks of them one after the other."""
        return self._fit(self._opened(raw_documents, sample_weight))

    def fit_transform(self, raw_documents: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and the rows of the same documents, which are taken apart once."""
        source = self._opened(raw_documents, sample_weight)
        if sample_weight is not None:
            return self._fit(source).transform(raw_documents)
        apart = self._apart()
        try:
            found = apart._kept(source)
            stats = merge(one.vocabulary(w, self.binary) for one, w in found)
            vars(apart).update(source.facts)
            vars(apart).update(stats_=stats, **apart._solve(stats))
        except BaseException:
            self._forget_fit()
            raise
        self._publish(apart)
        found.reverse()
        return Rows([self._row_of(found.pop()[0]) for _ in range(len(found))]).whole()  # each block is let go of when its rows are made

    def _kept(self, source: Source) -> list[tuple[Counted, Array]]:
        """The documents taken apart, block by block, with their weights."""
        kept = current_engine(source).run(lambda block: Rows.of((self._terms(block.X), block.w)), source)
        return list(kept.parts)

    def _more(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Source:
        if "stats_" not in vars(self) and "n_features_in_" in vars(self):
            self._check_stats(self)
        source = self._opened(X, sample_weight)
        vars(self).update(source.facts)
        return source

    def _summarize(self, block: Block) -> Vocabulary:
        return self._terms(block.X).vocabulary(block.w, self.binary)

    def _solve(self, stats: Vocabulary) -> dict[str, Any]:
        if self.vocabulary is not None:
            letters, ends, columns = self._given()
            self._warn_of_upper_case(letters, ends)
            return dict(_letters=letters, _ends=ends, _columns=columns)
        if stats is None or not len(stats.ends):
            raise BadInput(
                "empty vocabulary; perhaps the documents only contain stop words, or words of one letter: change stop_words, token_pattern"
            )
        kept = self._not_too_rare(stats)
        letters, ends = (stats.letters, stats.ends) if kept.all() else chosen(stats.letters, stats.ends, kept)
        return dict(_letters=letters, _ends=ends, _columns=np.arange(len(ends)))

    def _not_too_rare(self, stats: Vocabulary) -> Array:
        """Which terms are kept."""
        most, least = (self._in_documents(name, stats.weight) for name in ("max_df", "min_df"))
        if most < least:
            raise BadParameter(f"max_df corresponds to < documents than min_df: max_df={self.max_df}, min_df={self.min_df}")
        kept = (stats.documents <= most) & (stats.documents >= least)
        if self.max_features is not None and kept.sum() > self.max_features:
            often = np.argsort(-stats.counts[kept], kind="stable")[: self.max_features]
            kept = np.isin(np.arange(len(kept)), np.flatnonzero(kept)[often])
        if not kept.any():
            raise BadInput("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
        return np.asarray(kept)

    def _in_documents(self, name: str, weight: float) -> float:
        """A limit as a number of documents."""
        given = getattr(self, name)
        if isinstance(given, (int, np.integer)):
            return float(given)
        if given > 1:
            raise BadParameter(f"{type(self).__name__}({name}={given}): must be a share of at most 1.0, or a whole number of documents")
        return float(given) * weight

    # --- a vocabulary that is given ---

    def _given(self) -> tuple[Array, Array, Array]:
        """The terms of the user in the order of their texts, and their columns."""
        given = self.vocabulary
        if isinstance(given, str):
            raise BadParameter(f"{type(self).__name__}(vocabulary={given!r}): must be a list of terms, or a dict of their columns")
        if isinstance(given, Mapping):
            terms, columns = list(given), list(given.values())
            if len(set(columns)) < len(columns):
                raise BadParameter("Vocabulary contains repeated indices.")
            gap = next((j for j in range(len(columns)) if j not in set(columns)), None) if columns else None
            if gap is not None:
                raise BadParameter(f"Vocabulary of size {len(columns)} doesn't contain index {gap}.")
        else:
            terms = sorted(given) if isinstance(given, (set, frozenset)) else list(given)
            columns = list(range(len(terms)))
            if len(set(terms)) < len(terms):
                twice = next(one for i, one in enumerate(terms) if one in terms[:i])
                raise BadParameter(f"Duplicate term in vocabulary: {twice!r}")
        if not terms:
            raise BadParameter("empty vocabulary passed to fit: give some terms, or None")
        if not all(isinstance(one, str) for one in terms):
            raise BadParameter(f"{type(self).__name__}(vocabulary): terms must be texts")
        letters, ends, order = in_order(terms)
        return letters, ends, np.array(columns, dtype=np.int64)[order]

    def _warn_of_upper_case(self, letters: Array, ends: Array) -> None:
        if self.lowercase and any(one != one.lower() for one in decoded(letters, ends)):
            warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These entries will not be matched with any documents",
                DataWarning,
                stacklevel=5,
            )

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the terms were given."""
        return self.vocabulary is not None

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        known = vars(self).get("_by_term")
        model = self._ready()
        if known is None or known[0] is not model._letters:
            terms = decoded(model._letters, model._ends)
            known = model._letters, dict(zip(terms, model._columns.tolist(), strict=True))
            vars(self)["_by_term"] = known
        found: dict[str, int] = known[1]
        return found

    def _ready(self) -> Self:
        """This, fitted; or a copy that is, where the terms were given and nothing else is to be learned."""
        if "n_features_in_" in vars(self):
            return self
        if self.vocabulary is None:
            raise not_fitted(type(self).__name__)
        if not isinstance(self.vocabulary, (Mapping, list, tuple, set, frozenset, np.ndarray)):
            self.vocabulary = list(self.vocabulary)  # an iterator, which can be asked once
        letters, ends, columns = self._given()
        known: Any = vars(self).get("_copied")
        if known is None or not np.array_equal(known._letters, letters):
            known = self._fitted_copy(dict(_letters=letters, _ends=ends, _columns=columns, n_features_in_=1))
        return known  # type: ignore[no-any-return]

    # --- fitted ---

    def transform(self, raw_documents: Any) -> Any:
        """The documents as rows of a CSR matrix, a column for each known term."""
        model = self._ready()
        source = documents_of(self, raw_documents)
        return map_rows(model._transform, source.whole()) if source.n_rows != 0 else model._transform(np.empty(0, dtype=object))

    def _transform(self, X: Array) -> Any:
        return self._row_of(self._terms(X))

    def _row_of(self, found: Counted) -> Any:
        return self._weighed(self._counts_of(found))

    def _counts_of(self, found: Counted) -> Any:
        places = None
        if found.letters is not self._letters:
            places = _text.find(found.letters, found.ends, self._letters, self._ends)
            places = np.where(places >= 0, self._columns[places], -1)
        return found.placed(places, len(self._ends), self.binary, self._kind())

    def _kind(self) -> Any:
        """The type of counts."""
        raise NotImplementedError

    def _weighed(self, counts: Any) -> Any:
        """Rows of counts as they are returned."""
        raise NotImplementedError

    def inverse_transform(self, X: Any) -> list[Array]:
        """The terms that each row has."""
        names = self._ready()._names_out()
        X = X.tocsr() if ops.is_sparse(X) else np.asarray(X)
        check.check_width(self, X.shape[1], len(names)) if X.ndim == 2 else None
        terms = np.array(names, dtype=object)
        if not ops.is_sparse(X):
            return [terms[row != 0] for row in X]
        return [terms[X.indices[a:b][X.data[a:b] != 0]] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]

    def _names_out(self) -> list[str]:
        names = [""] * len(self._ends)
        for term, column in zip(decoded(self._letters, self._ends), self._columns.tolist(), strict=True):
            names[column] = term
        return names

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The terms, in the order of their columns."""
        return np.array(self._ready()._names_out(), dtype=object)

    def _objection(self) -> str | None:
        wrong = super()._objection() or list_objection(self._letters, self._ends)
        if wrong is None and len(np.unique(self._columns)) < len(self._columns):
            return "two terms have one column"
        if wrong is None and self.vocabulary is not None:
            try:
                self._given()
            except (TypeError, BadParameter) as refusal:
                return f"the vocabulary is none: {refusal}"
        return wrong

    def _saved_params(self) -> dict[str, Any]:
        """Terms that were given as they are where they are few, else as an array, in the order of their columns."""
        params, given = super()._saved_params(), self.vocabulary
        if given is not None and (not isinstance(given, (list, tuple, dict)) or len(given) > FEW):
            params["vocabulary"] = self.get_feature_names_out()
        return params

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_by_term", None)  # follows from the rest
        if isinstance(self.vocabulary, (set, frozenset)):  # whose order is another one there
            state["vocabulary"] = sorted(self.vocabulary)
        return state


@estimator
class CountVectorizer(Counting):
    """CountVectorizer: documents as rows of counts, a column for each term.

    Model       z_j = how often the document has term j; terms are words, or n that follow one another, or n characters
    Objective   none: terms are listed, and those in too few or too many documents left out
    Algorithm   native tokeniser and hash table, by threads over documents; columns in the order of the terms' texts
    Cost        O(characters) time, memory for every different term; one pass, merging O(terms)
    Fails when  no term is left (refused); terms of later documents that fit has not met are not counted
    Reference   Salton & McGill 1983

    Example
    -------
    >>> import tenfold
    >>> counter = tenfold.CountVectorizer()
    >>> counter.fit_transform(["the cat", "the cat, the dog"]).toarray().tolist()
    [[1, 0, 1], [1, 1, 2]]
    >>> counter.get_feature_names_out().tolist()
    ['cat', 'dog', 'the']
    """

    _: KW_ONLY
    dtype: Any = param(default="int64", doc="the type of the counts")

    def _kind(self) -> Any:
        return np.dtype(self.dtype)

    def _weighed(self, counts: Any) -> Any:
        return counts
