"""From a table as people have it to what a learner takes: numbers, categories, dates and gaps by one rule for each kind of column."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, ClassVar, Self

import numpy as np

from tenfold import _columns
from tenfold.base import check
from tenfold.base.estimator import Estimator, Transformer
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.coder import TableCoder
from tenfold.prepare.indicators import widths
from tenfold.prepare.new_rows import check_new_rows
from tenfold.prepare.prepared_words import sentence_of
from tenfold.prepare.table_counts import counted
from tenfold.prepare.table_dates import PARTS, date_columns, date_names, date_scales
from tenfold.prepare.table_rows import Rows, chunks_of, matched, read_texts, table_of, target_values
from tenfold.prepare.table_scales import scales_of
from tenfold.prepare.table_sums import TableSums
from tenfold.prepare.words import word_columns, word_names
from tenfold.table.columns import LEAST_LEVEL_ROWS, check_name, look_at
from tenfold.table.reading import pl

BLOCK_CELLS = 1 << 19  # of a matrix made of some rows of a file
MOST_CELLS = 100_000_000  # of a coded matrix: categories get fewer columns rather than more memory


@estimator
class Prepare(Transformer, Estimator):
    """Prepare: a table as it is (numbers, categories, dates, gaps, ids) as what a learner takes.

    Model       number     z = (x − mean) / sd, 0 where x is missing, and a column 0/1 for "is missing" if enough are
                date       the same of its days since 1970; sine and cosine of its place in the year, the week and the day, where its dates
                           cover them (`DateParts`); for trees month, weekday and hour
                category   a column 0/1 for each level but the most frequent one; rare levels together, a gap is a level
                text       the logarithm of its length, and a column 0/1 for each of its frequent words
                left out   ids, constants, columns that count the rows
    Objective   none: the target is not looked at
    Algorithm   looks at all cells of a column to find its kind (`tenfold.read` shows them), counts levels, sums up numbers
    Cost        O(cells), one pass over the table for kinds and levels, one to code it; in memory
    Fails when  a column that it needs is missing from new rows (refused, with the name that was probably meant)
    Reference   Hastie, Tibshirani & Friedman 2009, sections 4.4 and 9.6

    `purpose` is what stands behind it. "linear" (the default) also suits networks and anything with a penalty: all columns have mean 0
    and variance 1. "neighbors": numbers have variance 1, and two rows of different levels lie 1 apart. "trees" changes nothing that
    a tree can do itself: a frame of numbers with gaps and of texts, rare levels together.

    Example
    -------
    >>> import polars, tenfold
    >>> table = polars.DataFrame({"size": ["1,5", "2,5", None, "3,5"] * 5, "colour": ["red", "blue"] * 10})
    >>> prepare = tenfold.Prepare().fit(table)
    >>> prepare.get_feature_names_out().tolist()
    ['size', 'size is missing', 'colour=red']
    >>> print(prepare.describe())
    size    number: numbers such as '1,5', read as 1.5; minus its mean 2.5, divided by 0.8165; 0 where missing, and 1 in 'size is missing'
    colour  category: a column 0/1, centred and scaled, for 'red'; none of them is 'blue'
    """

    feature_names_in_: Array = learned("text(p)", "names of the columns")
    coder_: TableCoder = learned("part", "the coder of the columns that are used")
    kinds_: Array = learned("text(p)", "the kind of each column")
    notes_: Array = learned("text(p)", "what there is to know about each column, such as why it is left out")
    texts_: Array = learned("text(t)", "names of the columns of texts")
    words_: list[Array] = learned("[text(*)](t)", "their frequent words")
    dates_: Array = learned("text(d)", "names of the columns of dates with more than their days", optional=True)
    cycles_: list[Array] = learned("[text(*)](d)", "the cycles of each of these: dayofyear, dayofweek, hour", optional=True)
    mean_: Array = learned("float(m)", "what is subtracted from each new column")
    scale_: Array = learned("float(m)>=0", "what each new column is divided by")

    kind: ClassVar[str] = "one pass"
    accepts: ClassVar[str] = "anything"
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    fills: ClassVar[bool] = True
    codes: ClassVar[bool] = True
    invertible: ClassVar[bool] = True
    opens: ClassVar[bool] = True

    purpose: str = param(default="linear", one_of=("linear", "neighbors", "trees"), doc="what stands behind it")
    _: KW_ONLY
    kinds: dict[Any, Any] | None = param(
        default=None, doc="the kind of single columns by name, where the cells would say another: 'nominal', 'number', 'drop'"
    )
    least_rows: int = param(default=LEAST_LEVEL_ROWS, at_least=1, doc="a level of fewer rows is taken together with others of its kind")
    most_levels: int = param(default=50, at_least=1, doc="levels of one category that get a column, the most frequent first")
    most_words: int = param(default=200, at_least=0, doc="words of a text that get a column, the most frequent first; 0 leaves texts out")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the kinds of the columns and learn how to code them; X is a frame, an array, a Table, the path of a file, or blocks of rows.

        Kinds are found in all of a table in memory; of files and blocks in the first million cells, and what does not suit them
        further down counts as missing.
        """
        check.check_params(self)
        with closing(chunks_of(X, y if isinstance(y, str) else None)) as chunks:  # at once, whatever holds the frame of an interrupted fit
            found = counted(chunks, self.kinds or {}, sample_weight, self.least_rows, self.most_words > 0)
        self._forget_fit()
        vars(self).update(
            n_features_in_=len(found.columns),
            feature_names_in_=np.array([column.name for column in found.columns], dtype=object),
            kinds_=np.array(["text" if column.name in found.texts else column.kind for column in found.columns], dtype=object),
            notes_=np.array(["" if column.name in found.texts else column.note or "" for column in found.columns], dtype=object),
        )
        self._solve(found.schema, found.texts, found.sums, {one.name: one.form for one in found.columns if one.form is not None})
        return self

    def _solve(self, schema: Any, texts: list[str], sums: TableSums, forms: dict[str, str]) -> None:
        """Levels, words, means and scales from what was counted."""
        categories = max(1, sum(kind == pl.String for kind in schema.values()))
        most = int(np.clip(MOST_CELLS // (sums.rows * categories), 5, self.most_levels))
        coder = TableCoder(least_rows=self.least_rows, most_levels=most).learn(schema, sums, forms)
        words = [sums.words[name].frequent(self.least_rows, self.most_words, below=sums.rows)[0] for name in texts]
        cycles = {name: found for name, one in sums.dates.items() if (found := one.cycles())}
        vars(self).update(
            coder_=coder, texts_=np.array(texts, dtype=object), words_=[np.array(some, dtype=object) for some in words],
            dates_=np.array(list(cycles), dtype=object), cycles_=[np.array(some, dtype=object) for some in cycles.values()],
        )  # fmt: skip
        mean, scale = np.zeros(0), np.ones(0)
        if self.purpose != "trees":
            mean, scale = scales_of(coder, texts, words, sums, self.purpose == "neighbors")
            more = date_scales(2 * sum(map(len, cycles.values())), self.purpose == "neighbors")
            mean, scale = np.append(mean, more[0]), np.append(scale, more[1])
        vars(self).update(mean_=mean, scale_=scale)

    def _scaled(self, frame: pl.DataFrame, size: int) -> Iterator[Array]:
        """The matrix, centred and scaled, at most so many rows at once: in memory that was just used."""
        coder, neighbors = self.coder_, self.purpose == "neighbors"
        low, high = -self.mean_ / self.scale_, (1.0 - self.mean_) / self.scale_
        widths, start, parts = self._widths(), 0, list[tuple[Any, ...]]()
        numbers = dict[str, Array]()
        for i, (name, category) in enumerate(zip(map(str, coder.feature_names_in_), coder.category_, strict=True)):
            if category:
                codes, places = coder.places(frame[name], i)
                parts.append((start, widths[i], codes, places + int(neighbors)))
            else:
                numbers[name] = coder.numbers(frame[name], i).to_numpy()  # NaN for missing
                parts.append((start, widths[i], numbers[name]))
            start += widths[i]
        words = self._word_columns(frame)
        dated = start + sum(some.shape[1] for some in words)
        parts += [(dated + j, 1, column) for j, column in enumerate(self._date_columns(numbers))]
        for first in range(0, max(1, frame.height), size):
            rows = slice(first, min(first + size, frame.height))
            Z, place = np.empty((rows.stop - first, len(low))), start
            for some in words:
                part = slice(place, place + some.shape[1])
                Z[:, part] = (some[rows] - self.mean_[part]) / self.scale_[part]
                place = part.stop
            cut = [(at, width, cells[rows], *rest) for at, width, cells, *rest in parts]
            beyond = _columns.code_rows(cut, self.mean_, self.scale_, low, high, Z)
            if beyond is not None:
                name, row = self._used[beyond[0]], first + beyond[1]
                raise BadInput(f"column {name!r}, row {row}: {numbers[name][row]:g} is too large a value for its scale in fit")
            yield Z

    def _word_columns(self, frame: pl.DataFrame) -> list[Array]:
        return [word_columns(frame[name], list(words)) for name, words in zip(self.texts_, self.words_, strict=True)]

    @property
    def _cycles(self) -> dict[str, list[str]]:
        """The cycles of each column of dates that has some; older files know none."""
        return {str(name): list(some) for name, some in zip(self.dates_, self.cycles_, strict=True)} if "dates_" in vars(self) else {}

    def _date_columns(self, numbers: dict[str, Array]) -> list[Array]:
        """The columns of the cycles of dates, from their days as the coder has them."""
        scale = dict(zip(map(str, self.coder_.feature_names_in_), self.coder_.scale_, strict=True))
        trees, made = self.purpose == "trees", list[Array]()
        for name, cycles in self._cycles.items():
            made += date_columns(numbers[name] if scale[name] == 1.0 else numbers[name] / scale[name], cycles, trees)
        return made

    @property
    def _used(self) -> list[str]:
        """The columns that are used."""
        return [*map(str, self.coder_.feature_names_in_), *map(str, self.texts_)]

    def _widths(self) -> list[int]:
        """The new columns that belong to each column that is used; then those of the cycles of dates."""
        more = self.coder_.category_ if self.purpose == "neighbors" else np.zeros(len(self.coder_.category_), dtype=bool)
        coded = [width + int(one) for width, one in zip(widths(self.coder_), more, strict=True)]
        parts = [len(date_names("", some, self.purpose == "trees")) for some in self._cycles.values()]
        return ([1] * len(coded) if self.purpose == "trees" else coded) + [1 + len(words) for words in self.words_] + parts

    def transform(self, X: Any) -> Any:
        """The matrix of numbers, or for trees the frame; other columns than those needed are passed over."""
        check.check_fitted(self)
        rows = table_of(X)
        made = next(self._made(rows, max(1, rows.frame.height)))
        return made if self.purpose == "trees" else self._dressed(made, X)

    def blocks(self, X: Any, y: str | None = None) -> Iterator[Any]:
        """What `transform` makes of a file or blocks, some rows at a time: blocks for the `fit` of any learner, with a target by name."""
        check.check_fitted(self)
        target, size = None, max(1, BLOCK_CELLS // max(1, len(self.mean_)))
        with closing(chunks_of(X, names=[*self._used, *([] if y is None else [y])])) as chunks:
            for rows in chunks:
                if y is None:
                    yield from self._made(rows, size)
                    continue
                check_name(y, rows.frame.columns, " to be the target")
                if target is None:
                    target = look_at(rows.frame[y], rows.typed, comma=rows.comma)[0]
                values, start = target_values(target, rows.frame), 0
                for made in self._made(rows, size):
                    yield made, values[start : start + len(made)]
                    start += len(made)

    def _made(self, rows: Rows, size: int) -> Iterator[Any]:
        """What is made of some rows: for trees a frame, else matrices of at most so many rows."""
        if not rows.named:
            check.check_width(self, rows.frame.width, self.n_features_in_)
        frame = read_texts(matched(rows.frame, self._used), self.coder_.typed())
        check_new_rows(frame, self.coder_, self.purpose == "trees")
        if self.purpose == "trees":
            yield self._frame(frame)
        else:
            yield from (Z.astype(rows.dtype, copy=False) for Z in self._scaled(frame, size))

    def _frame(self, frame: pl.DataFrame) -> Any:
        """What trees take: numbers with gaps, categories as texts."""
        made, names = self.coder_.frame(frame), self.get_feature_names_out().tolist()
        dates = self._date_columns({name: made[name].to_numpy() for name in self._cycles})
        more = [*self._word_columns(frame), *(column[:, None] for column in dates)]
        if more:
            coded = pl.DataFrame(np.concatenate(more, axis=1), schema=names[made.width :]).fill_nan(None)
            made = made.hstack(coded) if made.width else coded  # a frame without columns has no rows either
        return made.to_pandas() if self._container() == "pandas" else made

    def inverse_transform(self, Z: Any) -> pl.DataFrame:
        """The columns of the table again, as a frame: a missing number where its indicator says so, the name of the level with the largest
        number of a category; levels that were taken together are "(other)". Texts are not brought back."""
        check.check_fitted(self)
        if self.purpose == "trees":
            return table_of(Z).frame.select(self._used[: len(self.coder_.category_)])
        Z = np.asarray(Z, dtype=np.float64) * self.scale_ + self.mean_
        columns, start = [], 0
        for i, width in enumerate(self._widths()[: len(self.coder_.category_)]):
            columns.append(self.coder_.undone(i, Z[:, start : start + width], self.purpose == "neighbors"))
            start += width
        return pl.DataFrame(columns)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the new columns: `size`, `size is missing`, `colour=red`, `remark has 'broken'`, `day_dayofweek_sin`."""
        check.check_fitted(self)
        coder, start = self.coder_, 0
        old, names = coder.names_out(), list[str]()
        for i, width in enumerate(widths(coder)):
            if self.purpose == "neighbors" and coder.category_[i]:
                names.append(f"{coder.feature_names_in_[i]}={coder.reference_[i] or '(missing)'}")
            names += [str(coder.feature_names_in_[i])] if self.purpose == "trees" else old[start : start + width]
            start += width
        for name, words in zip(self.texts_, self.words_, strict=True):
            names += word_names(str(name), list(words))
        for name, cycles in self._cycles.items():
            for new in date_names(name, cycles, self.purpose == "trees"):
                names.append(new if new not in names else f"{new}_")  # a column of the table may be called so
        return np.array(names, dtype=object)

    def sum_by_column(self, values: Any) -> dict[str, float]:
        """Importances of the new columns, summed up to those of the columns of the table that they come from, the greatest first."""
        check.check_fitted(self)
        values, ends = np.asarray(values, dtype=np.float64).ravel(), np.cumsum(self._widths())
        if len(values) != ends[-1]:
            raise BadInput(f"sum_by_column takes a number for each of the {ends[-1]} new columns, and got {len(values)}")
        found = dict.fromkeys(self._used, 0.0)
        for name, some in zip([*self._used, *self._cycles], np.split(values, ends[:-1]), strict=True):
            found[name] += float(np.sum(some))
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def describe(self) -> str:
        """In words: what each column is, what is done to it, and what was left out and why."""
        check.check_fitted(self)
        wide = max(len(str(name)) for name in self.feature_names_in_)
        return "\n".join(f"{name!s:<{min(wide, 30)}}  {sentence_of(self, i)}" for i, name in enumerate(self.feature_names_in_))

    def _objection(self) -> str | None:
        coder = self.coder_
        if not isinstance(coder, TableCoder) or not set(coder.feature_names_in_) <= set(self.feature_names_in_):
            return "the coder takes other columns"
        if not set(self.texts_) <= set(self.feature_names_in_) - set(coder.feature_names_in_):
            return "the texts are in other columns"
        known = all(one in PARTS for some in self._cycles.values() for one in some)
        if not known or not set(self._cycles) <= set(coder.feature_names_in_[~coder.category_]):
            return "the dates are in other columns, or of other parts"
        width = 0 if self.purpose == "trees" else sum(self._widths())
        if len(self.mean_) != width or len(self.scale_) != width or not (self.scale_ > 0).all():
            return f"means and scales are not those of the {width} new columns"
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags
