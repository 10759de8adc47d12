"""How a document becomes terms: decoded, cleaned, taken apart, and put together to n-grams."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tenfold import _text
from tenfold.base.check import short
from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning, warn
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.threads import while_listening
from tenfold.text.stop_words import ENGLISH
from tenfold.text.terms import (
    Terms,
    analyzed,
    analyzed_by,
    characters,
    characters_in_words,
    cleaned,
    in_ascii,
    without_accents,
    word_ngrams,
)
from tenfold.text.vocabulary import Counted, counted_terms, encoded

WORDS = r"(?u)\b\w\w+\b"
LEAST_LETTERS = {WORDS: 2, r"\b\w\w+\b": 2, r"\w\w+": 2, r"(?u)\b\w+\b": 1, r"\b\w+\b": 1, r"\w+": 1}  # that a native word has
LONG = 1 << 20  # characters whose terms take so long that somebody may want to stop it


@group
class Analysis(Estimator):
    """Abstract: what learners of texts share: the parameters by which a document is taken apart, and the functions that do it."""

    _: KW_ONLY
    input: str = param(default="content", one_of=("content", "file", "filename"), doc="documents are texts, files that are open, or paths")
    encoding: str = param(default="utf-8", doc="of documents that are bytes")
    decode_error: str = param(default="strict", one_of=("strict", "ignore", "replace"), doc="what becomes of bytes that are no text")
    strip_accents: Any = param(default=None, doc="'unicode' or 'ascii' take accents away, or a function of the text; None leaves them")
    lowercase: bool = param(default=True, doc="all letters in lower case")
    preprocessor: Any = param(default=None, doc="a function from document to text, in place of all cleaning")
    tokenizer: Any = param(default=None, doc="a function that makes words of a text, in place of token_pattern")
    stop_words: Any = param(default=None, doc="words that are left out: a list, 'english', or None")
    token_pattern: str | None = param(default=WORDS, doc="regular expression of a word, or of a group in it: two letters or more")
    ngram_range: Any = param(default=(1, 1), doc="least and largest number of words or characters in a term")
    analyzer: Any = param(
        default="word", doc="terms are words ('word'), characters ('char', 'char_wb': within words), or by a function of the document"
    )
    strip_html: bool = param(default=False, doc="marks of HTML are spaces")
    drop_numbers: bool = param(default=False, doc="numbers that stand alone are left out")

    # --- the functions of a document, as scikit-learn has them ---

    def decode(self, doc: Any) -> Any:
        """The text of a document: read where it is a file, decoded where it is bytes."""
        if self.input == "filename":
            with open(doc, "rb") as file:
                doc = file.read()
        elif self.input == "file":
            doc = doc.read()
        if isinstance(doc, bytes):
            doc = doc.decode(self.encoding, self.decode_error)
        if doc is None or (isinstance(doc, float) and doc != doc):
            raise BadInput("np.nan is an invalid document, expected byte or unicode string.")
        return doc

    def build_preprocessor(self) -> Callable[[Any], Any]:
        """What is done to a text before it is taken apart."""
        if self.preprocessor is not None:
            given: Callable[[Any], Any] = self.preprocessor
            return given
        return partial(
            cleaned, accents=self._accents(), lower=self.lowercase, html=self.strip_html, numbers=self.drop_numbers
        )

    def _accents(self) -> Callable[[str], str] | None:
        how = self.strip_accents
        if how is None or callable(how):
            return how  # type: ignore[no-any-return]
        known = {"unicode": without_accents, "ascii": in_ascii}
        if not isinstance(how, str) or how not in known:
            raise BadParameter(f'Invalid value for "strip_accents": {how}. It must be \'unicode\', \'ascii\', a function or None')
        return known[how]

    def build_tokenizer(self) -> Callable[[str], Terms]:
        """What makes words of a text."""
        if self.tokenizer is not None:
            given: Callable[[str], Terms] = self.tokenizer
            return given
        try:
            pattern = re.compile(self.token_pattern or "")
        except re.error as wrong:
            raise BadParameter(f"{type(self).__name__}(token_pattern={self.token_pattern!r}): is no regular expression: {wrong}") from wrong
        if pattern.groups > 1:
            raise BadParameter(
                "More than 1 capturing group in token pattern. Only a single group should be captured: write (?:...) for the others"
            )
        return pattern.findall

    def get_stop_words(self) -> frozenset[str] | None:
        """The words that are left out, or None."""
        given = self.stop_words
        if isinstance(given, str):
            if given != "english":
                raise BadParameter(f"not a built-in stop list: {given}. stop_words must be 'english', a list of words, or None")
            return ENGLISH
        return None if given is None else frozenset(given)

    def build_analyzer(self) -> Callable[[Any], Terms]:
        """What makes terms of a document, from bytes to n-grams."""
        if callable(self.analyzer):
            return partial(analyzed_by, decode=self.decode, function=self.analyzer)
        least, most = self._span()
        prepare = self.build_preprocessor()
        if self.analyzer in ("char", "char_wb"):
            apart = partial(characters if self.analyzer == "char" else characters_in_words, least=least, most=most)
            return partial(analyzed, decode=self.decode, prepare=prepare, apart=apart, join=None)
        if self.analyzer != "word":
            raise BadParameter(f"{self.analyzer} is not a valid tokenization scheme/analyzer: 'word', 'char', 'char_wb' or a function")
        join = partial(word_ngrams, stop_words=self.get_stop_words(), least=least, most=most)
        return partial(analyzed, decode=self.decode, prepare=prepare, apart=self.build_tokenizer(), join=join)

    def _saved_params(self) -> dict[str, Any]:
        """A file cannot hold sets and types."""
        params = super()._saved_params()
        if isinstance(self.stop_words, (set, frozenset)):
            params["stop_words"] = sorted(self.stop_words)
        kind = params["dtype"]
        return params if isinstance(kind, str) else params | {"dtype": np.dtype(kind).name}

    # --- what is asked of them ---

    def _span(self) -> tuple[int, int]:
        """The least and the largest number of words or characters in a term."""
        least, most = self.ngram_range
        if least > most:
            raise BadParameter(f"Invalid value for ngram_range={self.ngram_range} lower boundary larger than the upper boundary.")
        return int(least), int(most)

    def _wrong_parameter(self) -> str | None:
        """What is wrong with a parameter, as a sentence; None where nothing is."""
        span, words = self.ngram_range, self.stop_words
        for name in ("preprocessor", "tokenizer"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                return f"{name}={short(getattr(self, name))}: must be a function or None"
        if not isinstance(span, (tuple, list)) or len(span) != 2 or not all(isinstance(k, (int, np.integer)) and k >= 1 for k in span):
            return f"ngram_range={short(span)}: must be two whole numbers of at least 1, as (1, 2)"
        if not (callable(self.analyzer) or (isinstance(self.analyzer, str) and self.analyzer in ("word", "char", "char_wb"))):
            return f"analyzer={short(self.analyzer)}: must be 'word', 'char', 'char_wb' or a function"
        if words is not None and not isinstance(words, str) and not (np.iterable(words) and all(isinstance(one, str) for one in words)):
            return f"stop_words={short(words)}: must be 'english', a list of words, or None"
        try:
            sound = np.dtype(vars(self)["dtype"]).kind in "biuf"
        except TypeError:
            sound = False
        return None if sound else f"dtype={short(vars(self)['dtype'])}: must be a type of numbers"

    def _check_analysis(self) -> None:
        """Refuse what cannot be, and warn of what will not be used, before the first document is looked at."""
        wrong = self._wrong_parameter()
        if wrong is not None:
            raise BadParameter(f"{type(self).__name__}({wrong.replace(': ', '): ', 1)}")
        self._span()
        self._accents()
        words, theirs = not callable(self.analyzer) and self.analyzer == "word", callable(self.analyzer)
        why = "'analyzer' is callable" if theirs else "'analyzer' != 'word'"
        unused = {
            "tokenizer": self.tokenizer is not None and not words and why,
            "stop_words": self.stop_words is not None and not words and why,
            "preprocessor": self.preprocessor is not None and theirs and why,
            "ngram_range": tuple(self.ngram_range) != (1, 1) and theirs and why,
        }
        if self.token_pattern not in (None, WORDS):
            unused["token_pattern"] = why if not words else self.tokenizer is not None and "'tokenizer' is not None"
        for name, reason in unused.items():
            if reason:
                warn(f"The parameter '{name}' will not be used since {reason}", DataWarning, stacklevel=4)
        if words:
            self._check_stop_words()

    def _objection(self) -> str | None:
        wrong = self._wrong_parameter()
        if wrong is not None:
            return wrong
        try:
            self._span(), self._accents()
            self.build_analyzer()
        except BadParameter as refusal:
            return str(refusal)
        return None

    def _check_stop_words(self) -> None:
        """Warn where words that are to be left out are no words as documents are taken apart."""
        words = self.get_stop_words()
        if not words or words is ENGLISH:
            return
        try:
            prepare, apart = self.build_preprocessor(), self.build_tokenizer()
            strange = sorted({part for one in words for part in apart(prepare(one))} - words)
        except Exception:  # functions of the user that take other documents than texts
            return
        if strange:
            warn(
                "Your stop_words may be inconsistent with your preprocessing. Tokenizing the stop words generated tokens "
                f"{strange} not in stop_words.",
                DataWarning,
                stacklevel=5,
            )

    def _native(self) -> tuple[str, int, bool] | None:
        """Unit, least letters and whether to lower the case, for documents that native code takes apart; None: Python does."""
        kind, base = type(self), Analysis
        if (kind.build_analyzer, kind.build_preprocessor, kind.build_tokenizer) != (
            base.build_analyzer, base.build_preprocessor, base.build_tokenizer
        ):  # fmt: skip
            return None
        if self.analyzer is str.split:
            return "pieces", 1, False
        if callable(self.analyzer):
            return None
        if self.analyzer in ("char", "char_wb"):
            return self.analyzer, 1, self._lowers()
        if self.analyzer != "word" or self.tokenizer is not None or self.token_pattern not in LEAST_LETTERS:
            return None
        return "words", LEAST_LETTERS[self.token_pattern], self._lowers()

    def _lowers(self) -> bool:
        return bool(self.lowercase) and not self._prepares()

    def _prepares(self) -> bool:
        """Whether texts pass through Python before they are taken apart."""
        return self.preprocessor is not None or self.strip_accents is not None or self.strip_html or self.drop_numbers

    def _terms(self, documents: Array) -> Counted:
        """The terms of documents, and how often each has them."""
        native = self._native()
        if native is None:
            analyze = self.build_analyzer()
            return counted_terms(analyze(one) for one in documents)
        unit, least, lower = native
        content = self.input == "content"
        texts = [one if content and type(one) is str else self.decode(one) for one in documents.tolist()]
        plain = unit == "pieces"
        if not plain and self._prepares():
            prepare = self.build_preprocessor()
            texts = [prepare(one) for one in texts]
        stop = self.get_stop_words() if unit == "words" else None
        span = (1, 1) if plain else self._span()
        left_out = encoded(sorted(stop or ()))

        def work() -> Any:
            with lent_threads() as n:
                return _text.count(texts, unit, least, lower, *span, *left_out, n)

        try:
            return Counted(*while_listening(sum(map(len, texts)) >= LONG, work))
        except TypeError as wrong:  # what a preprocessor has made
            raise BadType(f"{type(self).__name__}: {wrong}: let preprocessor give a text") from wrong
