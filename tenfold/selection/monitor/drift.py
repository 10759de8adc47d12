"""Drift: whether new rows are like the training table, column by column from its sketch, and all columns together.

    number, date   Kolmogorov-Smirnov: the largest distance between the two distribution functions at the cuts of the sketch
    category       chi-square of the two rows of counts, cells that expect fewer than 5 taken together; where the sketch names the
                   frequent levels alone, of these, given that they were frequent
    gaps           chi-square of the two shares of missing values
    size           population stability index, Σ (p − q) log(p / q) over at most 10 bins or the levels
    together       a classifier that tells training rows from new ones by all columns, cross-validated: AUC 0.5 if it cannot

Tests are corrected for their number by Holm's rule: of a table that has not changed, 95 in 100 show no drift in any column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, chdtrc, kolmogorov

import tenfold
from tenfold.core.data import Array
from tenfold.evaluate.split.splitters import assign_folds
from tenfold.evaluate.validate.ranges import score_range
from tenfold.prepare.new_rows import in_no_row, in_some_rows
from tenfold.score.registry import SCORES
from tenfold.table.cells import MOST_ODD, as_texts
from tenfold.table.columns import LEAST_LEVEL_ROWS
from tenfold.table.dates import ISO
from tenfold.table.reading import pl
from tenfold.table.sketch import MOST_LEVELS, seen, unlike, unread, written

SURE = 0.05
SMALL, LARGE = 0.1, 0.25  # of the population stability index: what is called slight, and what is called strong
BINS = 10
LEAST_EXPECTED, ROUNDING = 5.0, 1e-9
MOST_ROWS = 5000  # of each table, for the classifier
ROUNDS, LEAF, FOLDS = 60, 20, 5
Facts = dict[str, Any]


@dataclass(frozen=True)
class Drift:
    """One column: whether it has changed, by how much, and how."""

    name: str
    kind: str
    p_value: float  # corrected for the number of columns
    index: float  # population stability index
    gaps: tuple[float, float]  # share of missing values, before and now
    how: str
    new: str | None  # what was never seen, in words

    @property
    def drifted(self) -> bool:
        return self.p_value < SURE

    @property
    def size(self) -> str:
        return "slight" if self.index < SMALL else "clear" if self.index < LARGE else "strong"


@dataclass(frozen=True)
class Unread:
    """What cannot be read of new rows, which is no drift: they are written in another way."""

    columns: list[str]  # of which not one cell can be read, as by `tenfold predict`, which refuses them
    notes: list[str]


def unread_of(sketched: Facts, frame: pl.DataFrame) -> Unread:
    """In the words of `tenfold predict`."""
    rows = seen(sketched, frame)
    known = {one["name"]: one["form"] or (ISO if one["kind"] == "date" else "") for one in sketched["columns"]}
    bad = {name: as_texts(frame[name]).filter(pl.Series(where)) for name, where in unread(sketched, frame, rows).items()}
    whole = {name: cells for name, cells in bad.items() if rows[name].null_count() == len(rows)}
    some = [in_some_rows(cells, known[name]) for name, cells in bad.items() if name not in whole]
    return Unread(list(whole), [*([in_no_row(whole, known)] if whole else []), *some])


def drift(sketched: Facts, frame: pl.DataFrame) -> list[Drift]:
    """Every column of the sketch of which something can be read, those that have changed most first.

    Cells that cannot be read are told by `unread_of`; more of them than a column of numbers may have are not counted as missing here."""
    rows = seen(sketched, frame)
    bad = unread(sketched, frame, rows)
    strange: dict[str, list[tuple[Array, str]]] = {}
    for one, where, how in unlike(sketched, rows, bad):
        strange.setdefault(one["name"], []).append((where, how))
    found = []
    for one in sketched["columns"]:
        values, where = rows[one["name"]], bad.get(one["name"], np.zeros(len(rows), dtype=bool))
        if where.any() and len(values) == values.null_count():
            continue
        there = values.filter(pl.Series(~where)) if where.mean() > MOST_ODD else values
        found.append(_column(one, there, strange.get(one["name"], [])))
    corrected = holm(np.array([p for p, _ in found]))
    result = [Drift(**(facts | dict(p_value=float(p)))) for (_, facts), p in zip(found, corrected, strict=True)]
    return sorted(result, key=lambda one: (not one.drifted, -one.index if one.drifted else one.p_value))


def holm(p: Array) -> Array:
    """Holm's corrected p-values: the k-th smallest of m times m − k + 1, never below a smaller one."""
    order = np.argsort(p, kind="stable")
    found = np.empty(len(p))
    found[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return found


def _column(one: Facts, values: pl.Series, strange: list[tuple[Array, str]]) -> tuple[float, Facts]:
    gaps = one["missing"], values.null_count()
    rows = one["rows"], len(values)
    p_gaps = chi_square(np.array([[one["missing"], rows[0] - gaps[0]], [gaps[1], rows[1] - gaps[1]]], dtype=float))
    before, now = _counts(one, values)
    if before.sum() == 0 or now.sum() == 0:
        p, index, how = 1.0, 0.0, ""
    elif one["kind"] == "category":
        p, index = (named_levels(before, now) if one["rare"] else chi_square(np.array([before, now]))), stability(before, now)
        how = _most_changed([*one["levels"], "other levels"], before, now)
    else:
        p, index = smirnov(before, now), stability(*_coarse(before, now))
        how = _moved(one, before, values)
    shares = gaps[0] / rows[0], gaps[1] / rows[1]
    if p_gaps < p:
        how = f"missing in {shares[1]:.1%}, was {shares[0]:.1%}"
        index = max(index, stability(np.array([gaps[0], rows[0] - gaps[0]]), np.array([gaps[1], rows[1] - gaps[1]])))
    new = "; ".join(f"{int(where.sum()):,} {text}" for where, text in strange) or None
    return min(1.0, 2 * min(p, p_gaps)), dict(name=one["name"], kind=one["kind"], index=index, gaps=shares, how=how, new=new)


def _counts(one: Facts, values: pl.Series) -> tuple[Array, Array]:
    """Rows in the cells of a sketch, before and now."""
    there = values.drop_nulls()
    if one["kind"] != "category":
        cuts = np.array(one["cuts"], dtype=float)
        now = np.bincount(np.searchsorted(cuts, there.to_numpy(), side="left"), minlength=len(cuts) + 1)
        return np.array(one["counts"], dtype=float), now.astype(float)
    counts = dict(zip(*there.value_counts().get_columns(), strict=True)) if len(there) else {}
    named = [float(counts.get(level, 0)) for level in one["levels"]]
    return np.array([*one["levels"].values(), one["rare"]], dtype=float), np.array([*named, len(there) - sum(named)])


def smirnov(before: Array, now: Array) -> float:
    """The p-value of the two-sample Kolmogorov-Smirnov distance at the cuts; it errs on the side of no drift."""
    if len(before) < 2:
        return 1.0
    n, m = before.sum(), now.sum()
    distance = np.abs(np.cumsum(before)[:-1] / n - np.cumsum(now)[:-1] / m).max()
    return float(kolmogorov(np.sqrt(n * m / (n + m)) * distance))


def chi_square(counts: Array) -> float:
    """The p-value of two rows of counts having one distribution; cells that expect too few rows are taken together."""
    total = counts.sum()
    sides, cells = counts.sum(axis=1), counts.sum(axis=0)
    if (sides == 0).any():
        return 1.0
    small = cells * sides.min() / total < LEAST_EXPECTED
    counts = np.column_stack([counts[:, ~small], counts[:, small].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return 1.0
    expected = np.outer(sides, counts.sum(axis=0)) / total
    return float(chdtrc(counts.shape[1] - 1, ((counts - expected) ** 2 / expected).sum()))


def named_levels(before: Array, now: Array) -> float:
    """The p-value of the levels that a sketch names having one share of both tables; cells that expect too few rows are taken together.

    They are named for having `least` training rows or more. Of many levels of about as many some owe that to luck, and new rows of the
    same law have fewer of them. Of t rows of a level Binomial(t, π) are training rows, π = n/(n + m), given that these are so many: with
    Sⱼ = P(Binomial(t − j, π) ≥ least − j) their mean is t π S₁/S₀, and that of a (a − 1) is t (t − 1) π² S₂/S₀.
    """
    share, a = before.sum() / (before.sum() + now.sum()), before[:-1]
    least = LEAST_LEVEL_ROWS if len(a) < MOST_LEVELS else a.min() + 1  # of those with as few as that not all may be named
    a, t = a[a >= least], (before + now)[:-1][a >= least]
    known, *given = (betainc(least - j, t - least + 1, share) for j in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):  # of so many rows hardly any would be training rows, were there not as many
        mean = np.where(known > 0, t * share * given[0] / known, least)
        squares = np.where(known > 0, t * (t - 1) * share**2 * given[1] / known, least * (least - 1) + 1)
    variance = np.maximum(squares + mean - mean**2, 0.0)
    small = variance < LEAST_EXPECTED
    off, variance = (np.append(cells[~small], cells[small].sum()) for cells in (a - mean, variance))
    told = variance > ROUNDING * a.sum()
    return float(chdtrc(told.sum(), (off[told] ** 2 / variance[told]).sum())) if told.any() else 1.0


def stability(before: Array, now: Array) -> float:
    """Σ (p − q) log(p / q), half a row more in each cell so that empty ones are finite."""
    p, q = ((one + 0.5) / (one.sum() + 0.5 * len(one)) for one in (before, now))
    return float(((p - q) * np.log(p / q)).sum())


def _coarse(before: Array, now: Array) -> tuple[Array, Array]:
    """The same counts in at most 10 bins of about equally many training rows."""
    share = (np.cumsum(before) - before / 2) / before.sum()
    of = np.minimum((share * BINS).astype(int), BINS - 1)
    return np.bincount(of, before), np.bincount(of, now)


def _most_changed(levels: list[str], before: Array, now: Array) -> str:
    p, q = before / before.sum(), now / now.sum()
    k = int(np.argmax(np.abs(q - p)))
    return f"{levels[k][:30]!r} {q[k]:.1%}, was {p[k]:.1%}"


def _moved(one: Facts, before: Array, values: pl.Series) -> str:
    """The medians, before within its cell."""
    edges = [one["low"], *one["cuts"], one["high"]]
    k = int(np.searchsorted(np.cumsum(before), before.sum() / 2))
    middle = (edges[k] + edges[k + 1]) / 2
    return f"median {written(one, float(np.median(values.drop_nulls().to_numpy())))}, was about {written(one, middle)}"


@dataclass(frozen=True)
class Together:
    """How well a classifier tells training rows from new ones: AUC with its 95 % range."""

    value: float
    low: float
    high: float
    rows: tuple[int, int]

    @property
    def drifted(self) -> bool:
        return self.low > 0.5


def together(sketched: Facts, training: pl.DataFrame, new: pl.DataFrame, seed: int = 0) -> Together | None:
    """A boosted classifier of all columns, cross-validated; long tables are sampled. None where one has fewer than two different rows."""
    rng = np.random.default_rng(seed)
    if not sketched["columns"]:
        return None
    parts = []
    for frame in (training, new):
        rows = np.sort(rng.permutation(frame.height)[:MOST_ROWS])
        parts.append(seen(sketched, frame[rows]))
    both, label = pl.concat(parts), np.repeat([0, 1], [part.height for part in parts])
    copies = both.hash_rows(seed=0).rank("dense").to_numpy().astype(np.int64) - 1
    of_copies, first = np.unique(copies, return_index=True)
    if min(len(np.unique(copies[label == k])) for k in (0, 1)) < 2:
        return None
    folds = max(2, min(FOLDS, len(of_copies) // 2))
    fold = assign_folds(len(of_copies), folds, rng, codes=label[first])[copies]  # a copy would give away the other table
    scores = np.zeros((len(label), 2))
    for k in range(folds):
        learner = tenfold.HistGradientBoostingClassifier(
            max_iter=ROUNDS, min_samples_leaf=LEAF, early_stopping=False, class_weight="balanced", random_state=0
        )
        learner.fit(both[np.flatnonzero(fold != k)], label[fold != k])
        scores[fold == k] = np.log(np.maximum(learner.predict_proba(both[np.flatnonzero(fold == k)]), 1e-16))
    found = score_range(SCORES["roc_auc"], label, scores, None, copies if len(of_copies) < len(copies) else None)  # as one row
    return Together(found.estimate, found.low, found.high, (parts[0].height, parts[1].height))
