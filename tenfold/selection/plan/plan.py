"""What a run will do, fixed by the shape of the table, the effort and the time before the first fit; the clock may only cut it short."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.selection.plan.candidates import FINALISTS, Family
from tenfold.selection.plan.entries import Entry, Shape, simple
from tenfold.selection.plan.folds import count_folds
from tenfold.selection.plan.monotone import obeying
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.plan.refine import affordable_variants
from tenfold.table.task import LEAST_CLASS_ROWS

# Seconds of one core, by the cost model of the portfolio: the plan is cut there, whatever the clock says.
BUDGET = {"quick": 6.0, "normal": 30.0, "thorough": 600.0}  # for tables of up to so many cells;
SMALL, GROWS, MOST = 20_000, 0.45, 7.0  # larger ones have more, by this power of their cells, up to so many times
CORES_OF_TIME = 2.0  # that are reckoned with, where a time is given;
SHARE_OF_TIME = 1.7  # seconds of one core for each of it that are planned: the clock cuts what takes longer
LEAST_FAMILIES, FEW_FOLDS = 4, 3  # families that run in any case, the first ones of the portfolio; folds where even these take too long
SCREENED_ROWS, SCREENED = 20_000, 10_000  # longer tables have a first heat, on so many rows
HEATED_ROWS = 30  # of each class that run in it, where there are so many
HEAT = 0.35  # share of the budget
SURELY_NESTED, ENOUGH = 600, 12  # rows up to which the nested choice comes before more families than so many
REPEATS = ((500, 2),)  # up to so many rows, the finalists run on so many more divisions of them
REPEATED, LEAST_REPEATED = 0.25, 30  # share of the budget that this may take, and the fewest rows
ONCE_MORE = 0.2  # share of the budget that models of fewer rows may take
# What the clock says of a plan: seconds before and after the race, and for each second of one core. In ten runs on seven tables of 150 to
# 4,200 rows with two cores forecasts are 0.8 to 1.6 times as long as the runs were, without the page.
STARTED, SPENT, MOST_CORES = 2.0, 0.85, 8
NESTED_ROWS = {"quick": 500, "normal": 2_000, "thorough": 10_000}  # up to so many rows the whole choice is repeated in each round


@dataclass(frozen=True)
class Plan:
    """Folds, families, and whether pairs of folds are left out."""

    folds: int
    families: list[Entry]  # the guess first
    nested: bool
    screened: int | None  # rows of a first heat, None without one
    shape: Shape
    budget: float  # seconds of one core

    @classmethod
    def of(
        cls, effort: str, folds: int | None, time: float | None, shape: Shape, in_time: bool = False, honest: str = "auto"
    ) -> Plan:
        """The plan for a table of this shape. in_time: folds follow each other, and every choice is made from the past anyway. honest:
        "nested" or "folds", how the choice is repeated for the estimate, where that is not left to the plan."""
        rows, columns, classes = shape.rows, shape.columns, shape.classes
        entries = portfolio(
            shape.role,
            rows,
            columns,
            classes,
            width=shape.width,
            categories=shape.categories,
            lowest=shape.lowest,
            skewed=shape.skewed,
            spread=shape.spread,
        )
        entries = obeying(entries, shape.signs) if shape.signs else entries
        long = rows > SCREENED_ROWS
        larger = min(max(rows * columns / SMALL, 1.0) ** GROWS, MOST)
        budget = BUDGET[effort] * larger if time is None else SHARE_OF_TIME * time
        K, free = count_folds(folds, rows), honest == "auto"
        nested = (rows <= NESTED_ROWS[effort] if free else honest == "nested") and not in_time
        if free:
            nested = nested and shape.reading * readings(K, True) <= budget  # texts are learned once more for every three folds
        budget -= min(shape.reading * readings(K, nested), budget / 2)
        if long and honest == "nested":
            raise BadParameter(f"honest='nested': of more than {SCREENED_ROWS:,} rows the choice is repeated by folds; --rows draws fewer")
        if long:
            share = min(1.0, SCREENED / rows)
            return cls(K, affordable(entries, HEAT * budget / share, 1), False, SCREENED, shape, budget)
        few = affordable(entries, budget, K, nested)
        if free and nested and len(few) < len(entries) and (rows > SURELY_NESTED or len(few) <= ENOUGH):
            more = affordable(entries, budget, K)
            if len(more) > len(few) + LEAST_FAMILIES:  # rather more families than the nested choice
                few, nested = more, False
        if folds is None and K > FEW_FOLDS and sum(one.seconds for one in few) * K > 2 * budget:
            K, nested = FEW_FOLDS, nested and not free
        return cls(K, few, nested, None, shape, budget)

    @classmethod
    def of_one(cls, learner: Any, shape: Shape, folds: int | None, seed: int) -> Plan:
        """The plan where a learner is asked for by its name: that one, and the guess. seed: for what it draws by chance, where it has none
        of its own, so that the same seed gives the same result."""
        title, guess = repr(learner), next(entry for entry in simple(shape) if entry.is_guess)
        if learner.get_params(deep=False).get("random_state", seed) is None:
            learner = fresh(learner).set_params(random_state=seed)
        K = count_folds(folds, shape.rows)
        return cls(K, [guess, Entry(title, learner, 1, named=True)], False, None, shape, 0.0)

    @property
    def seconds(self) -> float:
        """About how long the first lap takes, and what is nested, on one core."""
        return cost_of([one.seconds for one in self.families], self.folds, self.nested)

    def forecast(self, cores: int) -> float | None:
        """About how many seconds it takes; None where one learner is asked for, whose cost is not known."""
        if self.budget == 0:
            return None
        seconds = min(self.seconds, self.budget)
        if self.screened is not None:  # which two families run on all rows at least is not known yet: two as others are
            usual = sorted(self.families, key=lambda one: one.seconds)[len(self.families) // 2]
            seconds = HEAT * self.budget + max((1 - HEAT) * self.budget, cost_of([usual.seconds] * 2, self.folds, False))
        texts = self.shape.reading * readings(self.folds, self.nested)
        return STARTED + texts + SPENT * seconds / min(cores, MOST_CORES)

    def forecast_after_heat(self, families: Sequence[Entry], cores: int) -> float:
        """About how many seconds more it takes, once it is known which families run on all rows."""
        return SPENT * cost_of([one.seconds for one in families], self.folds, False) / min(cores, MOST_CORES)

    def sample(self, rows: int, seed: int, codes: Array | None = None, count: int | None = None) -> Array:
        """So many rows drawn at random, those of the first heat if no count is given; of two samples one holds the other. codes: of
        classes, where a rare one that chance has left out has some rows more."""
        order = np.random.default_rng(seed).permutation(rows)
        drawn = np.arange(rows) < (count or self.screened or rows)
        if codes is not None:
            share = drawn.sum() // (2 * (int(codes.max()) + 1))  # of very many classes, so that they do not make it much longer
            drawn |= _place_in_class(codes[order]) < int(np.clip(share, LEAST_CLASS_ROWS, HEATED_ROWS))
        return np.sort(order[drawn])

    def after_heat(self, order: Sequence[int]) -> set[int]:
        """Of families in the order of a first heat, those that the rest of the budget takes to all rows; the guess is among them."""
        taken, left = {0}, (1 - HEAT) * self.budget
        for number in order:
            cost = self.families[number].seconds * self.folds
            if cost <= left or len(taken) <= 2:
                taken.add(number)
                left -= cost
        return taken

    def rows_in_time(self, families: Sequence[Entry], time: float) -> int:
        """On how many rows of a long table the families that a first heat has left run one fold and the slowest of them is fitted to all,
        within a given time; no fewer than in the first heat."""
        slowest = max(one.seconds for one in families)
        needed = sum(one.seconds for one in families) + slowest * self.folds / (self.folds - 1)
        left = CORES_OF_TIME * time - HEAT * self.budget
        return int(self.shape.rows * min(1.0, max(left / needed, SCREENED / self.shape.rows)))

    def variants(self, families: Sequence[Entry], leaders: Sequence[int], ran: Sequence[int]) -> list[Entry]:
        """Of the families that run on all rows, variants of the leading ones: as many as the budget has room for besides, by the folds
        that each of the families `ran` before it was dropped."""
        budget = self.budget if self.screened is None else (1 - HEAT) * self.budget
        spent = sum(one.seconds * folds for one, folds in zip(families, ran, strict=True))
        stayed = [one.seconds for one, folds in zip(families, ran, strict=True) if folds == self.folds]
        left = budget - spent - (cost_of(stayed, self.folds, self.nested) - cost_of(stayed, self.folds, False))
        pairs = self.folds * (self.folds - 1) / 2 if self.nested else 0.0
        fits = self.folds + pairs / 2  # about half of them run on pairs too
        return affordable_variants([families[number] for number in leaders], self.shape, fits, left, families)

    def repeats(self, finalists: Sequence[Family]) -> int:
        """On how many more divisions of the rows the finalists run."""
        rows, seconds = self.shape.rows, sum(one.seconds for one in finalists if isinstance(one, Entry)) * self.folds
        most = next((count for few, count in REPEATS if rows <= few), 0) if rows >= LEAST_REPEATED else 0
        return min(most, int(REPEATED * self.budget / max(seconds, 1e-9)))

    def has_room(self, families: Sequence[Family]) -> bool:
        """Whether each of these may be fitted once more."""
        return sum(one.seconds for one in families if isinstance(one, Entry)) <= ONCE_MORE * self.budget


def _place_in_class(codes: Array) -> Array:
    """Of each row, how many rows of its class come before it."""
    order, counts = np.argsort(codes, kind="stable"), np.bincount(codes)
    found = np.empty(len(codes), dtype=np.int64)
    found[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def cost_of(seconds: Sequence[float], folds: int, nested: bool) -> float:
    """Seconds of one core that families take on single folds and, where the choice is nested, the longest of them on pairs."""
    longest = sorted(seconds, reverse=True)[:FINALISTS]
    return sum(seconds) * folds + (sum(longest) * folds * (folds - 1) / 2 if nested else 0.0)


def readings(folds: int, nested: bool) -> int:
    """How often what texts say is learned: from all rows, without each fold and each two, where pairs are left out also each three."""
    return sum(math.comb(folds, out) for out in range(4 if nested else 3))


def affordable(entries: list[Entry], budget: float, folds: int, nested: bool = False) -> list[Entry]:
    """The guess and the first families, if one of them alone does not take half of the budget, then those that there is still room for, in
    the order of the portfolio; two families in any case, the cheapest."""
    taken, spent = set[int](), list[float]()
    for number, entry in enumerate(entries):
        whole = cost_of([*spent, entry.seconds], folds, nested)
        if (number <= LEAST_FAMILIES and entry.seconds * folds <= budget / 2) or whole <= budget:
            taken.add(number)
            spent.append(entry.seconds)
    cheapest = sorted(range(1, len(entries)), key=lambda number: entries[number].seconds)[:2]
    return [entry for number, entry in enumerate(entries) if number in taken or (len(taken) < 3 and number in cheapest)]
