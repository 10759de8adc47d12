"""How much the order of the portfolio matters, and how much of it comes from the very tables it is tried on.

Of every table (at most 2,000 training rows of split 0 of `bench.rivals`) the whole portfolio runs on five folds, and nobody is dropped.
From what is said of held-out rows follows what `select` would take, had it tried only the families that a part of the time has room for:
each fold is judged by the choice from the other folds. The orders:

    shipped    that of `tenfold.selection.plan.portfolio`
    others     learned without this table, on all other ones of the same task: next comes the family that raises, by the time it takes, what
               a small greedy ensemble gains most
    all        learned in the same way on all tables, this one among them
    reversed   the shipped one from its end, as a yardstick

    python -m bench.portfolio order --tables DIR --store DIR [--processes 2]
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import tenfold
from bench.rivals.split import TARGET, split
from bench.tables import ENDING
from tenfold.core.data import Array
from tenfold.selection.choice.choice import choose
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.dataset import dataset_of
from tenfold.selection.plan.candidates import Setting
from tenfold.selection.plan.entries import Entry
from tenfold.selection.plan.folds import make_folds
from tenfold.selection.plan.plan import affordable, cost_of
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows
from tenfold.selection.settings import Settings
from tenfold.table.sample import read_sample

MOST_ROWS, FOLDS, SEED = 2_000, 5, 0
SHARES = (0.05, 0.1, 0.2, 0.4, 1.0)  # of the time that the whole portfolio takes
STEPS = 8  # of the small ensemble
BY_TIME, NO_TIME = 0.25, 0.02  # power of the share of the time, and the share that everything takes


@dataclass
class Raced:
    """The whole portfolio on one table: its families, the guess first, and what their settings say of held-out rows."""

    name: str
    families: list[Entry]
    held: HeldOut
    settings: list[Setting]
    gains: dict[frozenset[str], float] = field(default_factory=dict)  # of small ensembles, by their families

    @property
    def shares(self) -> dict[str, float]:
        """By family, the share of the time that the portfolio takes."""
        whole = sum(one.seconds for one in self.families)
        return {one.title: one.seconds / whole for one in self.families}

    def gained(self, titles: Sequence[str]) -> float:
        """What a small greedy ensemble of the best settings of these families gains, of what one of all of them gains."""
        few = frozenset(titles) & {one.title for one in self.families}
        if few not in self.gains:
            self.gains[few] = self._gained(few)
        return self.gains[few]

    def _gained(self, few: frozenset[str]) -> float:
        known, rows = self._parts
        first = self.families[0].title
        guess = float(self.held.part_losses(known[first], rows))
        return (guess - self._loss([first, *sorted(few)])) / max(guess - self._least, 1e-12)

    @cached_property
    def _least(self) -> float:
        return self._loss([one.title for one in self.families])

    def _loss(self, titles: list[str]) -> float:
        """The least loss of the steps of the small ensemble."""
        known, rows = self._parts
        parts = np.stack([known[title] for title in titles if title in known])
        total, least = np.zeros(len(rows)), np.inf
        for step in range(1, STEPS + 1):
            losses = self.held.part_losses((total + parts) / step, rows)
            total, least = total + parts[int(np.argmin(losses))], min(least, float(losses.min()))
        return least

    @cached_property
    def _parts(self) -> tuple[dict[str, Array], Array]:
        """By family, what its best setting says of the rows, as far as losses go."""
        rows, best = np.arange(len(self.held.y)), dict[str, int]()
        usefulness = self.held.utilities(rows)
        for c, setting in enumerate(self.settings):
            title = setting.family.title
            if np.isfinite(usefulness[c]) and (title not in best or usefulness[c] > usefulness[best[title]]):
                best[title] = c
        return dict(zip(best, self.held.parts(list(best.values()), rows), strict=True)), rows

    def error(self, order: Sequence[str], share: float) -> float:
        """The score of what is chosen from the families that a share of the time has room for, each fold by the choice from the others."""
        place = {title: number for number, title in enumerate(order)}
        guess, *rest = self.families
        ordered = [guess, *sorted(rest, key=lambda one: place.get(one.title, len(order)))]
        budget = share * cost_of([one.seconds for one in rest], FOLDS, False)
        tried = {one.title for one in affordable(ordered, budget, FOLDS)}
        known = np.array([setting.family.title in tried for setting in self.settings])
        held = replace(self.held, outputs=np.where(known[:, None, None], self.held.outputs, np.nan))
        rows, said = np.arange(len(held.y)), np.empty(held.outputs.shape[1:])
        for k in range(FOLDS):
            inside, outside = np.flatnonzero(held.fold != k), np.flatnonzero(held.fold == k)
            failed = ~held.usable(outside)
            open_ = replace(held, outputs=np.where(failed[:, None, None], np.nan, held.outputs)) if failed.any() else held
            said[outside] = choose(self.settings, open_, inside).best.outputs(held, outside)
        return held.score(said, rows)


def raced(path: Path) -> Raced:
    found = split(path, SEED)
    train = found.train.sample(n=min(MOST_ROWS, len(found.train)), random_state=SEED)
    asked = Settings(task="number" if found.classes is None else "classes", metric=found.metric)
    dataset = dataset_of(read_sample(train, None, SEED), TARGET, asked, lambda event, **facts: None)
    shape, task = dataset.shape(), dataset.task
    families = portfolio(
        shape.role, shape.rows, shape.columns, shape.classes, width=shape.width, categories=shape.categories, lowest=shape.lowest,
        skewed=shape.skewed, spread=shape.spread,
    )  # fmt: skip
    division = make_folds(task.codes, FOLDS, SEED, task.role, None)
    labels = task.classes if task.kind == "classes" else None
    rows = Rows(dataset.X, task.codes, division, dataset.table, dataset.coder.names_out(), None, labels, dataset.read_texts(division.fold))
    race = Race(rows, list(families), [dataset.judge], drops=False)
    race.run()
    held = race.held_out()
    return Raced(path.name.removesuffix(ENDING), families, replace(held, outputs=held.outputs.astype(np.float32)), list(race.settings))


def kept(path: Path, store: Path) -> Raced:
    """From the store, where it was raced before."""
    place = store / f"{path.name.removesuffix(ENDING)}.pickle"
    if not place.exists():
        with threadpool_limits(1), tenfold.threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            place.with_suffix(".new").write_bytes(pickle.dumps(raced(path)))
        place.with_suffix(".new").replace(place)
    found: Raced = pickle.loads(place.read_bytes())
    return found


def learned(tables: list[Raced]) -> list[str]:
    """The families in the order in which they add most, by the share of the time that they take."""
    left = sorted({one.title for table in tables for one in table.families[1:]})
    took = {title: float(np.mean([table.shares[title] for table in tables if title in table.shares])) for title in left}
    order: list[str] = []
    while left:
        so_far = np.array([table.gained(order) for table in tables])
        gain = {title: float(np.mean([table.gained([*order, title]) for table in tables]) - so_far.mean()) for title in left}
        order.append(max(left, key=lambda title: gain[title] / (NO_TIME + took[title]) ** BY_TIME))
        left.remove(order[-1])
    return order


def judged(task: tuple[Path, Path, dict[str, list[str]]]) -> tuple[str, dict[tuple[str, float], float]]:
    """The error of a table by each order and share of the time."""
    path, store, orders = task
    table = kept(path, store)
    return table.name, {(name, share): table.error(order, share) for name, order in orders.items() for share in SHARES}


def compare_orders(folder: Path, store: Path, processes: int = 2, only: list[str] | None = None) -> None:
    store.mkdir(parents=True, exist_ok=True)
    paths = {path.name.removesuffix(ENDING): path for path in sorted(folder.glob("*" + ENDING))}
    paths = {name: path for name, path in paths.items() if only is None or name in only}
    with get_context("spawn").Pool(processes, maxtasksperchild=1) as pool:
        tables = pool.starmap(kept, [(path, store) for path in paths.values()], chunksize=1)
        tasks = []
        for role in ("classes", "numbers"):
            mine = [table for table in tables if (table.held.classes is not None) == (role == "classes")]
            shipped, every = _shipped(mine), learned(mine)
            print(f"\nlearned on all tables of {role}: {'; '.join(every[:12])}", flush=True)
            for table in mine:
                others = learned([other for other in mine if other is not table])
                orders = dict(shipped=shipped, others=others, all=every, reversed=shipped[::-1])
                tasks.append((paths[table.name], store, orders))
        errors = dict(pool.imap_unordered(judged, tasks, chunksize=1))
    _show(errors)


def _shipped(tables: list[Raced]) -> list[str]:
    """The order in which the portfolio has them."""
    place: dict[str, list[int]] = {}
    for table in tables:
        for number, one in enumerate(table.families):
            place.setdefault(one.title, []).append(number)
    return sorted(place, key=lambda title: float(np.mean(place[title])))


def _show(errors: dict[str, dict[tuple[str, float], float]]) -> None:
    """Errors by each order, in per cent above those with everything tried: the median, and the mean of what is within 10 per cent."""
    names = ("shipped", "others", "all", "reversed")
    print(f"\n{len(errors)} tables; error above that with the whole portfolio, in per cent: median; mean ± standard error, cut at 10")
    print(f"{'share of the time':18}" + "".join(f"{name:>24}" for name in (*names, "shipped less others")))
    for share in SHARES[:-1]:
        log = {name: np.array([100 * np.log(one[name, share] / one[name, 1.0]) for one in errors.values()]) for name in names}
        cells = [*log.values(), log["shipped"] - log["others"]]
        print(f"{share:<18g}" + "".join(f"{_cell(above):>24}" for above in cells), flush=True)


def _cell(above: Array) -> str:
    cut = np.clip(above, -10, 10)
    return f"{np.median(above):+.2f}; {cut.mean():+.2f} ± {cut.std(ddof=1) / np.sqrt(len(cut)):.2f}"
