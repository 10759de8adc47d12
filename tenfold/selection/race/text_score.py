"""What a text says about the target, as a number: the part of a saved model that reads a column of texts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import estimator, param
from tenfold.prepare.tokens import cleaned, counts_of, lengths, weighed
from tenfold.table.cells import as_texts
from tenfold.table.reading import pl

MOST_AT_ONCE = 200  # words of a text whose absence is tried


@estimator
class TextScore(Estimator):
    """TextScore: texts as numbers: the log odds of each class but the first against it, or the number that their words suggest.

    Model       s(text) = Σⱼ tⱼ wⱼ + l log(1 + characters) + b,  tⱼ ∝ (1 + log countⱼ) idfⱼ with ‖t‖ = 1, over words and pairs of words
    Objective   that of the models it is made of (`selection.race.text_folds`): a penalised linear model, naive Bayes, and their weights
    Algorithm   `tenfold.select` fits it to training rows alone; what trains the learners behind it are scores of texts it has not seen
    Cost        one pass over the words
    Fails when  the column is absent (refused)
    Reference   Wang & Manning 2012; Wolpert 1992
    """

    words_: Array = learned("text(v)", "words, and pairs of words")
    idf_: Array = learned("float(v)>=0", "how rare each word is: 1 + log((1 + texts) / (1 + texts that hold it))")
    weights_: Array = learned("float(v,k)", "what each word says, for each score")
    length_: Array = learned("float(k)", "what the length says, for each score")
    offset_: Array = learned("float(k)", "the score of a text without known words")
    names_: Array = learned("text(k)", "the columns that the scores make")

    kind: ClassVar[str] = "one pass"
    role: ClassVar[str] = "transformer"
    frozen: ClassVar[bool] = True

    column: str = param(default="", doc="the column of texts")

    @classmethod
    def of(cls, column: str, words: Array, idf: Array, weights: Array, length: Array, offset: Array, names: list[str]) -> TextScore:
        """From its parts; words that say nothing are left out."""
        score = cls(column)
        used = (weights != 0.0).any(axis=1) & (idf > 0.0)
        vars(score).update(
            n_features_in_=1, words_=words[used], idf_=idf[used], weights_=weights[used],
            length_=length, offset_=offset, names_=np.array(names, dtype=object),
        )  # fmt: skip
        return score

    def scores(self, column: pl.Series) -> Array:
        """(texts, scores). A missing text is an empty one."""
        texts = cleaned(column)
        return np.asarray(self._weighted_counts(texts) + self.offset_ + lengths(texts)[:, None] * self.length_)

    def _weighted_counts(self, texts: pl.Series) -> Array:
        return np.asarray(weighed(counts_of(texts, self.words_.tolist()), self.idf_) @ self.weights_)

    def transform(self, X: pl.DataFrame) -> Array:
        """The scores of the texts of a table."""
        if self.column not in X.columns:
            raise BadInput(f"there is no column {self.column!r}, which the model needs")
        return self.scores(as_texts(X[self.column]))

    def scored(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A table with the scores in the place of the texts, behind its other columns."""
        scores = self.transform(frame)
        made = [pl.Series(str(name), scores[:, k]) for k, name in enumerate(self.names_)]
        return pl.DataFrame([*frame.drop(self.column).get_columns(), *made])

    def word_effects(self, text: str) -> list[tuple[str, Array]]:
        """The words of a text, each with how its scores change if this word is taken out, the largest change first."""
        counts = counts_of(cleaned(pl.Series([text])), self.words_.tolist())
        known = [place for place in counts.indices if " " not in self.words_[place]][:MOST_AT_ONCE]
        whole = weighed(counts, self.idf_) @ self.weights_
        found = []
        for place in known:
            word = str(self.words_[place])
            gone = np.array([word in str(self.words_[one]).split(" ") for one in counts.indices])
            less = counts.copy()
            less.data = np.where(gone, 0.0, less.data)
            less.eliminate_zeros()
            found.append((word, np.asarray(whole - weighed(less, self.idf_) @ self.weights_)[0]))
        return sorted(found, key=lambda pair: -float(np.abs(pair[1]).max()))

    def loudest(self, most: int, towards: Array) -> list[tuple[str, float]]:
        """The words that move scores most, each with the score of a text that is this word alone, less the offset.

        towards: what scores are multiplied by to become one. A word that a share q of the texts holds moves scores by about
        weight × idf × √q, and idf = 1 + log(1 / q).
        """
        weights = self.weights_ @ towards
        order = np.argsort(-np.abs(weights) * self.idf_ * np.exp(-self.idf_ / 2), kind="stable")[:most]
        return [(str(self.words_[place]), float(weights[place])) for place in order]

    def _objection(self) -> str | None:
        if len(set(self.words_)) < len(self.words_):
            return "a word is there twice"
        return None if len(set(self.names_)) == len(self.names_) > 0 else "two scores have one name"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags
